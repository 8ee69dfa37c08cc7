//! How a stream is found again.

/// Finds a stream again, and none that has its place later.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct StreamTicket {
    pub(crate) place: u32,
    pub(crate) number: u64,
}
