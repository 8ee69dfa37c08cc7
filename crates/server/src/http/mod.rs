//! HTTP/1.1 as a server needs it: heads and bodies of requests in, answers made in advance out.

mod answers;
mod body;
mod head;

pub(crate) use answers::{AnswerId, Answers};
pub(crate) use body::Body;
pub(crate) use head::{Head, Refusal, Route, may_hold_head, parse_head};
