//! Tickets of streams.

/// Identifies a stream, and no later stream in the same place.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct StreamTicket {
    pub(crate) place: u32,
    pub(crate) number: u64,
}
