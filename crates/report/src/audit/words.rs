//! Result of an audit in words, for the screen and for pages.

use truetail_analysis::audit::{Audit, AuditFinding, Evidence, WAITED_IN_CLIENT};
use truetail_analysis::figures::quantile_name;
use truetail_run::{FilePlace, ForeignRun, ForeignView, UnusedRows};

use super::AuditReport;
use crate::number;

/// Result of an audit in words.
#[derive(Clone, PartialEq, Debug)]
pub struct AuditWords {
    /// The finding in capital letters.
    pub finding: &'static str,
    /// The finding as a clause.
    pub says: &'static str,
    /// Description of the file: its format, its number of requests.
    pub about: Vec<String>,
    /// Evidence for the finding, in sentences.
    pub evidence: Vec<String>,
    /// Table of percentiles: name, reported value, corrected value, and bounds of the corrected value.
    pub rows: Vec<[String; 4]>,
    /// Number of missing requests; `None` if it is 0 or unknown.
    pub missing: Option<String>,
    /// Parts of the file that could not be used.
    pub unused: Vec<String>,
    /// Notes for readers of the numbers.
    pub notes: Vec<String>,
    /// The tool's habits, with their sources.
    pub habits: Vec<String>,
}

impl AuditWords {
    /// Returns the number of columns of [`AuditWords::rows`] to show: 2 if nothing was corrected.
    pub(super) fn columns(&self) -> usize {
        if self.rows.iter().all(|row| row[2].is_empty()) { 2 } else { 4 }
    }
}

/// Returns the words of a report.
pub fn audit_words(report: &AuditReport) -> AuditWords {
    let AuditReport { run, audit, .. } = report;
    let (finding, says) = finding(run.view, audit);
    AuditWords {
        finding,
        says,
        about: about(run, audit),
        evidence: audit.evidence.iter().map(|evidence| sentence(&evidence.message)).collect(),
        rows: rows(audit),
        missing: missing(audit),
        unused: unused(&run.damage),
        notes: run.notes.clone(),
        habits: run.habits.iter().map(|habit| format!("{} ({})", habit.what, habit.source)).collect(),
    }
}

fn finding(view: ForeignView, audit: &Audit) -> (&'static str, &'static str) {
    let first = audit.evidence.first().map(|evidence| evidence.code);
    match audit.finding {
        AuditFinding::NoneSeen => ("NONE SEEN", "no sign that the client left out requests"),
        AuditFinding::Likely if view == ForeignView::Server => {
            ("LIKELY", "nothing reached the server while something was slow")
        }
        AuditFinding::Likely => ("LIKELY", "the client seems to have left out requests while something was slow"),
        AuditFinding::Certain if first == Some(WAITED_IN_CLIENT) => {
            ("CERTAIN", "requests waited in the client, and that is in no latency of the tool")
        }
        AuditFinding::Certain => ("CERTAIN", "the client left out requests while something was slow"),
        AuditFinding::CannotTell => ("CANNOT TELL", "the file does not show whether requests were left out"),
    }
}

fn about(run: &ForeignRun, audit: &Audit) -> Vec<String> {
    let mut parts = vec![run.format.to_owned()];
    parts.extend(run.version.as_ref().map(|version| format!("version {version}")));
    parts.extend(audit.requests.map(|requests| number::counted(requests, "request")));
    parts.extend(audit.failed.map(|failed| format!("{failed} failed")));
    if run.view == ForeignView::Server {
        parts.push("seen by the server".to_owned());
    }
    parts
}

fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).chain(['.']).collect()
}

fn rows(audit: &Audit) -> Vec<[String; 4]> {
    let row = |q: f64, value_ns: u64| {
        let corrected = audit.corrected_at(q);
        let bounds = corrected.map(|one| format!("{} … {}", number::time(one.low_ns), number::time(one.high_ns)));
        let corrected = corrected.map(|one| number::time(one.value_ns));
        [quantile_name(q), number::time(value_ns), corrected.unwrap_or_default(), bounds.unwrap_or_default()]
    };
    audit.reported.iter().map(|reported| row(reported.q, reported.value_ns)).collect()
}

fn missing(audit: &Audit) -> Option<String> {
    let missing = audit.missing_arrivals.filter(|missing| *missing > 0)?;
    let users = audit.users.map_or(String::new(), |users| format!(" Users: {users}."));
    let interval = audit
        .expected_interval
        .map_or(String::new(), |interval| format!(" Each sends every {}.", number::time(interval.0)));
    let about = if is_upper_bound(audit) { "up to" } else { "about" };
    let requests = number::counted(missing, "request");
    Some(format!("Missing: {about} {requests} that a client on a schedule would have sent.{users}{interval}"))
}

/// A summary gives only an upper bound of the missing requests, unless it counts all its slow requests.
fn is_upper_bound(audit: &Audit) -> bool {
    let differs = |evidence: &Evidence| evidence.numbers.get("missing_low") != evidence.numbers.get("missing_high");
    audit.evidence.iter().any(differs)
}

pub(super) fn unused(damage: &UnusedRows) -> Vec<String> {
    let mut lines = Vec::new();
    if damage.rows_left_out > 0 {
        let first = damage
            .first
            .as_ref()
            .map_or(String::new(), |(place, what)| format!("; the first is {}: {what}", place_text(*place)));
        lines.push(format!("Left out: {}{first}", number::counted(damage.rows_left_out, "row")));
    }
    lines.extend(damage.truncated_at.map(|place| format!("The file is cut off {}.", place_text(place))));
    lines
}

/// A binary file has no lines.
fn place_text(place: FilePlace) -> String {
    let FilePlace { line, byte } = place;
    if line == 0 { format!("at byte {byte}") } else { format!("in line {line}, at byte {byte}") }
}
