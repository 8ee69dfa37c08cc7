//! One tool in the table.

use serde::Serialize;
use truetail_model::record::Snapshot;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModelKind;
use truetail_run::{Claims, LatencyFrom};

use super::{ArrivalAccuracy, Observation, ObservationWindow, ObservedModel, ReportedLatency, ServerView};
use crate::audit::{Audit, AuditFinding};
use crate::omission;
use crate::truth::Truth;

/// State of a tool after its trial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolState {
    /// It ran, and its output was understood.
    Ok,
    /// It could not be run, or its output was not understood.
    Failed,
    /// It did not end, and was stopped.
    Hung,
    /// It is not on this machine.
    Missing,
}

impl ToolState {
    /// Returns `ok`, `failed`, `hung` or `missing`.
    pub const fn name(self) -> &'static str {
        match self {
            ToolState::Ok => "ok",
            ToolState::Failed => "failed",
            ToolState::Hung => "hung",
            ToolState::Missing => "missing",
        }
    }
}

/// Statements and data of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ReportView<'a> {
    /// Its statements.
    pub claims: &'a Claims,
    /// Its data; empty if it gave none.
    pub data: &'a Snapshot,
    /// Notes for the reader.
    pub notes: &'a [String],
}

/// Everything known about one tool in a scenario.
#[derive(Clone, Copy, Debug)]
pub struct ToolUnderTest<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Version of the tool.
    pub version: Option<&'a str>,
    /// The load model that its documentation claims.
    pub label_model: LoadModelKind,
    /// State of the tool.
    pub state: ToolState,
    /// Reason of a state other than ok, or a problem despite the state ok.
    pub message: Option<&'a str>,
    /// The requests that the server saw.
    pub server_view: Option<&'a ServerView>,
    /// Statements and data of the tool.
    pub report: Option<ReportView<'a>>,
    /// CPU time it used, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Largest memory use of one of its processes.
    pub peak_memory_bytes: Option<u64>,
}

/// One tool in the table. `None` means not known.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LeagueRow {
    /// Name of the tool.
    pub tool: String,
    /// Version of the tool.
    pub version: Option<String>,
    /// The load model that its documentation claims.
    pub label_model: LoadModelKind,
    /// The load model that the server saw.
    pub observed_model: Option<ObservedModel>,
    /// Requests that the server saw while it could not answer.
    pub arrivals_in_fault: Option<u64>,
    /// Requests that were planned for that time.
    pub planned_in_fault: u64,
    /// Requests per second that were requested of the tool.
    pub rate_asked_per_second: f64,
    /// Requests per second that the server saw.
    pub rate_seen_per_second: Option<f64>,
    /// p99 of the time from arrival to answer in the server's log of this run, over the requests that it saw.
    pub served_p99_ns: Option<u64>,
    /// (reported / served − 1) in per cent, at p99: the error about the tool's own run. Only for a tool that was open
    /// by observation, because a closed tool sends other requests than planned.
    pub error_served_p99_pct: Option<f64>,
    /// The arrivals compared with the schedule.
    pub arrivals: Option<ArrivalAccuracy>,
    /// The latencies that the tool reported.
    pub reported: Option<ReportedLatency>,
    /// (reported / truth − 1) in per cent, at p99.
    pub error_p99_pct: Option<f64>,
    /// (reported / truth − 1) in per cent, at p99.9.
    pub error_p999_pct: Option<f64>,
    /// Truth / reported at p99.
    pub omission_factor_p99: Option<f64>,
    /// Requests of the schedule that the server never saw.
    pub not_sent: Option<u64>,
    /// Requests that the server saw, less the number of the tool's latencies. May be negative.
    pub left_out: Option<i64>,
    /// Result of an audit that sees only the tool's own file. `None` if the tool left no file that can be audited.
    pub audit: Option<FileAudit>,
    /// CPU time it used, in seconds.
    pub cpu_seconds: Option<f64>,
    /// Largest memory use of one of its processes.
    pub peak_memory_bytes: Option<u64>,
    /// State of the tool.
    pub state: ToolState,
    /// Reason of a state other than ok, or a problem despite the state ok.
    pub message: Option<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// Result of the audit of one file of a tool.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FileAudit {
    /// The file, inside the tool's folder.
    pub file: String,
    /// Finding of the audit: whether requests were left out.
    pub finding: AuditFinding,
    /// Number of missing requests; `None` if that cannot be told.
    pub missing_arrivals: Option<u64>,
    /// p99 in the file, nanoseconds.
    pub p99_ns: Option<u64>,
    /// p99 with the missing requests, nanoseconds. `None` if no request is missing, or if that cannot be told.
    pub corrected_p99_ns: Option<u64>,
}

impl FileAudit {
    /// Summarises the audit of `file`.
    pub fn new(file: String, audit: &Audit) -> FileAudit {
        FileAudit {
            file,
            finding: audit.finding,
            missing_arrivals: audit.missing_arrivals,
            p99_ns: audit.reported_at(0.99),
            corrected_p99_ns: audit.corrected_at(0.99).map(|one| one.value_ns),
        }
    }
}

/// Returns the row of `subject` in a scenario with this truth, rate and window. The row is not audited.
pub fn row(subject: &ToolUnderTest<'_>, truth: &Truth, rate: Rate, window: &ObservationWindow) -> LeagueRow {
    let view = subject.server_view.filter(|view| view.count() > 0);
    let observation = view.map(|view| Observation::new(window, view));
    let reported = subject.report.map(|heard| ReportedLatency::from_claims(heard.claims, heard.data));
    let at = |q: f64| Some((truth.quantile(q)?, Nanos(reported.as_ref()?.quantile(q)?.value_ns)));
    let error = |q: f64| at(q).and_then(|(truth, reported)| error_pct(truth, reported));
    let served_p99 = view.and_then(|view| view.served(0.99));
    let was_open = observation.is_some_and(|observation| observation.model == ObservedModel::Open);
    let said_p99 = reported.as_ref().and_then(|reported| reported.quantile(0.99)).map(|said| Nanos(said.value_ns));
    let measured = reported.as_ref().and_then(|reported| reported.measured);
    LeagueRow {
        tool: subject.tool.to_owned(),
        version: subject.version.map(str::to_owned),
        label_model: subject.label_model,
        observed_model: observation.map(|observation| observation.model),
        arrivals_in_fault: observation.map(|observation| observation.seen),
        planned_in_fault: window.open,
        rate_asked_per_second: rate.as_per_second(),
        rate_seen_per_second: view.and_then(ServerView::rate_per_second),
        served_p99_ns: served_p99.map(|time| time.0),
        error_served_p99_pct: served_p99
            .zip(said_p99)
            .filter(|_| was_open)
            .and_then(|(served, said)| error_pct(served, said)),
        arrivals: view.and_then(|view| ArrivalAccuracy::measure(view, rate, truth.count())),
        error_p99_pct: error(0.99),
        error_p999_pct: error(0.999),
        omission_factor_p99: at(0.99).and_then(|(truth, reported)| omission::factor(truth, reported)),
        not_sent: view.map(|view| truth.count().saturating_sub(view.count())),
        notes: notes(subject, at(0.99), window),
        left_out: view.zip(measured).map(|(view, measured)| view.count() as i64 - measured as i64),
        reported,
        audit: None,
        cpu_seconds: subject.cpu_seconds,
        peak_memory_bytes: subject.peak_memory_bytes,
        state: subject.state,
        message: subject.message.map(str::to_owned),
    }
}

/// A p99 of a healthy service that is further off than this gets a note.
const HEALTHY_TOLERANCE: Nanos = Nanos::from_millis(3);

/// Returns the notes of the tool's parser. If the service was healthy but the tool's `p99` (truth, reported) is off,
/// adds a note with the difference and the p99 of the server's log.
fn notes(subject: &ToolUnderTest<'_>, p99: Option<(Nanos, Nanos)>, window: &ObservationWindow) -> Vec<String> {
    let mut notes = subject.report.map_or(Vec::new(), |heard| heard.notes.to_vec());
    let off = p99.map(|(truth, reported)| Nanos(truth.0.abs_diff(reported.0)));
    if let Some(off) = off.filter(|off| window.stretches.is_empty() && *off > HEALTHY_TOLERANCE) {
        let served = subject.server_view.and_then(|view| view.served(0.99)).unwrap_or_default();
        notes.push(format!(
            "the service was healthy, but the reported p99 is {:.1}ms off; the server's log shows a p99 of {:.1}ms",
            off.as_millis_f64(),
            served.as_millis_f64()
        ));
    }
    notes
}

fn error_pct(truth: Nanos, reported: Nanos) -> Option<f64> {
    (truth.0 > 0).then(|| (reported.0 as f64 / truth.0 as f64 - 1.0) * 100.0)
}

impl LeagueRow {
    /// Returns true if the tool added requests to its tail that it never sent.
    pub fn is_back_filled(&self) -> bool {
        self.reported.as_ref().is_some_and(|reported| reported.latency_from == LatencyFrom::BackFilled)
    }
}
