//! Counters over the requests of a file, and other known facts about its load.

use truetail_model::record::{Histogram, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignRun};

use super::bins::Bins;
use super::cells::{Durations, Events};
use super::waits::Waits;
use super::workers::Workers;

/// Missing arrivals below this share of all do not matter. It is half of what a stall of 0.5 % of the run hides.
pub(super) const MATERIAL: f64 = 0.0025;

/// Limit on the bins for starts and ends.
const MAX_BINS: usize = 1 << 15;
/// Bins wider than 2^25 ns (33.6 ms) hide stops. Before that, four times as many are allowed, enough for 73 minutes.
const MORE_FROM: u32 = 25;
/// Limit on the bins for durations.
const MAX_BLOCKS: usize = 1 << 9;
/// log2 of the first width of a bin: 65.5 µs.
const FIRST_SHIFT: u32 = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct KnownLoad {
    pub(super) users: Option<u32>,
    pub(super) interval: Option<Nanos>,
}

/// Start and end of a request. `None` after the year 2262, which is beyond the range of the bins.
fn span(start: u64, duration: Nanos) -> Option<(u64, u64)> {
    let end = start.checked_add(duration.0)?;
    (end <= i64::MAX as u64).then_some((start, end))
}

/// Requests of a file, in bins.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) events: Bins<Events>,
    pub(super) blocks: Bins<Durations>,
    pub(super) durations: Histogram,
    pub(super) workers: Workers,
    pub(super) requests: u64,
    pub(super) waits: Option<Waits>,
    /// Requests without an answer or with an error status.
    failed: u64,
    /// True if at least one request has a status or has no answer.
    says_failed: bool,
    with_start: u64,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows {
            events: Bins::new(MAX_BINS, FIRST_SHIFT).widen_from(MORE_FROM),
            blocks: Bins::new(MAX_BLOCKS, FIRST_SHIFT + 6),
            durations: Histogram::new(),
            workers: Workers::default(),
            requests: 0,
            waits: None,
            failed: 0,
            says_failed: false,
            with_start: 0,
        }
    }
}

impl Rows {
    #[inline]
    pub(super) fn add(&mut self, request: &ForeignRequest) {
        if request.outcome == Outcome::NeverIssued {
            return;
        }
        self.requests += 1;
        self.failed += u64::from(!request.outcome.is_success());
        self.says_failed |= request.outcome != Outcome::ANSWERED;
        if request.waited > Nanos::ZERO || self.waits.is_some() {
            self.waits.get_or_insert_with(|| Waits::following(&self.durations)).add(request);
        }
        self.durations.record(request.duration);
        let Some((start, end)) = request.start_ns.and_then(|start| span(start, request.duration)) else { return };
        self.with_start += 1;
        self.events.at(start).start(start);
        self.events.at(end).end(end);
        self.blocks.at(start).record(request.duration.0);
        if let Some(worker) = request.worker {
            self.workers.request(worker, start, request);
        }
    }

    pub(super) fn failed(&self, run: &ForeignRun) -> Option<u64> {
        run.claims.failed.or(self.says_failed.then_some(self.failed))
    }

    /// Returns true if at least half of the requests have a start.
    pub(super) fn have_starts(&self) -> bool {
        self.with_start > 0 && self.with_start >= self.requests.div_ceil(2)
    }

    /// Latencies of the single requests, or the file's own histogram.
    pub(super) fn histogram<'a>(&'a self, run: &'a ForeignRun) -> Option<&'a Histogram> {
        if self.durations.is_empty() { run.histogram.as_deref() } else { Some(&self.durations) }
    }
}
