//! Sends without `SIGPIPE`.

use rustix::net::SendFlags;

/// Flags of each send to a socket.
pub const FLAGS: SendFlags = SendFlags::NOSIGNAL;
