//! Sends that may raise `SIGPIPE`, which the runtimes of Rust and Python ignore.

use rustix::net::SendFlags;

/// Flags of each send to a socket.
pub const FLAGS: SendFlags = SendFlags::empty();
