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

/// What became of a tool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolState {
    /// It ran, and its output was understood.
    Ok,
    /// It could not be run, or its output was not understood.
    Failed,
    /// It did not end, and was ended.
    Hung,
    /// It is not on this machine.
    Missing,
}

impl ToolState {
    /// `ok`, `failed`, `hung` or `missing`.
    pub const fn name(self) -> &'static str {
        match self {
            ToolState::Ok => "ok",
            ToolState::Failed => "failed",
            ToolState::Hung => "hung",
            ToolState::Missing => "missing",
        }
    }
}

/// What a tool said, and the data it gave.
#[derive(Clone, Copy, Debug)]
pub struct ReportView<'a> {
    /// Its statements.
    pub claims: &'a Claims,
    /// Its data; empty where it gave none.
    pub data: &'a Snapshot,
    /// What a reader should know.
    pub notes: &'a [String],
}

/// All that is known of one tool in a scenario.
#[derive(Clone, Copy, Debug)]
pub struct ToolUnderTest<'a> {
    /// Its name.
    pub tool: &'a str,
    /// Its version.
    pub version: Option<&'a str>,
    /// The load model that its documentation claims.
    pub label_model: LoadModelKind,
    /// What became of it.
    pub state: ToolState,
    /// Why, where it is not ok; else what went wrong all the same.
    pub message: Option<&'a str>,
    /// What the server saw.
    pub server_view: Option<&'a ServerView>,
    /// What it said.
    pub report: Option<ReportView<'a>>,
    /// CPU time it used.
    pub cpu_seconds: Option<f64>,
    /// Most memory that one of its processes held.
    pub peak_memory_bytes: Option<u64>,
}

/// One tool in the table. What is not known is `None`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LeagueRow {
    /// Its name.
    pub tool: String,
    /// Its version.
    pub version: Option<String>,
    /// The load model that its documentation claims.
    pub label_model: LoadModelKind,
    /// The load model that the server saw.
    pub observed_model: Option<ObservedModel>,
    /// Requests that the server saw while it could not answer.
    pub arrivals_in_fault: Option<u64>,
    /// Those that were planned for that time.
    pub planned_in_fault: u64,
    /// Requests a second that were asked for.
    pub rate_asked_per_second: f64,
    /// Requests a second that the server saw.
    pub rate_seen_per_second: Option<f64>,
    /// From arrival to answer at p99, by the server's log of this run, over the requests that it saw.
    pub served_p99_ns: Option<u64>,
    /// (reported / served − 1) in per cent, at p99, for a tool that was open by observation: did it tell what its own run
    /// was like? The requests of a closed one are not those that were planned, so nothing follows from them.
    pub error_served_p99_pct: Option<f64>,
    /// How far the arrivals were those of the schedule.
    pub arrivals: Option<ArrivalAccuracy>,
    /// What the tool said.
    pub reported: Option<ReportedLatency>,
    /// (reported / truth − 1) in per cent, at p99.
    pub error_p99_pct: Option<f64>,
    /// The same at p99.9.
    pub error_p999_pct: Option<f64>,
    /// Truth / reported at p99.
    pub omission_factor_p99: Option<f64>,
    /// Requests of the schedule that the server never saw.
    pub not_sent: Option<u64>,
    /// Requests that the server saw and that are not in the tool's latencies; negative where there are more latencies
    /// than requests.
    pub left_out: Option<i64>,
    /// What an audit finds that sees nothing but the tool's own file; `None` where it left no file that can be audited.
    pub audit: Option<FileAudit>,
    /// CPU time it used.
    pub cpu_seconds: Option<f64>,
    /// Most memory that one of its processes held.
    pub peak_memory_bytes: Option<u64>,
    /// What became of it.
    pub state: ToolState,
    /// Why, where it is not ok; else what went wrong all the same.
    pub message: Option<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// What an audit finds in a file of a tool.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FileAudit {
    /// The file, inside the tool's folder.
    pub file: String,
    /// Whether requests were left out.
    pub finding: AuditFinding,
    /// How many; `None` where that cannot be told.
    pub missing_arrivals: Option<u64>,
    /// p99 as the file has it, nanoseconds.
    pub p99_ns: Option<u64>,
    /// p99 with the requests that are missing, nanoseconds; `None` where none are, or that cannot be told.
    pub corrected_p99_ns: Option<u64>,
}

impl FileAudit {
    /// Of `file`.
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

/// The row of `subject`, in a scenario with this truth, rate, and window. It is not audited.
pub fn row(subject: &ToolUnderTest<'_>, truth: &Truth, rate: Rate, window: &ObservationWindow) -> LeagueRow {
    let view = subject.server_view.filter(|view| view.count() > 0);
    let observation = view.map(|view| Observation::of(window, view));
    let reported = subject.report.map(|heard| ReportedLatency::of(heard.claims, heard.data));
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
        arrivals: view.and_then(|view| ArrivalAccuracy::of(view, rate, truth.count())),
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

/// Of a healthy service a p99 that is further off than this is remarked on.
const HEALTHY_TOLERANCE: Nanos = Nanos::from_millis(3);

/// What the tool's parser noted; and where nothing was wrong with the service and its p99 (truth, reported) is off all the
/// same, by how much, and what its server did.
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
    /// Its tail was filled in afterwards with requests that never were.
    pub fn is_back_filled(&self) -> bool {
        self.reported.as_ref().is_some_and(|reported| reported.latency_from == LatencyFrom::BackFilled)
    }
}
