//! WebSocket (RFC 6455), the client's side.
//!
//! | module | contents |
//! |---|---|
//! | `handshake` | the request that opens a channel, and the server's answer |
//! | `frames` | frames that are received, however they are cut, and frames that are sent |
//! | `utf8` | a text that arrives in pieces |

mod frames;
mod handshake;
mod utf8;

pub(super) use frames::{FrameReader, Happened, Masks, Opcode, put_frame};
pub use handshake::WebSocketRequest;
pub(super) use handshake::{Handshake, accept_for};

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod tests;
