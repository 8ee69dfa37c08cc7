//! Messages on channels: a framing on a connection that stays open, many messages at once, and replies that are matched
//! by their order or by an id.
//!
//! | module | contents |
//! |---|---|
//! | `conversation` | one channel: what is sent, and what waits for a reply |
//! | `outbox` | the bytes to send, and the messages in them |
//! | `inbox` | the messages that wait, and the reply that arrives |
//! | `opening`, `greeting` | the opening of a channel: the handshake of WebSocket, a login; and its progress |
//! | `exchange`, `hello` | messages that a user exchanges before the load, and the progress of a channel in them |
//! | `framing`, `splitter`, `redis`, `fix`, `websocket/` | the ends of messages |
//! | `call_request`, `forms` | gRPC: the call that carries a channel, and messages as JSON |
//! | `test_channel` | a channel for tests outside this crate |
//! | `varying` | what differs from message to message |
//! | `limits` | the longest message |
//! | `options` | opening, framing and matching of a run |
//! | `matching` | the message that a reply belongs to |

mod call_request;
mod conversation;
mod exchange;
mod fix;
mod forms;
mod framing;
mod greeting;
mod hello;
mod inbox;
mod limits;
mod matching;
mod opening;
mod options;
mod outbox;
mod redis;
mod splitter;
mod test_channel;
mod varying;
mod websocket;

pub use call_request::CallRequest;
pub(crate) use conversation::Messages;
pub use exchange::{Exchange, ExchangeStep, Expectation};
pub use forms::{Forms, JsonForms};
pub use framing::{Framing, UnknownFraming, bytes_of_hex, redis_command};
pub use matching::{Matching, UnknownMatching};
pub use opening::Opening;
pub use options::MessageOptions;
pub use test_channel::TestChannel;
pub use websocket::WebSocketRequest;

#[cfg(test)]
mod call_tests;
#[cfg(test)]
mod hello_tests;
#[cfg(test)]
mod push_tests;
#[cfg(test)]
mod tests;
