//! Did the client of a result file stop sending while something was slow? Found from the file alone, in bounded memory.
//!
//! [`Auditor`] takes the requests of a file in any order and counts their starts and ends in bins of time that double in
//! width. A client that waits for answers shows [silences](Evidence): something is slow, nothing starts and nothing ends,
//! and the next request follows the first answer at once. A client on a schedule goes on sending. The method, its thresholds
//! and its measured error rates are in `docs/audit.md`.

mod axis;
mod bins;
mod cells;
mod correction;
mod dips;
mod estimate;
mod finding;
mod judge;
mod silence;
mod summary;
mod test;
mod usual;
mod workers;

pub use correction::{Corrector, corrected};
pub use finding::{Audit, AuditFinding, CorrectedQuantile, Evidence, QUANTILES, ReportedQuantile};

use truetail_model::record::{Histogram, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignRun, LatencyFrom};

use axis::Axis;
use bins::Bins;
use cells::{Durations, Events};
use workers::Workers;

/// The most bins for starts and ends.
const MOST_BINS: usize = 1 << 15;
/// The most bins for durations.
const MOST_BLOCKS: usize = 1 << 9;
/// log2 of the first width of a bin: 65.5 µs.
const FIRST_SHIFT: u32 = 16;

/// Looks at the requests of a file one by one. Its memory does not grow with their number: at most 5 MB, and 30 bytes a
/// worker.
#[derive(Clone, Debug)]
pub struct Auditor {
    events: Bins<Events>,
    blocks: Bins<Durations>,
    durations: Histogram,
    workers: Workers,
    requests: u64,
    failed: u64,
    with_start: u64,
}

impl Default for Auditor {
    fn default() -> Auditor {
        Auditor::new()
    }
}

impl Auditor {
    /// Nothing was seen yet.
    pub fn new() -> Auditor {
        Auditor {
            events: Bins::new(MOST_BINS, FIRST_SHIFT),
            blocks: Bins::new(MOST_BLOCKS, FIRST_SHIFT + 6),
            durations: Histogram::new(),
            workers: Workers::default(),
            requests: 0,
            failed: 0,
            with_start: 0,
        }
    }

    /// Takes the next request. They may come in any order; those of one worker in the order of their starts.
    #[inline]
    pub fn request(&mut self, request: &ForeignRequest) {
        if request.outcome == Outcome::NeverIssued {
            return;
        }
        self.requests += 1;
        self.failed += u64::from(request.outcome.status().is_none_or(|status| status >= 400));
        self.durations.record(request.duration);
        let Some(start) = request.start_ns else { return };
        self.with_start += 1;
        self.events.at(start).start(start);
        let end = start.saturating_add(request.duration.0);
        self.events.at(end).end(end);
        self.blocks.at(start).record(request.duration.0);
        if let Some(worker) = request.worker {
            self.workers.request(worker, start, request);
        }
    }

    /// Judges. `users` is how many requests may have been outstanding and `expected_interval` how often each user sends,
    /// where the caller knows them.
    pub fn finish(self, run: &ForeignRun, users: Option<u32>, expected_interval: Option<Nanos>) -> Audit {
        let given = Given { users: users.or(run.load.users), interval: expected_interval };
        let without_starts = self.with_start < self.requests.div_ceil(2) || self.with_start == 0;
        if run.claims.latency_from != LatencyFrom::Send || without_starts {
            return summary::judge(self.histogram(run), &self, run, given);
        }
        let axis = Axis::new(&self.events, &self.blocks);
        judge::judge(&self, axis, run, given)
    }

    /// The latencies: of single requests, or as the file gives them.
    fn histogram<'a>(&'a self, run: &'a ForeignRun) -> Option<&'a Histogram> {
        if self.durations.is_empty() { run.histogram.as_ref() } else { Some(&self.durations) }
    }
}

/// What is known of the load beside the requests.
#[derive(Clone, Copy, Debug)]
struct Given {
    users: Option<u32>,
    interval: Option<Nanos>,
}
