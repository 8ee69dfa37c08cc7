//! HdrHistogram's own formats: the log of histograms by interval, and the percentile distribution as text.

mod hgrm;
mod hlog;

pub(super) use hgrm::HGRM;
pub(super) use hlog::HLOG;

/// More values than any run has; only a damaged file says so.
const MOST_VALUES: u64 = 1 << 53;
