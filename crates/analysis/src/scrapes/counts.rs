//! Differences between the counts of a service and of its users that mean nothing.

/// Counts may differ by this share of the requests …
pub(super) const SHARE: f64 = 0.01;
/// … and by a few: requests in flight when a page was read, and the reads themselves.
pub(super) const FEW: u64 = 10;
