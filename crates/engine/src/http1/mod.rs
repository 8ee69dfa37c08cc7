//! HTTP/1.1 as a client reads it: a parser without I/O that is fed whatever bytes there are.
//!
//! | part | what it does |
//! |---|---|
//! | [`ResponseParser`] | one answer: head, framing, end |
//! | [`LastHead`] | the head that was read last, which is often the next one too |
//! | `framing` | where the body of an answer ends (RFC 9112, section 6.3) |
//! | `chunked` | the chunked coding (RFC 9112, section 7.1) |

mod chunked;
mod framing;
mod last_head;
mod response;

pub use last_head::LastHead;
pub use response::{Fed, Finished, ResponseParser};
