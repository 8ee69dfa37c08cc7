//! Meaning of Vegeta's results, in each of its formats.

mod csv;
mod gob;
mod json;
mod report;

use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;
use truetail_tools::FailureClassifier;

use crate::rows::{RunFacts, Taken};

pub(crate) use csv::VegetaCsv;
pub(crate) use gob::VegetaGob;
pub(crate) use json::VegetaJson;
pub(crate) use report::REPORT;

pub(crate) struct Attempt<'r> {
    pub start_ns: u64,
    pub latency_ns: u64,
    /// The status; 0 without an answer.
    pub code: u64,
    pub bytes_in: Option<u64>,
    pub error: &'r [u8],
}

/// Summary of the results.
#[derive(Default)]
pub(crate) struct VegetaResults {
    failures: FailureClassifier,
    failed: u64,
}

impl VegetaResults {
    /// Returns the request of a row.
    pub(crate) fn request(&mut self, result: &Attempt<'_>) -> Taken {
        let outcome = match u16::try_from(result.code) {
            Ok(status @ 1..) => Outcome::response(status),
            _ => self.failures.classify(&String::from_utf8_lossy(result.error)),
        };
        // Vegeta counts success like this.
        self.failed += u64::from(!outcome.status().is_some_and(|status| (200..400).contains(&status)));
        Taken::Request(ForeignRequest {
            bytes_in: result.bytes_in,
            ..ForeignRequest::new(Some(result.start_ns), Nanos(result.latency_ns), outcome)
        })
    }

    pub(crate) fn close(self) -> RunFacts {
        RunFacts { failed: Some(self.failed), notes: self.failures.notes(), ..RunFacts::default() }
    }
}
