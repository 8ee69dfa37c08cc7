//! The name of a request in its set.

/// The request of an arrival, chosen by [`RequestSet::choose`](super::RequestSet::choose).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RequestId {
    /// Index of the target.
    pub target: u32,
    /// Index of the row; 0 if the target has one request for all rows.
    pub row: u32,
}
