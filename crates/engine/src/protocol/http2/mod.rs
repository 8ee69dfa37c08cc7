//! HTTP/2 as a client speaks it (RFC 9113): many requests at once on a connection.
//!
//! | module | what is in it |
//! |---|---|
//! | `session` | one connection: its streams, windows and limits |
//! | `field_blocks` | the requests of a run as field blocks, encoded before it |
//! | `fields_made_in_run` | those that are made while it goes on |
//! | `source` | which of the two a run has |
//! | `hpack` | header compression (RFC 7541) |
//! | `frame` | frames as they lie on the wire |
//! | `conversation` | a session that tests from outside can drive |

mod conversation;
mod field_blocks;
mod fields_made_in_run;
pub(crate) mod frame;
mod hpack;
mod session;
mod source;

pub use conversation::Conversation;
pub(crate) use field_blocks::FieldBlocks;
pub(crate) use fields_made_in_run::FieldsMadeInRun;
pub(crate) use session::Http2;
