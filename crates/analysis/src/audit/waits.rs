//! Requests that, according to the file, waited in their client before the clock of their latency began.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;

/// Shorter waits are the time it takes to wake up a task.
const SHORTEST: Nanos = Nanos::from_millis(1);
/// A wait that is less than this part of the latency changes little.
const PART_OF_LATENCY: u64 = 10;

#[derive(Clone, Debug)]
pub(super) struct Waits {
    /// Number of requests whose wait changes their latency noticeably.
    pub(super) waited: u64,
    pub(super) longest: Nanos,
    /// All latencies including the waits.
    pub(super) whole: Histogram,
}

impl Waits {
    /// Starts counting waits after requests with `latencies`. No request waited before.
    pub(super) fn following(latencies: &Histogram) -> Waits {
        Waits { waited: 0, longest: Nanos::ZERO, whole: latencies.clone() }
    }

    pub(super) fn add(&mut self, request: &ForeignRequest) {
        let ForeignRequest { waited, duration, .. } = *request;
        self.whole.record(Nanos(duration.0.saturating_add(waited.0)));
        self.longest = self.longest.max(waited);
        self.waited += u64::from(waited >= SHORTEST && waited.0 >= duration.0 / PART_OF_LATENCY);
    }
}
