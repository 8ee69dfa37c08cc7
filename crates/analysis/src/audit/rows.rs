//! What is counted of the requests of a file, and what is known beside them.

use truetail_model::record::{Histogram, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignRun};

use super::bins::Bins;
use super::cells::{Durations, Events};
use super::waits::Waits;
use super::workers::Workers;

/// Fewer missing arrivals than this share of all do not matter: half of what a stall of 0.5 % of the run hides.
pub(super) const MATERIAL: f64 = 0.0025;

/// The most bins for starts and ends.
const MAX_BINS: usize = 1 << 15;
/// Of bins of 2^25 ns, 33.6 ms, there may be four times as many, which suffice for 73 minutes: wider ones hide stops.
const MORE_FROM: u32 = 25;
/// The most bins for durations.
const MAX_BLOCKS: usize = 1 << 9;
/// log2 of the first width of a bin: 65.5 µs.
const FIRST_SHIFT: u32 = 16;

/// What is known of the load beside the requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) users: Option<u32>,
    pub(super) interval: Option<Nanos>,
}

/// What a row stands for whose file does not say what became of its request.
const NO_STATUS: Outcome = Outcome::Response { status: 0 };

/// Start and end; `None` after the year 2262, which no clock shows and the bins do not hold.
fn span(start: u64, duration: Nanos) -> Option<(u64, u64)> {
    let end = start.checked_add(duration.0)?;
    (end <= i64::MAX as u64).then_some((start, end))
}

/// The requests of a file, in bins.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) events: Bins<Events>,
    pub(super) blocks: Bins<Durations>,
    pub(super) durations: Histogram,
    pub(super) workers: Workers,
    pub(super) requests: u64,
    pub(super) waits: Option<Waits>,
    /// Those without an answer, or with an error status.
    failed: u64,
    /// One of them at least has a status, or no answer.
    says_failed: bool,
    with_start: u64,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows {
            events: Bins::new(MAX_BINS, FIRST_SHIFT).more_from(MORE_FROM),
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
        self.failed += u64::from(request.outcome.status().is_none_or(|status| status >= 400));
        self.says_failed |= request.outcome != NO_STATUS;
        if request.waited > Nanos::ZERO || self.waits.is_some() {
            self.waits.get_or_insert_with(|| Waits::after(&self.durations)).add(request);
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

    /// How many failed, where the file says so.
    pub(super) fn failed(&self, run: &ForeignRun) -> Option<u64> {
        run.claims.failed.or(self.says_failed.then_some(self.failed))
    }

    /// At least half of the requests say when they were sent.
    pub(super) fn have_starts(&self) -> bool {
        self.with_start > 0 && self.with_start >= self.requests.div_ceil(2)
    }

    /// The latencies: of single requests, or as the file gives them.
    pub(super) fn histogram<'a>(&'a self, run: &'a ForeignRun) -> Option<&'a Histogram> {
        if self.durations.is_empty() { run.histogram.as_deref() } else { Some(&self.durations) }
    }
}
