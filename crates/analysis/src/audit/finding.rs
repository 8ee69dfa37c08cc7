//! What an audit says.

use serde::Serialize;
use truetail_model::time::Nanos;

use super::timeline::{AuditStop, AuditTimeline};

/// Whether a client left out requests that it should have sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditFinding {
    /// Nothing in the file shows it.
    NoneSeen,
    /// The file cannot show it, one way or the other.
    CannotTell,
    /// The file shows it, and chance may show as much in 1 of 100 files.
    Likely,
    /// The file shows it, and chance shows as much in 1 of 10 000 files at most.
    Certain,
}

impl AuditFinding {
    /// The file shows that requests were left out.
    pub const fn is_omission(self) -> bool {
        matches!(self, AuditFinding::Likely | AuditFinding::Certain)
    }

    /// `none_seen`, `likely`, `certain` or `cannot_tell`.
    pub const fn name(self) -> &'static str {
        match self {
            AuditFinding::NoneSeen => "none_seen",
            AuditFinding::Likely => "likely",
            AuditFinding::Certain => "certain",
            AuditFinding::CannotTell => "cannot_tell",
        }
    }
}

/// One thing that a file shows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Evidence {
    /// Snake case, explained in `docs/audit.md`.
    pub code: &'static str,
    /// A sentence with its numbers.
    pub message: String,
    /// The numbers, by name; names end in their unit.
    #[serde(flatten)]
    pub numbers: serde_json::Map<String, serde_json::Value>,
}

impl Evidence {
    /// With these numbers.
    pub(super) fn new(code: &'static str, message: String, numbers: &[(&str, serde_json::Value)]) -> Evidence {
        let numbers = numbers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Evidence { code, message, numbers }
    }
}

/// A quantile as the file has it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ReportedQuantile {
    /// In (0, 1].
    pub q: f64,
    /// Nanoseconds.
    pub value_ns: u64,
}

/// A quantile with the requests that were not sent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CorrectedQuantile {
    /// In (0, 1].
    pub q: f64,
    /// Nanoseconds.
    pub value_ns: u64,
    /// With as few missing requests as the file allows, nanoseconds.
    pub low_ns: u64,
    /// With as many missing requests as the file allows, nanoseconds.
    pub high_ns: u64,
}

/// What an audit found.
#[derive(Clone, PartialEq, Debug)]
pub struct Audit {
    /// Whether requests were left out.
    pub finding: AuditFinding,
    /// What shows it, the weightiest first.
    pub evidence: Vec<Evidence>,
    /// Requests in the file; `None` where it does not say.
    pub requests: Option<u64>,
    /// Those without an answer, or with an error status; `None` where the file does not say.
    pub failed: Option<u64>,
    /// Requests that should have been sent and were not; `None` where that cannot be told.
    pub missing_arrivals: Option<u64>,
    /// How many users, threads or connections there were, as given, as the file says, or inferred.
    pub users: Option<u32>,
    /// How often each of them sends, as given or inferred.
    pub expected_interval: Option<Nanos>,
    /// Quantiles of all requests in the file.
    pub reported: Vec<ReportedQuantile>,
    /// The same with the requests that are missing; empty where that cannot be told.
    pub corrected: Vec<CorrectedQuantile>,
    /// Where the client sent less than it should have, the earliest first: what the evidence speaks of.
    pub stops: Vec<AuditStop>,
    /// The file over time; `None` where it has no starts.
    pub timeline: Option<AuditTimeline>,
}

impl Audit {
    /// Quantile `q` as the file has it, nanoseconds.
    pub fn reported_at(&self, q: f64) -> Option<u64> {
        self.reported.iter().find(|one| one.q == q).map(|one| one.value_ns)
    }

    /// Quantile `q` with the requests that are missing; `None` where none are, or that cannot be told.
    pub fn corrected_at(&self, q: f64) -> Option<CorrectedQuantile> {
        self.corrected.iter().find(|one| one.q == q && self.finding.is_omission()).copied()
    }
}

/// The quantiles that an audit reports.
pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0];
