//! Messages on channels: WebSocket, and TCP with a framing. The service answers each message with the same message, at
//! the instant and in the manner that its description says.
//!
//! | module | content |
//! |---|---|
//! | `framing` | the ends of messages on TCP |
//! | `websocket` | the opening handshake, and frames by the crate tungstenite |
//! | `incoming` | what a client sent |
//! | `codec` | bytes of a channel to messages, and back |
//! | `connection` | a channel: messages in, answers out |

mod codec;
mod connection;
mod framing;
mod incoming;
mod websocket;

pub(crate) use connection::MessageConnection;
pub use framing::{FramingError, MessageFraming};
pub(crate) use websocket::Upgrade;

/// Maximum size of a message. A channel with a longer one is closed.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
