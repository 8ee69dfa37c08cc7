//! The server over real sockets.

mod clock;
mod crowd;
mod faults;
mod hostile;
mod http;
mod models;
mod support;
mod truth;
