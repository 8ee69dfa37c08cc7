//! What no run exceeds. Sums over many runs do not overflow.

/// More arrivals than a run can have: a million a second for nine years.
pub(crate) const MOST_ARRIVALS: u64 = 1 << 48;
/// Longer than a run can be, in nanoseconds: 36 years.
pub(crate) const LONGEST_NS: u64 = 1 << 60;
/// More bytes than the answers that were kept can have: an exbibyte.
pub(crate) const MOST_BYTES: u64 = 1 << 60;
