//! HTTP/2 as a client speaks it (RFC 9113): many requests at once on a connection.
//!
//! | module | what is in it |
//! |---|---|
//! | `session` | one connection: its streams, windows and limits |
//! | `field_blocks` | the requests of a run as field blocks, encoded before it |
//! | `hpack` | header compression (RFC 7541) |
//! | `frame` | frames as they lie on the wire |
//! | `conversation` | a session that tests from outside can drive |

mod conversation;
mod field_blocks;
mod frame;
mod hpack;
mod session;

use std::sync::Arc;

use truetail_model::record::Cause;

use super::Protocol;
pub use conversation::Conversation;
pub(crate) use field_blocks::FieldBlocks;
pub(crate) use session::Http2Session;

/// HTTP/2, as all connections of a worker speak it.
#[derive(Clone, Debug)]
pub(crate) struct Http2 {
    blocks: Arc<FieldBlocks>,
    /// Most requests at once on one connection; the server may allow fewer.
    max_streams: u32,
}

impl Http2 {
    pub(crate) fn new(blocks: Arc<FieldBlocks>, max_streams: Option<u32>) -> Http2 {
        Http2 { blocks, max_streams: max_streams.unwrap_or(u32::MAX) }
    }
}

impl Protocol for Http2 {
    type Session = Http2Session;

    const MULTIPLEXED: bool = true;
    const MATCHED_BY_ORDER: bool = false;
    const REQUIRED_ALPN: Option<(&'static [u8], Cause)> = Some((b"h2", Cause::NoHttp2));

    fn session(&self) -> Http2Session {
        Http2Session::new(self.max_streams)
    }
}
