//! Result of an audit.

use serde::Serialize;
use truetail_model::time::Nanos;

use super::timeline::{AuditStop, AuditTimeline};

/// Answer to the question: did a client leave out requests that it should have sent?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditFinding {
    /// Nothing in the file shows an omission.
    NoneSeen,
    /// The file cannot decide the question.
    CannotTell,
    /// The file shows an omission. By chance, at most 1 of 100 files shows as much.
    Likely,
    /// The file shows an omission. By chance, at most 1 of 10,000 files shows as much.
    Certain,
}

impl AuditFinding {
    /// Returns true if the file shows that requests were left out.
    pub const fn is_omission(self) -> bool {
        matches!(self, AuditFinding::Likely | AuditFinding::Certain)
    }

    /// Name in JSON: `none_seen`, `likely`, `certain` or `cannot_tell`.
    pub const fn name(self) -> &'static str {
        match self {
            AuditFinding::NoneSeen => "none_seen",
            AuditFinding::Likely => "likely",
            AuditFinding::Certain => "certain",
            AuditFinding::CannotTell => "cannot_tell",
        }
    }
}

/// One fact that supports a finding.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Evidence {
    /// Code in snake case, explained in `docs/audit.md`.
    pub code: &'static str,
    /// One sentence that states the fact with its numbers.
    pub message: String,
    /// Numbers by name. The name of a number with a unit ends in that unit, such as `_ns`.
    #[serde(flatten)]
    pub numbers: serde_json::Map<String, serde_json::Value>,
}

impl Evidence {
    pub(super) fn new(code: &'static str, message: String, numbers: &[(&str, serde_json::Value)]) -> Evidence {
        let numbers = numbers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Evidence { code, message, numbers }
    }
}

/// A quantile of the latencies in the file.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ReportedQuantile {
    /// In (0, 1].
    pub q: f64,
    /// Nanoseconds.
    pub value_ns: u64,
}

/// A quantile that includes the requests that were not sent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CorrectedQuantile {
    /// In (0, 1].
    pub q: f64,
    /// Best estimate in nanoseconds.
    pub value_ns: u64,
    /// Lower bound in nanoseconds, with as few missing requests as the file allows.
    pub low_ns: u64,
    /// Upper bound in nanoseconds, with as many missing requests as the file allows.
    pub high_ns: u64,
}

/// Result of an audit.
#[derive(Clone, PartialEq, Debug)]
pub struct Audit {
    /// Finding on left-out requests.
    pub finding: AuditFinding,
    /// Facts that support the finding, the strongest first.
    pub evidence: Vec<Evidence>,
    /// Requests in the file, or `None` if the file does not say.
    pub requests: Option<u64>,
    /// Requests without an answer or with an error status, or `None` if the file does not say.
    pub failed: Option<u64>,
    /// Requests that should have been sent and were not, or `None` if that is unknown.
    pub missing_arrivals: Option<u64>,
    /// Number of users, threads or connections: given by the caller, stated in the file, or inferred.
    pub users: Option<u32>,
    /// Sending interval of each user: given or inferred.
    pub expected_interval: Option<Nanos>,
    /// Quantiles of all requests in the file.
    pub reported: Vec<ReportedQuantile>,
    /// Quantiles that include the missing requests. Empty if these cannot be estimated.
    pub corrected: Vec<CorrectedQuantile>,
    /// Stretches of reduced sending, in order of time. The evidence describes them.
    pub stops: Vec<AuditStop>,
    /// The file over time, or `None` if it has no starts.
    pub timeline: Option<AuditTimeline>,
}

impl Audit {
    /// Returns quantile `q` of the file in nanoseconds.
    pub fn reported_at(&self, q: f64) -> Option<u64> {
        self.reported.iter().find(|one| one.q == q).map(|one| one.value_ns)
    }

    /// Returns the corrected quantile `q`, or `None` if the finding is no omission or `q` was not estimated.
    pub fn corrected_at(&self, q: f64) -> Option<CorrectedQuantile> {
        self.corrected.iter().find(|one| one.q == q && self.finding.is_omission()).copied()
    }
}

/// Quantiles in an audit report.
pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0];
