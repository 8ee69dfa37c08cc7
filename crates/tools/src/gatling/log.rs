//! The requests of Gatling's log, in either format.

use truetail_model::record::Outcome;
use truetail_model::time::Nanos;

use crate::ReportedRequest;
use crate::failure_classifier::FailureClassifier;
use crate::output_reader::OutputReader;

pub(super) const NAME: &str = "gatling";
pub(super) const TESTED: &str = "3.15.1";
pub(super) const LOG: &str = "simulation.log";
pub(super) const LOG_FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(LOG);
pub(super) const NANOS_PER_MILLI: u64 = 1_000_000;

pub(super) struct RequestLog {
    pub version: String,
    pub requests: Vec<ReportedRequest>,
    pub failures: FailureClassifier,
    pub failed: u64,
}

impl RequestLog {
    pub(super) fn new(version: String) -> RequestLog {
        RequestLog { version, requests: Vec::new(), failures: FailureClassifier::default(), failed: 0 }
    }

    /// Adds a request with its start and end in milliseconds; `None` if it ends before it starts. The log has no status
    /// of a successful request (0). A failed request has a message, which names an unexpected status.
    pub(super) fn add(&mut self, start_ms: u64, end_ms: u64, ok: bool, message: &str) -> Option<()> {
        let latency = Nanos(end_ms.checked_sub(start_ms)?.checked_mul(NANOS_PER_MILLI)?);
        let start_ns = start_ms.checked_mul(NANOS_PER_MILLI)?;
        let found = message.rsplit_once("found ").and_then(|(_, status)| status.trim().parse().ok());
        let outcome = match (ok, found) {
            (true, _) => Outcome::ANSWERED,
            (false, Some(status)) => Outcome::response(status),
            (false, None) => self.failures.classify(message),
        };
        self.failed += u64::from(!ok);
        self.requests.push(ReportedRequest { start_ns: Some(start_ns), latency, outcome });
        Some(())
    }
}
