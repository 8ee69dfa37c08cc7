//! The deterministic freeze: requests take 10 ms, and arrivals from 2,500 ms to 3,000 ms are held until 3,000 ms.
//!
//! Three series measure it: a closed loop that sends a request when the last one was answered, the same loop with
//! HdrHistogram's correction, and an open loop on schedule. All times are whole milliseconds, recorded in a 3-digit
//! HdrHistogram for each snapshot interval; the whole run is their sum. A request belongs to the interval of its
//! arrival. Each snapshot is corrected separately; throughput and counts include only requests that were sent.

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

/// Name of this lab.
pub const NAME: &str = "freeze";
/// Names of its series.
pub const SERIES: [&str; 3] = ["closed-loop-raw", "closed-loop-corrected", "open-loop"];

/// Result of the lab.
#[derive(Clone, Debug)]
pub struct FreezeResult {
    /// Options of the lab.
    pub options: FreezeOptions,
    /// closed-loop-raw, closed-loop-corrected, open-loop.
    pub series: [FreezeSeries; 3],
}

/// Runs the lab.
///
/// # Errors
/// [`LabError`] if an option is out of range.
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
