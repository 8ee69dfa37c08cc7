//! Records of arrivals: one record each, the books, the histograms, and the snapshot that makes up a run.

mod books;
mod exact_statistics;
mod histogram;
mod interval_recorder;
mod intervals;
mod knock_on;
mod metric;
mod outcome;
mod recorder;
mod request;
mod samples;
mod seconds;
mod slowest;
mod snapshot;
mod sparse;
mod status_counts;
mod tally;
mod target_ledger;
mod target_times;
mod unissued;

pub use books::IntervalBooks;
pub use histogram::{BUCKETS, Histogram, lowest_in_bucket, rank_of};
pub use intervals::{ByInterval, Distributions, Mergeable};
pub use knock_on::KnockOn;
pub use metric::{EmptyMetricRule, Metric, MetricDefinition, MetricPopulation, Unit};
pub use outcome::{Cause, Outcome};
pub use recorder::{Recorder, RecorderOptions};
pub use request::{RequestRecord, StartDelay, TargetPlace};
pub use samples::{Samples, SamplesOptions};
pub use seconds::SecondCounts;
pub use snapshot::Snapshot;
pub use sparse::SparseHistogram;
pub use status_counts::StatusCounts;
pub use tally::{Tally, Unbalanced};
pub use target_ledger::TargetLedger;
pub use target_times::{CompactHistogram, TargetTimes};
