//! HTTP/1.1 as a client speaks it: one request at a time on a connection.
//!
//! | file | what is in it |
//! |---|---|
//! | `session` | one connection: the request under way, and what becomes of it |
//! | `response` | the parser of one answer, from its first byte to its last |
//! | `part` | what it hands on of an answer |
//! | `head` | the head of an answer |
//! | `head_cache` | the head that was parsed last |
//! | `framing` | where the body of an answer ends (RFC 9112, section 6.3) |
//! | `source` | where the bytes of requests come from |
//! | `chunked` | the chunked coding (RFC 9112, section 7.1) |

mod chunked;
mod framing;
mod head;
mod head_cache;
mod part;
mod response;
mod session;
mod source;

pub(crate) use head::{HEAD_LIMIT, head_fields, refused_line};
pub use head_cache::HeadCache;
pub use part::Part;
pub use response::{AnswerEnd, Parsed, ResponseParser};
pub(crate) use session::Http1;
