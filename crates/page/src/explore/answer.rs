//! The answer to a change of a slider: curves, table, timeline and a summary, as JSON.

use std::thread::{self, ScopedJoinHandle};

use serde::Serialize;
use truetail_analysis::figures;
use truetail_analysis::never_sent::{RequestTimeline, TimelineRow, request_timeline};
use truetail_analysis::series::{CurveKind, PercentileCurve};
use truetail_analysis::truth::{Truth, truth};
use truetail_analysis::{ExactTimes, exact_times, omission, truth_curve};
use truetail_model::service::{Fault, StallSchedule};
use truetail_model::time::{Nanos, Timestamp};
use truetail_report::number;
use truetail_report::plot::{self, CurveSource};
use truetail_run::{Quantile, Run, Verdict};

use super::backend::SimulatedLoops;
use super::settings::{MAX_REQUESTS, SimulationPlan};
use crate::figure::drawn;

const MAX_STALLS: usize = 200;
/// Minimum margin after a stall in the timeline. If the stall is longer than this, the margin is as long as the stall.
/// The margin before the stall is half as long.
const LEAST_AROUND: Nanos = Nanos::from_millis(20);

/// A curve with its name in the legend.
pub(super) type NamedCurve = (&'static str, CurveSource, PercentileCurve);

/// A table of texts. The first column names the rows.
#[derive(Serialize)]
pub(super) struct TextTable {
    pub(super) heads: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Part of the run in the timeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimelineView {
    /// The whole run.
    Whole,
    /// The time around the first stall, or else the whole run.
    FirstStall,
}

/// Requests over time.
#[derive(Serialize)]
struct Timeline {
    picture: String,
    table: TextTable,
}

impl Timeline {
    /// Draws the requests. `stalls` are (from, to) in seconds.
    fn new(requests: &RequestTimeline, stalls: &[(f64, f64)]) -> Timeline {
        let row = |row: &TimelineRow| {
            let from = format!("{:.6}", row.from_s);
            let counts = [row.planned, row.sent, row.never_sent].map(number::count);
            [format!("{} s", figures::without_zeros(&from))].into_iter().chain(counts).collect()
        };
        let table = TextTable {
            heads: vec!["from", "planned", "sent by the closed loop", "never sent"],
            rows: requests.rows.iter().map(row).collect(),
        };
        Timeline { picture: drawn(&plot::never_sent(requests, stalls)).into_string(), table }
    }
}

/// A verdict and its reasons, as text.
#[derive(Serialize)]
pub(super) struct VerdictText {
    state: &'static str,
    reasons: Vec<String>,
}

impl VerdictText {
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("every key is a text and every value has a JSON form")
    }

    pub(super) fn new(verdict: &Verdict) -> VerdictText {
        let reasons = verdict.reasons.iter().map(|reason| format!("{}: {}", reason.code, reason.message)).collect();
        VerdictText { state: verdict.state.name(), reasons }
    }
}

#[derive(Serialize)]
struct LoopQuantiles {
    name: &'static str,
    requests: u64,
    quantiles: Vec<Quantile>,
}

#[derive(Serialize)]
pub(super) struct Answer {
    schema: &'static str,
    /// The settings, as in a link.
    settings: String,
    summary: String,
    notes: Vec<String>,
    /// The curves, as a picture.
    curves: String,
    loops: Vec<LoopQuantiles>,
    table: TextTable,
    timeline: Option<Timeline>,
}

struct LoopTimes {
    open: ExactTimes,
    closed: ExactTimes,
    corrected: ExactTimes,
    truth: Truth,
}

impl Answer {
    /// Answers with the simulated `loops`, and with curves that were `measured` with the same settings.
    pub(super) fn new(
        settings: String,
        plan: &SimulationPlan,
        loops: &SimulatedLoops,
        view: TimelineView,
        measured: Vec<NamedCurve>,
    ) -> Answer {
        let window = window(plan, view);
        let (seen, timeline) = thread::scope(|scope| {
            // Compute the curves in parallel, because a person waits for them.
            let closed = scope.spawn(|| {
                let corrected = exact_times(CurveKind::Corrected, &loops.corrected);
                (exact_times(CurveKind::ClosedLoopShadow, &loops.closed), corrected)
            });
            let timeline = scope.spawn(|| request_timeline(&loops.closed, &loops.open, plan.expected_interval, window));
            let open = exact_times(CurveKind::ResponseTime, &loops.open);
            let truth = truth(&plan.scenario).expect("the scenario of the page is an open one, with an end");
            let (closed, corrected) = joined(closed);
            (LoopTimes { open, closed, corrected, truth }, joined(timeline))
        });
        let table = table(&seen);
        let summary = summary(&seen, timeline.as_ref());
        let loop_quantiles = vec![
            quantiles("open", &loops.open, &seen.open),
            quantiles("closed", &loops.closed, &seen.closed),
            quantiles("corrected", &loops.corrected, &seen.corrected),
        ];
        let mut curves = vec![
            ("closed loop", CurveSource::Closed, seen.closed.curve),
            ("closed loop, corrected", CurveSource::Corrected, seen.corrected.curve),
            ("open loop", CurveSource::Open, seen.open.curve),
            ("truth", CurveSource::Truth, truth_curve(&seen.truth)),
        ];
        curves.extend(measured);
        let curves: Vec<_> = curves.iter().map(|(name, source, curve)| (*name, *source, curve)).collect();
        Answer {
            schema: "truetail.explore/2",
            settings,
            summary,
            notes: notes(plan, loops),
            table,
            loops: loop_quantiles,
            curves: drawn(&plot::percentile_curves(&curves)).into_string(),
            timeline: timeline.map(|requests| Timeline::new(&requests, &stalls(plan, window))),
        }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("every key is a text and every value has a JSON form")
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn quantiles(name: &'static str, run: &Run, times: &ExactTimes) -> LoopQuantiles {
    LoopQuantiles { name, requests: run.snapshot.tally.planned, quantiles: times.quantiles.clone() }
}

fn notes(plan: &SimulationPlan, loops: &SimulatedLoops) -> Vec<String> {
    let mut notes = plan.notes.clone();
    let sent = loops.closed.snapshot.tally.planned;
    if sent == MAX_REQUESTS && plan.closed.model.horizon().duration.is_some() {
        notes.push(format!("The closed loop is cut off after {} requests.", number::count(sent)));
    }
    let measured = loops.corrected.snapshot.tally.planned - loops.reconstructed;
    notes.push(format!(
        "The correction adds {} requests to the {} of the closed loop; it assumes that each user sends every {}.",
        number::count(loops.reconstructed),
        number::count(measured),
        number::time(plan.expected_interval.0)
    ));
    notes
}

/// Describes the picture in at most three sentences.
fn summary(seen: &LoopTimes, timeline: Option<&RequestTimeline>) -> String {
    let at = |quantiles: &[Quantile]| quantiles.iter().find(|quantile| quantile.q == 0.99).copied();
    let mut sentences = Vec::new();
    if let (Some(closed), Some(truth)) = (at(&seen.closed.quantiles), seen.truth.quantile(0.99)) {
        let times = factor(truth, &closed).filter(|factor| *factor >= 1.05);
        let times = times.map(|times| format!(", {} as much", number::factor(times))).unwrap_or_default();
        let closed = number::quantile(&closed);
        let truth = number::time(truth.0);
        sentences.push(format!("The closed loop reports a p99 of {closed}. The truth is {truth}{times}."));
    }
    if let Some(timeline) = timeline {
        let missing = timeline.never_sent_in_all;
        let planned = timeline.planned_in_all;
        sentences.push(format!(
            "Of {} requests that were planned while it ran, the closed loop never sent {}.",
            number::count(planned),
            number::count(missing)
        ));
    }
    sentences.join(" ")
}

fn factor(truth: Nanos, reported: &Quantile) -> Option<f64> {
    let reported = reported.value_ns.filter(|_| !reported.at_least)?;
    omission::factor(truth, Nanos(reported))
}

fn table(seen: &LoopTimes) -> TextTable {
    let columns = seen.closed.quantiles.iter().zip(&seen.corrected.quantiles).zip(&seen.open.quantiles);
    let mut rows: Vec<Vec<String>> = columns
        .map(|((closed, corrected), open)| {
            let truth = seen.truth.quantile(closed.q);
            let missed = truth.and_then(|truth| factor(truth, closed));
            vec![
                number::quantile_name(closed.q),
                number::quantile(closed),
                number::quantile(corrected),
                number::quantile(open),
                truth.map_or(number::NO_ANSWER.to_owned(), |truth| number::time(truth.0)),
                missed.map_or("–".to_owned(), number::factor),
            ]
        })
        .collect();
    let counts = [seen.closed.curve.count, seen.corrected.curve.count, seen.open.curve.count, seen.truth.count()];
    let requests = ["requests".to_owned()].into_iter().chain(counts.map(number::count)).chain([String::new()]);
    rows.push(requests.collect());
    TextTable { heads: vec!["", "closed loop", "corrected", "open loop", "truth", "truth / closed"], rows }
}

fn stall_schedules(plan: &SimulationPlan) -> impl Iterator<Item = StallSchedule> + '_ {
    plan.scenario.service.faults.iter().filter_map(Fault::stall_schedule)
}

fn window(plan: &SimulationPlan, view: TimelineView) -> (Timestamp, Timestamp) {
    let end = Timestamp(plan.scenario.workload.model.horizon().duration.unwrap_or_default().0);
    let first = stall_schedules(plan).next().filter(|stall| stall.first < end);
    match (view, first) {
        (TimelineView::Whole, _) | (_, None) => (Timestamp::ZERO, end),
        (TimelineView::FirstStall, Some(stall)) => {
            let around = stall.length.max(LEAST_AROUND);
            let from = Timestamp(stall.first.0.saturating_sub(around.0 / 2));
            (from, (stall.first + stall.length + around).min(end))
        }
    }
}

fn stalls(plan: &SimulationPlan, (from, to): (Timestamp, Timestamp)) -> Vec<(f64, f64)> {
    let spans = stall_schedules(plan).flat_map(|stall| {
        let times = stall.times.unwrap_or(u64::MAX);
        let begins = move |n: u64| Timestamp(stall.first.0.saturating_add(n.saturating_mul(stall.every.0)));
        let spans = (0..times).map(move |n| (begins(n), begins(n) + stall.length));
        spans.take_while(move |(begin, _)| *begin < to).filter(move |(_, end)| *end > from)
    });
    spans.take(MAX_STALLS).map(|(begin, end)| (begin.as_secs_f64(), end.as_secs_f64())).collect()
}
