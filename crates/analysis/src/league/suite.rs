//! The suite of situations that a load tool should report truly, and its judge.

use serde::Serialize;
use truetail_model::scenario::Scenario;
use truetail_model::service::Fault;
use truetail_model::time::{Nanos, Timestamp};

use super::{LeagueRow, ObservedModel, RATE_TOLERANCE, ServerView, StreamTrial, ToolState};
use crate::truth::Truth;

/// Tolerance for a reported time, as a share of the true one. Quantile sketches and rounding need a part of it.
pub const TIME_TOLERANCE: f64 = 0.20;
/// Smallest tolerance for a reported time.
pub const LEAST_TIME_TOLERANCE: Nanos = Nanos::from_millis(5);
/// Tolerance for a number of failures, as a share of the true one.
pub const COUNT_TOLERANCE: f64 = 0.05;
/// Smallest tolerance for a number of failures: requests at the edge of the run.
pub const LEAST_COUNT_TOLERANCE: u64 = 3;

/// The question that a situation asks of a tool's report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Is p99 the one of the schedule? Requests that were due during a stall must be in it.
    TailDuringStalls,
    /// Are p50 and p99 those of the schedule?
    Percentiles,
    /// Does the tool say that no request was answered?
    Refusal,
    /// Is the number of failed requests right?
    Failures,
    /// Is the number of failed requests right, and is p99 not below the timeout?
    Timeouts,
    /// Is the number of error answers right?
    ErrorAnswers,
    /// Is p50 that of the schedule, or does the tool say that it did not send requests?
    Overload,
    /// Did the server see the requested rate?
    Rate,
    /// Are the percentiles of the first token and of the gaps between tokens right?
    Streams,
}

/// Result of a situation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteState {
    /// The tool's report is right.
    Pass,
    /// The tool's report is wrong.
    Fail,
    /// The trial does not show it: the tool could not be run or read, or the server was late.
    CannotTell,
    /// The tool, or this build of the server, does not have what the situation needs.
    NotTested,
}

impl SuiteState {
    /// Returns the words for people.
    pub const fn words(self) -> &'static str {
        match self {
            SuiteState::Pass => "pass",
            SuiteState::Fail => "FAIL",
            SuiteState::CannotTell => "cannot tell",
            SuiteState::NotTested => "not tested",
        }
    }
}

/// The facts about a tool in a situation.
#[derive(Clone, Copy, Debug)]
pub struct SuiteEvidence<'a> {
    /// Its row in the league table.
    pub row: &'a LeagueRow,
    /// The results of an ideal client.
    pub truth: &'a Truth,
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The requests that the server saw.
    pub server: Option<&'a ServerView>,
    /// Its results for streams, if it measures streams.
    pub streams: Option<&'a StreamTrial>,
    /// Exit code of the tool.
    pub exit_code: Option<i32>,
}

impl SuiteEvidence<'_> {
    /// Returns the number of requests that the server saw.
    fn seen(&self) -> u64 {
        self.server.map_or(0, ServerView::count)
    }

    /// Returns true if the server's log may excuse a wrong figure. The log is an excuse only if the tool sent about the
    /// planned requests and did not wait for answers: otherwise the log differs from the plan by the tool's own fault.
    fn has_open_log(&self) -> bool {
        let planned = self.truth.count() as f64;
        let kept_plan = (self.seen() as f64 - planned).abs() <= planned * RATE_TOLERANCE;
        kept_plan && matches!(self.row.observed_model, Some(ObservedModel::Open | ObservedModel::NotShown))
    }
}

/// The judgement of a situation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SuiteJudgement {
    /// Result.
    pub state: SuiteState,
    /// Sentence with the reported figure beside the truth.
    pub found: String,
    /// (reported / truth − 1) in per cent, of the figure that decided.
    pub error_pct: Option<f64>,
    /// True if it passed by its exit code alone, as a command that cannot start would.
    #[serde(skip)]
    pub rests_on_exit: bool,
}

impl SuiteJudgement {
    /// Returns a judgement without a figure.
    pub fn new(state: SuiteState, found: impl Into<String>) -> SuiteJudgement {
        SuiteJudgement { state, found: found.into(), error_pct: None, rests_on_exit: false }
    }

    fn of(is_right: bool, found: String, error_pct: Option<f64>) -> SuiteJudgement {
        let state = if is_right { SuiteState::Pass } else { SuiteState::Fail };
        SuiteJudgement { error_pct, ..SuiteJudgement::new(state, found) }
    }
}

/// Result of a situation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SuiteRow {
    /// Name of the situation.
    pub situation: String,
    /// The sentence that it tests.
    pub tests: String,
    /// The text or scenario that it comes from.
    pub source: String,
    /// The judgement.
    #[serde(flatten)]
    pub judgement: SuiteJudgement,
    /// The command line; empty if the tool was not run.
    pub command: Vec<String>,
}

/// Result of the suite.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SuiteResult {
    /// Name of the tool.
    pub tool: String,
    /// Version of the tool, or `unknown`.
    pub version: String,
    /// The situations.
    pub situations: Vec<SuiteRow>,
}

impl SuiteResult {
    /// Withdraws what a tool passed by its exit code alone, unless another situation shows that it runs at all.
    pub fn withdraw_unconfirmed(&mut self) {
        let shows_a_run = |row: &SuiteRow| {
            matches!(row.judgement.state, SuiteState::Pass | SuiteState::Fail) && !row.judgement.rests_on_exit
        };
        if self.situations.iter().any(shows_a_run) {
            return;
        }
        for judgement in self.situations.iter_mut().map(|row| &mut row.judgement) {
            if judgement.rests_on_exit {
                judgement.state = SuiteState::CannotTell;
                judgement.found.push_str("; no other situation shows that it runs at all");
            }
        }
    }

    /// Returns the number of situations with this result.
    pub fn count(&self, state: SuiteState) -> usize {
        self.situations.iter().filter(|row| row.judgement.state == state).count()
    }
}

/// Judges what a tool reported in a situation.
pub fn judge(question: Question, evidence: &SuiteEvidence<'_>) -> SuiteJudgement {
    if evidence.row.state == ToolState::Hung {
        return SuiteJudgement::new(SuiteState::Fail, "it did not end, and was stopped");
    }
    if question == Question::Refusal {
        return refusal(evidence);
    }
    if evidence.row.state != ToolState::Ok {
        return SuiteJudgement::new(SuiteState::CannotTell, said(evidence.row));
    }
    match question {
        Question::TailDuringStalls => tail_during_stalls(evidence),
        Question::Percentiles => worse(time_at(evidence, 0.5), time_at(evidence, 0.99)),
        Question::Refusal => refusal(evidence),
        Question::Failures => failures(evidence, failed(evidence)),
        Question::Timeouts => timeouts(evidence),
        Question::ErrorAnswers => failures(evidence, error_answers(evidence)),
        Question::Overload => overload(evidence),
        Question::Rate => worse(rate(evidence), time_at(evidence, 0.5)),
        Question::Streams => streams(evidence),
    }
}

/// Combines two judgements: the one that says more against the tool decides.
fn worse(first: SuiteJudgement, second: SuiteJudgement) -> SuiteJudgement {
    let weight = |judgement: &SuiteJudgement| match judgement.state {
        SuiteState::Fail => 3,
        SuiteState::CannotTell => 2,
        SuiteState::NotTested => 1,
        SuiteState::Pass => 0,
    };
    let found = format!("{}; {}", first.found, second.found);
    let decisive = if weight(&second) > weight(&first) { second } else { first };
    SuiteJudgement { found, ..decisive }
}

fn said(row: &LeagueRow) -> String {
    row.message.clone().unwrap_or_else(|| "it reported nothing that can be read".to_owned())
}

/// Returns the message of a tool that failed, without what truetail says of its output.
fn last_words(row: &LeagueRow) -> String {
    let said = said(row);
    let of_parser = format!("; {}: stdout:", row.tool);
    said.split_once(of_parser.as_str()).map_or(said.as_str(), |(before, _)| before).to_owned()
}

fn is_near(reported_ns: u64, truth_ns: u64) -> bool {
    let tolerance = (truth_ns as f64 * TIME_TOLERANCE).max(LEAST_TIME_TOLERANCE.0 as f64);
    (reported_ns as f64 - truth_ns as f64).abs() <= tolerance
}

fn error_pct(reported: u64, truth: u64) -> Option<f64> {
    (truth > 0).then(|| (reported as f64 / truth as f64 - 1.0) * 100.0)
}

fn millis(ns: u64) -> String {
    format!("{:.1} ms", Nanos(ns).as_millis_f64())
}

/// Compares the tool's quantile with the schedule's.
fn time_at(evidence: &SuiteEvidence<'_>, q: f64) -> SuiteJudgement {
    let name = format!("p{}", q * 100.0);
    let said = evidence.row.reported.as_ref().and_then(|reported| reported.quantile(q));
    let served = evidence.server.filter(|_| evidence.has_open_log()).and_then(|server| server.served(q));
    let truth = evidence.truth.quantile(q);
    beside(&name, said.map(|said| said.value_ns), truth.map(|truth| truth.0), served.map(|served| served.0))
}

fn tail_during_stalls(evidence: &SuiteEvidence<'_>) -> SuiteJudgement {
    let judgement = time_at(evidence, 0.99);
    let row = evidence.row;
    let seen = row.arrivals_in_fault.unwrap_or_default();
    let due = row.planned_in_fault;
    let sent = format!("the server saw {seen} of {due} requests that were due while it stood still");
    let is_closed = row.observed_model == Some(ObservedModel::Closed);
    let found = format!("{}; {sent}", judgement.found);
    let why = if row.is_back_filled() { "filled in afterwards" } else { "near by chance" };
    match judgement.state {
        SuiteState::Pass if is_closed => {
            let found = format!("{found}: the figure is {why}, for requests that it did not send");
            SuiteJudgement { state: SuiteState::Fail, found, ..judgement }
        }
        SuiteState::Pass => judgement,
        _ => SuiteJudgement { found, ..judgement },
    }
}

fn refusal(evidence: &SuiteEvidence<'_>) -> SuiteJudgement {
    let row = evidence.row;
    let ended_well = evidence.exit_code == Some(0);
    let reported = row.reported.as_ref();
    let failed = reported.and_then(|reported| reported.failed).filter(|failed| *failed > 0);
    match (failed, ended_well) {
        (Some(failed), _) => SuiteJudgement::new(SuiteState::Pass, format!("it says that {failed} requests failed")),
        (None, false) if evidence.exit_code.is_some() => {
            SuiteJudgement { rests_on_exit: true, ..SuiteJudgement::new(SuiteState::Pass, last_words(row)) }
        }
        (None, true) if row.state == ToolState::Ok || reported.is_some() => {
            SuiteJudgement::new(SuiteState::Fail, "it ended as if all was well, and says of no request that it failed")
        }
        _ => SuiteJudgement::new(SuiteState::CannotTell, said(row)),
    }
}

/// Returns how many of the requests that the server saw were meant to fail.
fn affected(evidence: &SuiteEvidence<'_>) -> u64 {
    let service = &evidence.scenario.service;
    let selectors = || service.all_faults().filter_map(Fault::selector);
    let is_failed = |number: &u64| selectors().any(|select| select.meets(service.seed, *number, Timestamp::ZERO));
    (1..=evidence.seen()).filter(is_failed).count() as u64
}

fn failed(evidence: &SuiteEvidence<'_>) -> Option<u64> {
    evidence.row.reported.as_ref()?.failed
}

fn error_answers(evidence: &SuiteEvidence<'_>) -> Option<u64> {
    let reported = evidence.row.reported.as_ref()?;
    reported.error_answers.or(reported.failed)
}

fn failures(evidence: &SuiteEvidence<'_>, stated: Option<u64>) -> SuiteJudgement {
    let affected = affected(evidence);
    let Some(stated) = stated else {
        let found = format!("its report does not say how many requests failed; the server failed {affected}");
        return SuiteJudgement::new(SuiteState::CannotTell, found);
    };
    if affected == 0 {
        return SuiteJudgement::new(SuiteState::CannotTell, "the server saw too few requests to fail one");
    }
    let tolerance = ((affected as f64 * COUNT_TOLERANCE) as u64).max(LEAST_COUNT_TOLERANCE);
    let is_right = stated.abs_diff(affected) <= tolerance;
    let planned = evidence.truth.count();
    // A few requests more than planned mean that the tool repeated failed ones; many more, that it kept no rate.
    let repeats = !is_right && (1..=affected * 2).contains(&evidence.seen().saturating_sub(planned));
    let more =
        if repeats { format!("; {planned} were planned, so failed ones were sent again") } else { String::new() };
    let found = format!("it counts {stated} failures, the server failed {affected} of {}{more}", evidence.seen());
    SuiteJudgement::of(is_right, found, error_pct(stated, affected))
}

fn timeouts(evidence: &SuiteEvidence<'_>) -> SuiteJudgement {
    let counted = failures(evidence, failed(evidence));
    let timeout = evidence.scenario.workload.limits.timeout.unwrap_or_default();
    let said = evidence.row.reported.as_ref().and_then(|reported| reported.quantile(0.99));
    let flattering = said.filter(|said| (said.value_ns as f64) < timeout.0 as f64 * (1.0 - TIME_TOLERANCE));
    match flattering {
        Some(said) => {
            let p99 = millis(said.value_ns);
            let found =
                format!("its p99 is {p99}, but one request in twenty waited {timeout} in vain; {}", counted.found);
            SuiteJudgement::of(false, found, error_pct(said.value_ns, timeout.0))
        }
        None => counted,
    }
}

fn overload(evidence: &SuiteEvidence<'_>) -> SuiteJudgement {
    let judgement = time_at(evidence, 0.5);
    let planned = evidence.truth.count();
    let dropped = evidence.row.reported.as_ref().and_then(|reported| reported.dropped).unwrap_or_default();
    let owned_up = dropped > 0 && (evidence.seen() + dropped) as f64 >= planned as f64 * (1.0 - RATE_TOLERANCE);
    if judgement.state == SuiteState::Fail && owned_up {
        let found = format!("it says that it did not send {dropped} of {planned} requests");
        return SuiteJudgement::new(SuiteState::Pass, found);
    }
    let found = format!("{}; the server saw {} of {planned} requests", judgement.found, evidence.seen());
    SuiteJudgement { found, ..judgement }
}

fn rate(evidence: &SuiteEvidence<'_>) -> SuiteJudgement {
    let asked = evidence.row.rate_asked_per_second;
    let Some(seen) = evidence.row.rate_seen_per_second else {
        return SuiteJudgement::new(SuiteState::CannotTell, "the server saw no rate");
    };
    let planned = evidence.truth.count();
    let missing = planned.saturating_sub(evidence.seen()) as f64 / planned.max(1) as f64;
    let off = seen / asked - 1.0;
    let found =
        format!("the server saw {seen:.1}/s and {} of {planned} requests, asked were {asked}/s", evidence.seen());
    SuiteJudgement::of(off.abs() <= RATE_TOLERANCE && missing <= RATE_TOLERANCE, found, Some(off * 100.0))
}

fn streams(evidence: &SuiteEvidence<'_>) -> SuiteJudgement {
    let Some(trial) = evidence.streams else {
        return SuiteJudgement::new(SuiteState::NotTested, "it does not measure streams");
    };
    let row = &trial.row;
    let first = row.claims.as_ref().and_then(|claims| claims.first_at(0.99)).map(|said| said.value_ns);
    let gap = row.claims.as_ref().and_then(|claims| claims.gap_at(0.99)).map(|said| said.value_ns);
    // The second time is the p99.
    let served = |times: [Option<u64>; 2]| times[1].filter(|_| evidence.has_open_log());
    let first_name = "p99 of the time to the first token";
    worse(
        beside(first_name, first, trial.truth_first_p99_ns, served(row.served_first_ns)),
        beside("p99 of the gaps between tokens", gap, trial.truth_gap_p99_ns, served(row.served_gap_ns)),
    )
}

/// Compares a time with the truth. If it is wrong and near what the log of the server shows, the server was late.
fn beside(name: &str, said: Option<u64>, truth: Option<u64>, served: Option<u64>) -> SuiteJudgement {
    let Some(truth) = truth else {
        return SuiteJudgement::new(SuiteState::CannotTell, format!("there is no true {name}: no answer comes"));
    };
    let Some(said) = said else {
        return SuiteJudgement::new(SuiteState::CannotTell, format!("it reports no {name}"));
    };
    let found = format!("{name} {}, the truth is {}", millis(said), millis(truth));
    let error_pct = error_pct(said, truth);
    let late = served.filter(|served| !is_near(said, truth) && !is_near(*served, truth) && is_near(said, *served));
    match late {
        Some(served) => {
            let found = format!("{found}; the server itself was late: {} by its log", millis(served));
            SuiteJudgement { error_pct, ..SuiteJudgement::new(SuiteState::CannotTell, found) }
        }
        None => SuiteJudgement::of(is_near(said, truth), found, error_pct),
    }
}
