//! The deterministic freeze: a service that takes 10 ms and stands still from 2 500 ms to 3 000 ms. What arrives in
//! between waits for its end and then takes its 10 ms.
//!
//! Three series look at the same freeze: a closed loop that sends the next request when the last one was answered, the
//! same loop with HdrHistogram's correction, and an open loop that sends on schedule. Everything is a whole number of
//! milliseconds, recorded in HdrHistograms of 3 digits, one a snapshot interval; the whole run is their sum. A request
//! belongs to the interval in which it arrived. The correction is applied a snapshot at a time; throughput and counts
//! stay those of the requests that were really sent.

mod csv;
mod intervals;
mod manifest;

pub use intervals::FreezeInterval;
pub use manifest::{Artifact, GOLDEN};

use truetail_model::arrival::Horizon;
use truetail_model::service::{Fault, Gate, Service};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Rate, Timestamp};

use self::intervals::{Arrivals, Snapshots};
use super::correction::{Names, measure_both};
use super::series::{closed, measure, open};
use super::{LabError, LabSeries, above_zero, requests_in};

/// Nanoseconds in the unit of this lab.
const NANOS_PER_MS: u64 = 1_000_000;

/// What may be chosen, in whole milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreezeOptions {
    /// What a request takes.
    pub base: Nanos,
    /// When the service stands still.
    pub pause_start: Nanos,
    /// For how long.
    pub pause_length: Nanos,
    /// No request is sent at or after this.
    pub duration: Nanos,
    /// Between two requests: what the correction expects and the open loop does.
    pub expected_interval: Nanos,
    /// How long a row of the interval files is.
    pub snapshot_interval: Nanos,
    /// Users of the closed loop.
    pub users: u32,
}

impl Default for FreezeOptions {
    fn default() -> FreezeOptions {
        FreezeOptions {
            base: Nanos::from_millis(10),
            pause_start: Nanos::from_millis(2_500),
            pause_length: Nanos::from_millis(500),
            duration: Nanos::from_secs(5),
            expected_interval: Nanos::from_millis(10),
            snapshot_interval: Nanos::from_secs(1),
            users: 1,
        }
    }
}

impl FreezeOptions {
    /// The service of this lab.
    pub fn service(&self) -> Service {
        let freeze =
            Fault::Stall { at: Timestamp(self.pause_start.0), length: self.pause_length, gate: Gate::Arrivals };
        Service { faults: vec![freeze], ..Service::healthy(self.base) }
    }

    /// The options under the names that the command line and the manifest have for them.
    fn named(&self) -> [(&'static str, Nanos); 6] {
        [
            ("base", self.base),
            ("pause-start", self.pause_start),
            ("pause-length", self.pause_length),
            ("duration", self.duration),
            ("expected-interval", self.expected_interval),
            ("snapshot-interval", self.snapshot_interval),
        ]
    }

    fn check(&self) -> Result<(), LabError> {
        for (option, value) in self.named() {
            if option != "pause-start" && option != "pause-length" {
                above_zero(option, value.0)?;
            }
            if value.0 % NANOS_PER_MS != 0 {
                return Err(LabError::NotWholeMillis { option, value });
            }
        }
        above_zero("users", u64::from(self.users))?;
        requests_in(self.duration, self.open_rate().as_per_second())?;
        requests_in(self.duration, f64::from(self.users) / self.base.as_secs_f64())?;
        Ok(())
    }

    fn open_rate(&self) -> Rate {
        let per_second = NANOS_PER_SECOND as f64 / self.expected_interval.0 as f64;
        Rate::per_second(per_second).expect("the interval was checked to be above zero")
    }
}

/// One way of looking at the freeze.
#[derive(Clone, Debug)]
pub struct FreezeSeries {
    /// All that was recorded.
    pub series: LabSeries,
    /// Requests that were sent.
    pub total_requests: u64,
    /// p99 of the whole run, ms; `None` when nothing was sent.
    pub whole_run_p99_ms: Option<u64>,
    /// A row for each snapshot interval.
    pub intervals: Vec<FreezeInterval>,
}

/// What the lab found.
#[derive(Clone, Debug)]
pub struct FreezeResult {
    /// How it was set up.
    pub options: FreezeOptions,
    /// closed-loop-raw, closed-loop-corrected, open-loop.
    pub series: [FreezeSeries; 3],
}

impl FreezeResult {
    /// The four CSV files and the manifest that describes them, in the order in which they are to be written.
    pub fn artifacts(&self) -> Vec<Artifact> {
        self.artifacts_beside(&[])
    }

    /// The same, with a manifest that lists these pictures too: (file name, bytes).
    pub fn artifacts_beside(&self, plots: &[(String, Vec<u8>)]) -> Vec<Artifact> {
        let mut files = csv::files(self);
        files.push(manifest::manifest(&self.options, &files, plots));
        files
    }
}

/// Runs the lab.
///
/// # Errors
/// [`LabError`] when an option is out of range.
pub fn run(options: &FreezeOptions) -> Result<FreezeResult, LabError> {
    options.check()?;
    let service = options.service();
    let horizon = Horizon { duration: Some(options.duration), requests: None };
    let names = Names { lab: "freeze", raw: "closed-loop-raw", corrected: "closed-loop-corrected" };
    let mut closed_loop = Arrivals::default();
    let users = closed(options.users, horizon);
    let (raw, corrected) = measure_both(names, &service, &users, options.expected_interval, &mut closed_loop)?;
    let mut open_loop = Arrivals::default();
    let schedule = open(options.open_rate(), options.duration);
    let (open, _) = measure(names.lab, "open-loop", &service, &schedule, &mut open_loop)?;
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
