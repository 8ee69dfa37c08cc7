//! The client side of HTTP/2 (RFC 9113): many requests at once on a connection.
//!
//! | module | contents |
//! |---|---|
//! | `call` | answers of gRPC calls: messages and status |
//! | `conversation` | one connection: its streams, windows and limits |
//! | `field_blocks` | the requests of a run as field blocks, encoded before the run |
//! | `fields_made_in_run` | requests that are made during the run |
//! | `source` | choice between the two |
//! | `hpack` | header compression (RFC 7541) |
//! | `frame` | frames on the wire |
//! | `test_connection` | a connection that tests outside this crate can drive |

mod call;
mod conversation;
mod field_blocks;
mod fields_made_in_run;
pub(crate) mod frame;
mod hpack;
mod source;
mod test_connection;

pub(crate) use call::{MessageReader, content_of, put_message};
pub(crate) use conversation::{ChannelStream, Http2, StreamEnd};
pub(crate) use field_blocks::{FieldBlocks, PlainBlock};
pub(crate) use fields_made_in_run::FieldsMadeInRun;
pub(crate) use source::FieldSource;
pub use test_connection::TestConnection;
