//! Requests that waited in their client before the clock of their latency began, by the word of the file.

use serde_json::json;
use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;

use super::estimate::with_bounds;
use super::finding::{Audit, AuditFinding, Evidence};
use super::rows::MATERIAL;
use crate::figures;

/// The code of the evidence.
pub const WAITED_IN_CLIENT: &str = "waited_in_client";
/// Shorter waits are what it takes to wake a task up.
const SHORTEST: Nanos = Nanos::from_millis(1);
/// A wait that is less than this part of the latency changes little.
const PART_OF_LATENCY: u64 = 10;

/// The waits of a file.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    /// How many waited for so long that it changes their latency.
    waited: u64,
    longest: Nanos,
    /// All latencies, with the waits.
    whole: Histogram,
}

impl Waits {
    /// `latencies` are those of the requests so far, of which none waited.
    pub(super) fn after(latencies: &Histogram) -> Waits {
        Waits { waited: 0, longest: Nanos::ZERO, whole: latencies.clone() }
    }

    pub(super) fn add(&mut self, request: &ForeignRequest) {
        let ForeignRequest { waited, duration, .. } = *request;
        self.whole.record(Nanos(duration.0.saturating_add(waited.0)));
        self.longest = self.longest.max(waited);
        self.waited += u64::from(waited >= SHORTEST && waited.0 >= duration.0 / PART_OF_LATENCY);
    }
}

/// What the waits say, where enough requests waited to matter. Then it is known how late each was, so nothing has to be estimated.
pub(super) fn apply(audit: Audit, waits: Option<&Waits>) -> Audit {
    let requests = audit.requests.unwrap_or_default();
    let Some(Waits { waited, longest, whole }) =
        waits.filter(|waits| waits.waited as f64 >= MATERIAL * requests as f64)
    else {
        return audit;
    };
    let message = format!(
        "{waited} of {requests} requests waited in the client, for up to {}, before the clock of their latency began; the file has these \
         waits",
        figures::time(longest.0 as f64)
    );
    let numbers = [("waited", json!(waited)), ("longest_wait_ns", json!(longest.0))];
    let mut evidence = vec![Evidence::new(WAITED_IN_CLIENT, message, &numbers)];
    evidence.extend(audit.evidence.into_iter().filter(|_| audit.finding.is_omission()));
    let corrected = with_bounds(whole, &[], None);
    Audit { finding: AuditFinding::Certain, evidence, missing_arrivals: Some(0), corrected, ..audit }
}
