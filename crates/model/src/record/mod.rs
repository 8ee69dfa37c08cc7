//! What happened to arrivals: one record each, the books, the histograms, and the snapshot that a run is made of.

mod books;
mod histogram;
mod outcome;
mod recorder;
mod request;
mod samples;
mod seconds;
mod slowest;
mod snapshot;
mod tally;

pub use books::SecondBooks;
pub use histogram::{Histogram, SparseHistogram, rank_of};
pub use outcome::{Cause, Outcome};
pub use recorder::{Recorder, RecorderOptions};
pub use request::{Metric, RequestRecord, StartDelay};
pub use samples::{Samples, SamplesOptions};
pub use seconds::Second;
pub use snapshot::Snapshot;
pub use tally::{Tally, Unbalanced};
