//! The server over real sockets.

mod calls;
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
