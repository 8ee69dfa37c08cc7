//! HTTP/1.1 for a server: heads and bodies of requests, and prepared answers.

mod body;
mod head;
mod page;
mod refusal;
mod responses;

pub(crate) use body::Body;
pub(crate) use head::{RequestHead, Route, may_contain_head, parse_head};
#[cfg(feature = "http2")]
pub(crate) use head::{path, route};
#[cfg(feature = "http2")]
pub(crate) use page::RequestOrigin;
pub(crate) use refusal::Refusal;
pub(crate) use responses::{ResponseId, Responses};
