//! Decides from a result file whether its client stopped sending while something was slow.
//!
//! [`Auditor`] takes the requests of a file in any order and counts their starts and ends in bins of time that double
//! in width. A client that waits for answers shows [silences](Evidence): something is slow, nothing starts and nothing
//! ends, and the next request follows the first answer at once. A client on a schedule keeps sending. `docs/audit.md`
//! describes the method, its thresholds and its error rates.

mod axis;
mod bins;
mod cells;
mod chance;
mod correction;
mod dips;
mod estimate;
mod finding;
mod hidden;
mod judge;
mod left_out;
mod rows;
mod server;
mod silence;
mod steps;
mod summary;
mod timeline;
mod usual;
mod waited;
mod waits;
mod workers;

pub use correction::{Corrected, CorrectedInterval, Correction, Corrector, correct};
pub use finding::{Audit, AuditFinding, CorrectedQuantile, Evidence, QUANTILES, ReportedQuantile};
pub use timeline::{AuditStop, AuditTimeline};
pub use waited::WAITED_IN_CLIENT;

use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignRun, LatencyFrom};

use axis::Axis;
use rows::{KnownLoad, Rows};

/// Audits the requests of a file one by one. Its memory is bounded: at most 15 MB, plus 30 bytes per worker.
#[derive(Clone, Debug, Default)]
pub struct Auditor {
    rows: Rows,
}

impl Auditor {
    /// Creates an auditor without requests.
    pub fn new() -> Auditor {
        Auditor::default()
    }

    /// Adds a request. Requests may come in any order, but the requests of one worker must be in order of their starts.
    #[inline]
    pub fn request(&mut self, request: &ForeignRequest) {
        self.rows.add(request);
    }

    /// Returns the result of the audit. `users` is the number of requests that may have been outstanding, and
    /// `expected_interval` is the sending interval of each user, if the caller knows them.
    pub fn finish(self, run: &ForeignRun, users: Option<u32>, expected_interval: Option<Nanos>) -> Audit {
        let given = KnownLoad { users: users.or(run.load.users), interval: expected_interval };
        let rows = &self.rows;
        if !rows.have_starts() {
            let audit = waited::apply(summary::judge(rows.histogram(run), rows, run, given), rows.waits.as_ref());
            return left_out::limit(audit, run);
        }
        let audit = if run.claims.latency_from == LatencyFrom::Send {
            judge::judge(rows, Axis::new(&rows.events, &rows.blocks), run, given)
        } else {
            summary::judge(rows.histogram(run), rows, run, given)
        };
        let audit = left_out::limit(waited::apply(audit, rows.waits.as_ref()), run);
        Audit { timeline: timeline::timeline(rows, run.clock.start_resolution_ns), ..audit }
    }
}
