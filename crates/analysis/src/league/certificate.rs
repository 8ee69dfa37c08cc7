//! The certificate of a load generator: its kind, judged by what the server saw of it in three scenarios.

use serde::Serialize;
use truetail_model::time::Nanos;
use truetail_run::{ClaimedQuantile, GapMeaning, StreamClaims};

use super::{LeagueRow, ObservedModel, StreamRow, ToolState};
use crate::truth::StreamTruth;

/// Tolerance for the rate and the number of requests, as a share. Several tools round a rate, or begin a little late.
pub const RATE_TOLERANCE: f64 = 0.05;
/// Arrivals are in bursts if the variance of their counts in windows of ten mean gaps exceeds this many times their
/// mean. A Poisson process has 1, and a busy machine makes 2 or 3 of a metronome.
pub const BURSTS_FROM: f64 = 10.0;

/// Kind of a load generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorKind {
    /// It always keeps its schedule.
    Open,
    /// It keeps its schedule as long as its connections or workers suffice.
    PartlyOpen,
    /// It waits for an answer before it sends the next request.
    Closed,
    /// It waits for answers, and afterwards adds requests to its histogram that it never sent.
    ClosedAndFilled,
    /// It does not wait for answers, but does not offer the requested rate either.
    OffRate,
    /// It offers its rate on average, but sends its requests in bursts. A stall between two bursts delays no request.
    Bursts,
    /// Its kind could not be determined.
    Unknown,
}

impl GeneratorKind {
    /// Describes the kind in a few words.
    pub const fn describe(self) -> &'static str {
        match self {
            GeneratorKind::Open => "an open-loop generator: it kept its schedule while the service stood still",
            GeneratorKind::PartlyOpen => "partly open: it dropped its schedule while the service stood still",
            GeneratorKind::Closed => "a closed loop: it waits for an answer before it sends the next request",
            GeneratorKind::ClosedAndFilled => {
                "a closed loop that fills in its tail afterwards with requests it never sent"
            }
            GeneratorKind::OffRate => "not a closed loop, but it did not send at the requested rate",
            GeneratorKind::Bursts => "a generator of bursts: it sends at its rate on average, but not on a schedule",
            GeneratorKind::Unknown => "of an unknown kind",
        }
    }
}

/// The tool's result in one scenario.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Trial {
    /// Name of the scenario.
    pub scenario: String,
    /// Number of planned requests.
    pub planned: u64,
    /// The true p99, or `None` if no answer ever comes at that rank.
    pub truth_p99_ns: Option<u64>,
    /// The tool's row in the table of this scenario.
    pub row: LeagueRow,
    /// The result of its streams. `None` if the answers are not streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamTrial>,
}

/// The result of the streams of one scenario.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamTrial {
    /// The true p99 of the time to the first token. `None` if that token never comes.
    pub truth_first_p99_ns: Option<u64>,
    /// The true p99 of the gaps between tokens.
    pub truth_gap_p99_ns: Option<u64>,
    /// The tool's row in the table of streams.
    pub row: StreamRow,
}

impl StreamTrial {
    /// Combines `row` with the truth.
    pub fn new(row: StreamRow, truth: &StreamTruth) -> StreamTrial {
        StreamTrial { truth_first_p99_ns: truth.first_at(0.99), truth_gap_p99_ns: truth.gap_at(0.99), row }
    }
}

/// The certificate of one load generator.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Certificate {
    /// Kind of the generator.
    pub kind: GeneratorKind,
    /// True if it offered its rate, evenly or at random, also during stalls. `None` if that is not known.
    pub kept_schedule: Option<bool>,
    /// The reasons: sentences with numbers.
    pub evidence: Vec<String>,
    /// The results in each scenario.
    pub trials: Vec<Trial>,
}

/// Judges a generator by these trials. The first that shows less than an open loop decides.
pub fn certify(trials: Vec<Trial>) -> Certificate {
    let kind = kind(&trials);
    let evidence = trials.iter().flat_map(evidence).collect();
    let kept_schedule = (kind != GeneratorKind::Unknown).then_some(kind == GeneratorKind::Open);
    Certificate { kind, kept_schedule, evidence, trials }
}

fn kind(trials: &[Trial]) -> GeneratorKind {
    let observed: Vec<ObservedModel> = trials.iter().filter_map(|trial| trial.row.observed_model).collect();
    let shown = |model: ObservedModel| observed.contains(&model);
    if trials.iter().any(|trial| !was_seen(trial))
        || !(shown(ObservedModel::Open) || shown(ObservedModel::Partly) || shown(ObservedModel::Closed))
    {
        return GeneratorKind::Unknown;
    }
    // Bursts come first, because a stall between two bursts delays no request. A closed loop keeps no rate.
    if trials.iter().any(|trial| is_in_bursts(trial) && kept_rate(trial)) {
        return GeneratorKind::Bursts;
    }
    if shown(ObservedModel::Closed) {
        let filled = trials.iter().any(|trial| trial.row.is_back_filled());
        return if filled { GeneratorKind::ClosedAndFilled } else { GeneratorKind::Closed };
    }
    if shown(ObservedModel::Partly) {
        return GeneratorKind::PartlyOpen;
    }
    if trials.iter().all(kept_rate) { GeneratorKind::Open } else { GeneratorKind::OffRate }
}

/// Returns true if the tool ended and the server saw requests, even if its output cannot be read.
fn was_seen(trial: &Trial) -> bool {
    trial.row.rate_seen_per_second.is_some() && trial.row.state != ToolState::Hung
}

fn kept_rate(trial: &Trial) -> bool {
    let row = &trial.row;
    let off = row.rate_seen_per_second.map(|seen| (seen / row.rate_asked_per_second - 1.0).abs());
    let missing = row.not_sent.unwrap_or(trial.planned) as f64 / trial.planned.max(1) as f64;
    off.is_some_and(|off| off <= RATE_TOLERANCE) && missing <= RATE_TOLERANCE
}

fn is_in_bursts(trial: &Trial) -> bool {
    let dispersion = trial.row.arrivals.and_then(|arrivals| arrivals.dispersion);
    trial.row.planned_in_fault == 0 && dispersion.is_some_and(|index| index > BURSTS_FROM)
}

fn evidence(trial: &Trial) -> Vec<String> {
    let row = &trial.row;
    let mut sentences = Vec::new();
    let mut say = |sentence: String| sentences.push(format!("{}: {sentence}", trial.scenario));
    match (row.rate_seen_per_second, row.arrivals) {
        (Some(seen), Some(arrivals)) => {
            let asked = row.rate_asked_per_second;
            let count = arrivals.count;
            let lag = Nanos(arrivals.lag_p99_ns).as_millis_f64();
            say(format!(
                "the server saw {count} of {} planned requests, {seen:.1}/s instead of {asked}/s; 99% arrived within {lag:.1}ms of \
                 an even schedule",
                trial.planned
            ));
        }
        _ => say(format!("the server saw no requests; the tool {}", said_of_failure(row))),
    }
    // If the window is the whole run, the service is slow but does not stall.
    if (1..trial.planned).contains(&row.planned_in_fault) {
        let seen = row.arrivals_in_fault.unwrap_or_default();
        say(format!(
            "while the service stood still, {} requests were due, and the server saw {seen}",
            row.planned_in_fault
        ));
    }
    if is_in_bursts(trial) {
        let index = row.arrivals.and_then(|arrivals| arrivals.dispersion).unwrap_or_default();
        say(format!(
            "the requests came in bursts: their counts vary {index:.0} times as much as those of a Poisson process"
        ));
    }
    sentences.extend(what_it_reports(trial));
    sentences.extend(trial.streams.iter().flat_map(|streams| stream_sentences(&trial.scenario, streams)));
    sentences
}

fn said_of_failure(row: &LeagueRow) -> String {
    format!("{}: {}", row.state.name(), row.message.as_deref().unwrap_or("no reason known"))
}

fn what_it_reports(trial: &Trial) -> Option<String> {
    let reported = trial.row.reported.as_ref()?.quantile(0.99)?.value_ns;
    let claim = beside_truth("a p99", reported, trial.truth_p99_ns, trial.row.error_p99_pct);
    Some(format!("{}: {claim}", trial.scenario))
}

/// Returns "it reports `what` of 5.0ms", the truth, and the error.
fn beside_truth(what: &str, reported_ns: u64, truth_ns: Option<u64>, error_pct: Option<f64>) -> String {
    let millis = |ns: u64| Nanos(ns).as_millis_f64();
    let truth = truth_ns.map_or("none".to_owned(), |truth| format!("{:.1}ms", millis(truth)));
    let error = error_pct.map_or(String::new(), |error| format!(" ({error:+.1}%)"));
    format!("it reports {what} of {:.1}ms; the truth is {truth}{error}", millis(reported_ns))
}

fn stream_sentences(scenario: &str, streams: &StreamTrial) -> Vec<String> {
    let row = &streams.row;
    let said = |at: fn(&StreamClaims, f64) -> Option<ClaimedQuantile>| at(row.claims.as_ref()?, 0.99);
    let first = said(StreamClaims::first_at).map(|said| {
        let what = "a p99 of the time to the first token";
        beside_truth(what, said.value_ns, streams.truth_first_p99_ns, row.error_first_p99_pct)
    });
    let is_of_answers = row.claims.as_ref().is_some_and(|claims| claims.gap_of == GapMeaning::Answer);
    let gap = said(StreamClaims::gap_at).map(|said| {
        if is_of_answers {
            return "of gaps it reports the mean of each answer, in which no single gap shows".to_owned();
        }
        let what = "a p99 of the gaps between tokens";
        beside_truth(what, said.value_ns, streams.truth_gap_p99_ns, row.error_gap_p99_pct)
    });
    let left_out = row.left_out.filter(|left_out| *left_out > 0);
    let left_out = left_out
        .map(|count| format!("the server saw {count} requests that are in none of its times to the first token"));
    [first, gap, left_out].into_iter().flatten().map(|sentence| format!("{scenario}: {sentence}")).collect()
}
