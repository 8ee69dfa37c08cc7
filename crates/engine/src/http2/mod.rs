//! HTTP/2 as a client speaks it (RFC 9113), without I/O: bytes come in and events go out, requests come in and bytes go out.
//!
//! | module | what is at home there |
//! |---|---|
//! | `session` | one connection: its streams, windows and limits |
//! | `blocks` | the requests of a run as blocks of fields, made before it |
//! | `hpack` | the compression of fields |
//! | `frame` | frames as they lie on the wire |
//! | `spoken` | a conversation for whoever tests from outside |

mod blocks;
mod frame;
mod hpack;
mod session;
mod spoken;

pub(crate) use blocks::Blocks;
pub(crate) use session::{Broken, Ended, Session};
pub use spoken::Spoken;
