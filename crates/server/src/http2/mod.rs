//! HTTP/2 for the server. The crate h2 handles frames, header compression and flow control. It reads and writes memory,
//! and the server's only thread polls it after input and at due times.
//!
//! An answer is prepared as HTTP/1 bytes with their times. Its head is converted to HTTP/2 and its body to data, which
//! leave at the same times. A stream may also carry a WebSocket (RFC 8441): its messages are answered as on any
//! channel. A fault that closes or resets a connection in HTTP/1 resets only the stream, to spare other
//! requests.

mod answering;
mod call;
mod channels;
mod connection;
mod pipe;
mod tunnel;
mod wire;

pub(crate) use connection::Http2Connection;
