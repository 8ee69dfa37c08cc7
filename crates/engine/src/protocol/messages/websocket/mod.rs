//! WebSocket (RFC 6455), the client's side.
//!
//! | module | contents |
//! |---|---|
//! | `deflate` | compression of messages (RFC 7692) |
//! | `handshake` | the request that opens a channel, and the server's answer |
//! | `frames` | frames that are received, however they are cut, and frames that are sent |
//! | `utf8` | a text that arrives in pieces |

mod deflate;
mod frames;
mod handshake;
mod utf8;

pub(super) use deflate::{DeflateTerms, Deflater};
pub(super) use frames::{FrameReader, Happened, Masks, Opcode, put_compressed_frame, put_frame};
pub use handshake::WebSocketRequest;
pub(super) use handshake::{Agreement, Handshake, accept_for};

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod deflate_tests;
#[cfg(test)]
mod http2_tests;
#[cfg(test)]
mod tests;
