//! The deterministic freeze: a service that takes 10 ms and stands still from 2 500 ms to 3 000 ms. What arrives in
//! between waits for its end and then takes its 10 ms.
//!
//! Three series look at the same freeze: a closed loop that sends the next request when the last one was answered, the
//! same loop with HdrHistogram's correction, and an open loop that sends on schedule. Everything is a whole number of
//! milliseconds, recorded in HdrHistograms of 3 digits, one a snapshot interval; the whole run is their sum. A request
//! belongs to the interval in which it arrived. The correction is applied a snapshot at a time; throughput and counts
//! stay those of the requests that were really sent.

mod artifacts;
mod intervals;
mod options;

pub use artifacts::{Artifact, GOLDEN};
pub use intervals::{FreezeInterval, FreezeSeries};
pub use options::FreezeOptions;

use truetail_model::arrival::Horizon;

use self::intervals::{ResponseTimes, Snapshots};
use super::correction::{SeriesNames, measure_both};
use super::error::LabError;
use super::series::{closed, measure, open};

/// The name of this lab.
pub const NAME: &str = "freeze";
/// The names of its series.
pub const SERIES: [&str; 3] = ["closed-loop-raw", "closed-loop-corrected", "open-loop"];

/// What the lab found.
#[derive(Clone, Debug)]
pub struct FreezeResult {
    /// How it was set up.
    pub options: FreezeOptions,
    /// closed-loop-raw, closed-loop-corrected, open-loop.
    pub series: [FreezeSeries; 3],
}

/// Runs the lab.
///
/// # Errors
/// [`LabError`] when an option is out of range.
pub fn run(options: &FreezeOptions) -> Result<FreezeResult, LabError> {
    options.check()?;
    let service = options.service();
    let horizon = Horizon { duration: Some(options.duration), requests: None };
    let [raw, corrected, open_loop_name] = SERIES;
    let names = SeriesNames { lab: NAME, raw, corrected };
    let mut closed_loop = ResponseTimes::default();
    let users = closed(options.users, horizon);
    let (raw, corrected) = measure_both(names, &service, &users, options.expected_interval, &mut closed_loop)?;
    let mut open_loop = ResponseTimes::default();
    let schedule = open(options.open_rate(), options.duration);
    let (open, _) = measure(NAME, open_loop_name, &service, &schedule, &mut open_loop)?;
    let snapshots = Snapshots::new(options);
    Ok(FreezeResult {
        options: *options,
        series: [
            snapshots.series(raw, &closed_loop, None),
            snapshots.series(corrected, &closed_loop, Some(options.expected_interval)),
            snapshots.series(open, &open_loop, None),
        ],
    })
}
