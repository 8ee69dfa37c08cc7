//! HTTP/2 as the server speaks it. The crate h2 does frames, header compression and flow control; it is polled where something came
//! or is due, on the one thread of the server, and reads and writes memory.
//!
//! An answer is made as bytes of HTTP/1, whose instants are known. Its head becomes a head of HTTP/2 and its body data, at those
//! instants. A fault that closes or resets a connection in HTTP/1 resets the stream: other requests have nothing to do with it.

mod answering;
mod connection;
mod pipe;
mod wire;

pub(crate) use connection::Http2Connection;
