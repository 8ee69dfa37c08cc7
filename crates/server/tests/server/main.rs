//! The server over real sockets.

mod clock;
mod crowd;
mod faults;
mod hostile;
mod http;
mod http2;
mod messages;
mod models;
mod support;
mod tls;
mod truth;
