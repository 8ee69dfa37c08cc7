//! The client side of HTTP/1.1: one request at a time on a connection.
//!
//! | file | contents |
//! |---|---|
//! | `conversation` | one connection: its request in flight, and the outcome |
//! | `response` | the parser of one answer, from its first byte to its last |
//! | `part` | the parts of an answer that the parser passes on |
//! | `head` | the head of an answer |
//! | `head_cache` | the head that was parsed last |
//! | `framing` | the end of the body of an answer (RFC 9112, section 6.3) |
//! | `source` | sources of the bytes of requests |
//! | `chunked` | the chunked coding (RFC 9112, section 7.1) |

mod chunked;
mod conversation;
mod framing;
mod head;
mod head_cache;
mod part;
mod response;
mod source;

pub(crate) use conversation::Http1;
pub(crate) use head::{HEAD_LIMIT, head_fields, refused_line, shown_line, values_in_head};
pub use head_cache::HeadCache;
pub use part::Part;
pub use response::{AnswerEnd, Parsed, ResponseParser};
pub(crate) use source::{RequestSource, Traced};
