//! Replacement for kernel stamps on systems without usable ones: answers end when they are read.

use std::io::{self, Read};
use std::os::fd::BorrowedFd;

use truetail_model::time::Timestamp;
use truetail_reactor::MonotonicClock;

/// A stamp, which cannot exist on this system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WallTime {}

pub(crate) fn switch_on() {}

pub(crate) fn enable(_socket: BorrowedFd<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Option<WallTime>)> {
    let owned = socket.try_clone_to_owned()?;
    socket2::Socket::from(owned).read(buffer).map(|n| (n, None))
}

pub(crate) fn out_of_order(_socket: BorrowedFd<'_>) -> Option<u32> {
    None
}

/// Correlation without clocks to compare.
#[derive(Debug)]
pub(crate) struct ClockCorrelation;

impl ClockCorrelation {
    pub(crate) fn new() -> ClockCorrelation {
        ClockCorrelation
    }

    pub(crate) fn steps(&self) -> u64 {
        0
    }

    pub(crate) fn woke(&mut self) {}

    pub(crate) fn is_before(&mut self, _: &MonotonicClock, _: Option<WallTime>, _: Timestamp) -> bool {
        false
    }

    pub(crate) fn instant(
        &mut self,
        _: &MonotonicClock,
        _: Option<WallTime>,
        _: Timestamp,
        _: Timestamp,
    ) -> Option<Timestamp> {
        None
    }
}
