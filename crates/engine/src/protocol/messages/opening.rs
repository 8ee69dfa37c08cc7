//! The exchange of a protocol itself that opens a channel.

use super::call_request::CallRequest;
use super::websocket::WebSocketRequest;

/// Exchange of a protocol itself that opens each channel.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum Opening {
    /// A channel is open with its connection.
    #[default]
    Nothing,
    /// The handshake of WebSocket.
    WebSocket(WebSocketRequest),
    /// A call of gRPC that stays open. No other call uses its connection.
    Call(CallRequest),
    /// Commands for Redis, made by [`redis_command`](super::framing::redis_command), such as a login. Each needs a good
    /// reply.
    Redis(Vec<Vec<u8>>),
}

/// Leaves out what is sent, which may have a password.
impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Opening::Nothing => "Nothing",
            Opening::WebSocket(_) => "WebSocket",
            Opening::Call(_) => "Call",
            Opening::Redis(_) => "Redis",
        })
    }
}
