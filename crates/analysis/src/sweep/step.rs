//! The figures of one rate of a sweep.

use serde::{Deserialize, Serialize};
use truetail_model::time::Nanos;
use truetail_run::{Findings, Quantile, Run, StreamFacts, StreamRows, Verdict, VerdictState};

use super::backlog;
use crate::capacity::{Answer, Objective, ProbeJudge, ProbeSpec, ProbeState, Purpose};
use crate::figures::rate;
use crate::gates::LoadEffects;
use crate::gates::bounds_of_unknown;
use crate::metric_distributions::every_arrival;
use crate::saturation_detector::{RunCounts, SaturationDetector};
use crate::streams::StreamMetric;
use crate::throughput;

/// Quantiles of each time.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];
/// One-sided error probability of the answer about an objective.
const LEVEL: f64 = 0.025;

/// Whether the numbers of a step describe the service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// No problem was found.
    Valid,
    /// A problem was found that the numbers may show.
    Suspect,
    /// The backlog kept growing: times grow with the length of the step.
    Saturated,
    /// The generator sent less than planned, or in bursts.
    GeneratorLimit,
    /// The numbers cannot be trusted for another reason.
    Invalid,
}

/// A quantile with its 95 % confidence interval, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepQuantile {
    /// The quantile, in (0, 1).
    pub q: f64,
    /// Its value; `None` if the step is too short for it.
    pub value_ns: Option<u64>,
    /// Lower end of the interval; `None` if it is open or unknown.
    pub low_ns: Option<u64>,
    /// Upper end; `None` if it is open or unknown.
    pub high_ns: Option<u64>,
    /// True if the value is only a lower bound, because requests were not answered.
    pub at_least: bool,
}

/// Quantiles of one time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepTime {
    /// `response-time`, or a time of streams as in gates.
    pub name: String,
    /// In ascending order.
    pub quantiles: Vec<StepQuantile>,
}

/// Goodput of a step.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepGoodput {
    /// Share of planned requests that met the objectives of each request.
    pub share: f64,
    /// The same share if all answers that cannot be told met them.
    pub share_at_most: f64,
}

/// Evidence about an objective of the service.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepObjective {
    /// The objective, as given.
    pub slo: String,
    /// The answer about this objective alone. Saturated steps miss it, and that of invalid ones is open.
    pub answer: Answer,
    /// Number of requests, streams or gaps that count.
    pub counted: u64,
    /// Number of bad ones among them.
    pub bad: u64,
}

/// One rate of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweepStep {
    /// Chosen requests per second.
    pub rate: f64,
    /// Number of planned requests.
    pub requests: u64,
    /// Number of these without an answer, or with an error status.
    pub errors: u64,
    /// Whether the numbers describe the service.
    pub state: StepState,
    /// Reason for any other state than valid, in words.
    pub reason: Option<String>,
    /// Planned requests per second, which vary with random spacing.
    pub offered_per_second: Option<f64>,
    /// Answers per second of the schedule, or until the last answer if the step is saturated.
    pub answered_per_second: Option<f64>,
    /// Output tokens of complete answers per second; `None` if some were not counted.
    pub output_tokens_per_second: Option<f64>,
    /// Goodput, if each request has objectives.
    pub goodput: Option<StepGoodput>,
    /// Evidence by objective of the service.
    pub objectives: Vec<StepObjective>,
    /// Times of the answers. Empty if the generator was the limit.
    pub times: Vec<StepTime>,
    /// Folder of the saved run, if any.
    pub run: Option<String>,
}

impl SweepStep {
    /// Computes the figures of a run with `per_second` requests per second. `rows` has its streams by their intended
    /// starts.
    pub fn new(
        per_second: f64,
        run: &Run,
        findings: &Findings,
        rows: Option<&StreamRows>,
        objectives: &[Objective],
    ) -> SweepStep {
        let state = state(&findings.verdict, is_saturated(run, findings));
        let answered = answered_per_second(run, findings, state);
        SweepStep {
            rate: per_second,
            requests: run.snapshot.tally.planned,
            errors: errors(run),
            state,
            reason: reason(&findings.verdict, state, answered),
            offered_per_second: findings.offered_per_second,
            answered_per_second: answered,
            output_tokens_per_second: answered.and_then(|answered| output_tokens_per_second(run, answered)),
            goodput: goodput(findings),
            objectives: judged(run, rows, objectives, per_second, state),
            times: if state == StepState::GeneratorLimit { Vec::new() } else { times(run, findings, rows) },
            run: None,
        }
    }

    /// Returns a quantile of a time, if the step has it.
    pub fn quantile(&self, name: &str, q: f64) -> Option<&StepQuantile> {
        let time = self.times.iter().find(|time| time.name == name)?;
        time.quantiles.iter().find(|quantile| quantile.q == q)
    }
}

/// Returns true if the run's verdict says so, or if a backlog grew in which requests waited the longer, the later they
/// were due. Answers that merely come after the end of the schedule are no sign of it.
fn is_saturated(run: &Run, findings: &Findings) -> bool {
    findings.verdict.has(crate::verdict::code::SATURATED)
        || ((backlog_grew(run) || backlog::keeps_rising(run)) && backlog::later_are_slower(run))
}

/// Returns the answers per second of the schedule, however late they came; of a service that fell behind, until
/// the last one.
fn answered_per_second(run: &Run, findings: &Findings, state: StepState) -> Option<f64> {
    match state {
        StepState::Saturated => {
            throughput::answered_per_second_until_the_last(run, every_arrival(&run.snapshot).as_deref())
        }
        _ => findings.throughput_per_second,
    }
}

fn state(verdict: &Verdict, is_saturated: bool) -> StepState {
    let effects = LoadEffects::from_verdict(verdict);
    let by_generator = effects.unknown || effects.lower_load || effects.bursts;
    match verdict.state {
        _ if by_generator => StepState::GeneratorLimit,
        _ if is_saturated => StepState::Saturated,
        VerdictState::Valid => StepState::Valid,
        VerdictState::Suspect => StepState::Suspect,
        VerdictState::Invalid => StepState::Invalid,
    }
}

fn reason(verdict: &Verdict, state: StepState, answered: Option<f64>) -> Option<String> {
    let told = |code: Option<&str>| {
        let of = verdict.reasons.iter().find(|reason| code.is_none_or(|code| reason.code == code));
        of.map(|reason| reason.message.clone())
    };
    match state {
        StepState::Valid => None,
        StepState::Saturated => told(Some(crate::verdict::code::SATURATED)).or_else(|| {
            let until = |answered| format!(": the service answered {} until its last answer", rate(answered));
            Some(format!("the backlog kept growing{}", answered.map_or(String::new(), until)))
        }),
        _ => told(None),
    }
}

/// Returns true if the backlog kept growing in a part of the run, as the detector during a run sees it.
fn backlog_grew(run: &Run) -> bool {
    let mut detector = SaturationDetector::with_timeout(run.facts.offered.timeout_ns.map(Nanos));
    let mut counts = RunCounts::default();
    let offered = run.snapshot.seconds.iter().rposition(|row| row.planned > 0).map_or(0, |last| last + 1);
    run.snapshot.seconds[..offered].iter().any(|row| {
        counts.planned += row.planned;
        counts.ended += row.completed + row.failed;
        counts.answered += row.completed;
        detector.observe(counts).is_some()
    })
}

fn errors(run: &Run) -> u64 {
    let statuses: u64 = run.snapshot.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, n)| n).sum();
    run.snapshot.tally.unanswered() + statuses + run.facts.error_replies()
}

/// Returns the output tokens of complete answers, over the time in which `answered` answers came each second.
fn output_tokens_per_second(run: &Run, answered: f64) -> Option<f64> {
    let tokens = run.facts.stream.as_ref()?.llm.as_ref()?.output_tokens()?;
    let answers = run.snapshot.tally.responses;
    (answers > 0).then(|| tokens as f64 * answered / answers as f64)
}

fn goodput(findings: &Findings) -> Option<StepGoodput> {
    let goodput = findings.stream.as_ref()?.llm.as_ref()?.goodput.as_ref()?;
    Some(StepGoodput { share: goodput.share?, share_at_most: goodput.share_at_most? })
}

/// Looks once at the whole step.
fn judged(
    run: &Run,
    rows: Option<&StreamRows>,
    objectives: &[Objective],
    rate: f64,
    state: StepState,
) -> Vec<StepObjective> {
    let length = Nanos(run.facts.elapsed_ns.max(1));
    let trial = ProbeSpec { rate, purpose: Purpose::Refine, level: LEVEL, shortest: length, longest: length };
    let mut judge = ProbeJudge::new(objectives, &trial);
    let samples = objectives.iter().map(|objective| objective.sample(run, rows)).collect();
    let _ = judge.look(ProbeState { elapsed: length, samples, backlog_grows: false });
    let answer = |answer: Answer| match state {
        StepState::GeneratorLimit => Answer::GeneratorLimit,
        // Its times grow with the length of the step, so that it meets nothing for long.
        StepState::Saturated => Answer::Misses,
        StepState::Invalid => Answer::Open,
        StepState::Valid | StepState::Suspect => answer,
    };
    let each = objectives.iter().zip(judge.each_objective());
    each.map(|(objective, evidence)| StepObjective {
        slo: objective.to_string(),
        answer: answer(evidence.answer),
        counted: evidence.counted,
        bad: evidence.bad,
    })
    .collect()
}

fn times(run: &Run, findings: &Findings, rows: Option<&StreamRows>) -> Vec<StepTime> {
    let response = QUANTILES.iter().filter_map(|q| findings.response_time.quantiles.iter().find(|of| of.q == *q));
    let response = StepTime { name: "response-time".to_owned(), quantiles: response.map(StepQuantile::new).collect() };
    let Some(streams) = &run.facts.stream else { return vec![response] };
    let metrics: &[StreamMetric] = match streams.llm {
        Some(_) => &[StreamMetric::FirstContent, StreamMetric::ContentGap, StreamMetric::TimePerOutputToken],
        None => &[StreamMetric::FirstEvent, StreamMetric::EventGap],
    };
    let of = |metric: &StreamMetric| StepTime {
        name: metric.name().to_owned(),
        quantiles: QUANTILES.iter().map(|q| of_streams(streams, rows, *metric, *q)).collect(),
    };
    metrics.iter().filter(|metric| metric.is_measured_in(streams)).map(of).chain([response]).collect()
}

/// Returns a quantile of a time of streams. Its interval also covers values that are not known.
fn of_streams(streams: &StreamFacts, rows: Option<&StreamRows>, metric: StreamMetric, q: f64) -> StepQuantile {
    let known = rows.map_or_else(|| metric.quantile(streams, q), |rows| metric.quantile_by_rows(streams, rows, q));
    let quantile = StepQuantile::new(&known);
    let Some((low, high)) = bounds_of_unknown(streams, metric, q) else { return quantile };
    StepQuantile {
        low_ns: quantile.low_ns.map(|end| end.min(low as u64)),
        high_ns: quantile.high_ns.filter(|_| high.is_finite()).map(|end| end.max(high as u64)),
        ..quantile
    }
}

impl StepQuantile {
    fn new(quantile: &Quantile) -> StepQuantile {
        let known = quantile.value_ns.filter(|_| quantile.supported);
        StepQuantile {
            q: quantile.q,
            value_ns: known,
            low_ns: quantile.low_ns.filter(|_| known.is_some()),
            high_ns: quantile.high_ns.filter(|_| known.is_some() && !quantile.at_least),
            at_least: quantile.at_least,
        }
    }
}
