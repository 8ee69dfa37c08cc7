//! No stamps: an answer ends when it is read.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::clock::WallTime;

/// True if the kernel can stamp arrivals.
pub const ARE_AVAILABLE: bool = false;

/// Does nothing.
pub fn switch_on() -> Option<OwnedFd> {
    None
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn enable(_socket: BorrowedFd<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reads once, and returns the number of bytes.
///
/// # Errors
/// If nothing can be read.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Option<WallTime>)> {
    Ok((rustix::net::recv(socket, buffer, rustix::net::RecvFlags::empty())?.0, None))
}

/// Returns `None`: it is unknown how many segments arrived before an earlier one.
pub fn out_of_order(_socket: BorrowedFd<'_>) -> Option<u32> {
    None
}
