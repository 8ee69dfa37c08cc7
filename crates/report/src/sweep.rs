//! A sweep over rates, as rows of a table, as sentences and as JSON.

use truetail_analysis::capacity::Answer;
use truetail_analysis::figures::quantile_name;
use truetail_analysis::support::min_sample_size;
use truetail_analysis::sweep::{EndedBy, StepQuantile, StepState, Sweep, SweepStep};

use crate::json::pretty_json;
use crate::number;

/// Quantiles that may be shown, the best first.
const QUANTILES: [f64; 3] = [0.99, 0.9, 0.5];

/// A sweep with others to show beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct SweepReport {
    /// The sweep.
    pub sweep: Sweep,
    /// Saved sweeps with the places that they come from.
    pub beside: Vec<(String, Sweep)>,
    /// Folder of the saved sweep.
    pub folder: String,
}

impl SweepReport {
    /// Returns each sweep with its name: its URL, or the place that it comes from if another one has that URL.
    pub fn named(&self) -> Vec<(String, &Sweep)> {
        let all = || [(&self.folder, &self.sweep)].into_iter().chain(self.beside.iter().map(|(place, of)| (place, of)));
        let is_alone = |target: &str| all().filter(|(_, sweep)| sweep.target == target).count() == 1;
        let name = |(place, sweep): (&String, &Sweep)| match is_alone(&sweep.target) {
            true => sweep.target.clone(),
            false => place.clone(),
        };
        all().map(|of| (name(of), of.1)).collect()
    }

    /// Returns the throughput to show of each step: output tokens if every sweep has them, or else answers.
    pub fn throughput(&self) -> Throughput {
        let has_tokens = self.named().iter().all(|(_, sweep)| sweep.has_tokens());
        if has_tokens { Throughput::OutputTokens } else { Throughput::Answers }
    }

    /// Returns the name of the time that comes first: that of the chart.
    pub(crate) fn first_time(&self) -> String {
        self.sweep.time_names().first().map_or("response-time", |name| name).to_owned()
    }

    /// Returns the highest quantile of the first time that every step in the picture has, or else the median. Fast and
    /// short steps have too few requests for p99.
    pub fn shown_quantile(&self) -> f64 {
        let time = self.first_time();
        let has = |step: &SweepStep, q: f64| step.quantile(&time, q).is_some_and(|of| of.value_ns.is_some());
        let named = self.named();
        let is_drawn = |step: &&SweepStep| !step.times.is_empty() && step.state != StepState::Invalid;
        let drawn = || named.iter().flat_map(|(_, sweep)| &sweep.steps).filter(is_drawn);
        QUANTILES.into_iter().find(|q| drawn().all(|step| has(step, *q))).unwrap_or(0.5)
    }

    /// Returns the sentences about the end of the sweep, its objectives, and steps that are in doubt.
    pub fn sentences(&self) -> Vec<String> {
        let Sweep { steps, slo, .. } = &self.sweep;
        let ended = ended(&self.sweep);
        let objectives = slo.iter().map(|slo| objective(&self.sweep, slo));
        let doubt = |step: &SweepStep| Some(format!("{}: {}.", number::rate(step.rate), step.reason.as_deref()?));
        let has_saturated = self.sweep.first_saturated().is_some();
        let grows = has_saturated.then(|| "The times of a saturated rate grow with the length of its step.".to_owned());
        let is_short = !steps.is_empty() && self.shown_quantile() < QUANTILES[0];
        let short = is_short.then(|| {
            let needed = min_sample_size(QUANTILES[0]);
            format!("A rate has a p99 if it had at least {needed} requests; for the others give --step more time.")
        });
        ended.into_iter().chain(objectives).chain(steps.iter().filter_map(doubt)).chain(grows).chain(short).collect()
    }

    /// Returns the table of the steps: heads and rows.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let columns = sweep_columns(&self.sweep, self.shown_quantile());
        let heads = columns.iter().map(|column| column.head.clone()).collect();
        (
            heads,
            self.sweep.steps.iter().map(|step| columns.iter().map(|column| (column.cell)(step)).collect()).collect(),
        )
    }
}

/// The throughput of a curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Throughput {
    /// Answers per second.
    Answers,
    /// Output tokens per second.
    OutputTokens,
}

impl Throughput {
    /// Returns the throughput of a step, if it is known.
    pub fn of(self, step: &SweepStep) -> Option<f64> {
        match self {
            Throughput::Answers => step.answered_per_second,
            Throughput::OutputTokens => step.output_tokens_per_second,
        }
    }

    /// Returns its name with the unit.
    pub fn name(self) -> &'static str {
        match self {
            Throughput::Answers => "answers per second",
            Throughput::OutputTokens => "output tokens per second",
        }
    }
}

/// Returns the name of a time for people.
pub(crate) fn time_label(name: &str) -> &str {
    match name {
        "ttft" => "TTFT",
        "itl" => "ITL",
        "tpot" => "TPOT",
        "first-event" => "first event",
        "event-gap" => "gap",
        "response-time" => "response",
        other => other,
    }
}

/// Returns JSON, version 1.
pub fn sweep_json(sweep: &Sweep) -> String {
    pretty_json(sweep)
}

fn ended(sweep: &Sweep) -> Option<String> {
    let last = sweep.steps.last().map(|step| number::rate(step.rate));
    let last = last.as_deref().unwrap_or("the first rate");
    Some(match sweep.ended_by? {
        EndedBy::Saturated => {
            format!("The backlog kept growing at {last}, so the sweep ended there; --past-saturation goes on.")
        }
        EndedBy::GeneratorLimit => {
            format!(
                "truetail itself was the limit at {last}, so the sweep ended there: this says nothing about the server."
            )
        }
        EndedBy::User => "The sweep was stopped before its last rate.".to_owned(),
        EndedBy::ServiceGone => "The server no longer answers, so the sweep ended.".to_owned(),
        EndedBy::Error => "A step could not be made, so the sweep ended.".to_owned(),
    })
}

/// Returns a sentence about an objective of the service.
fn objective(sweep: &Sweep, slo: &str) -> String {
    let Some(lowest) = sweep.steps.first().map(|step| step.rate) else {
        return format!("{slo}: no rate was offered.");
    };
    match sweep.limits_of(slo) {
        (Some(met), Some(missed)) => {
            format!("{slo}: met up to {}, missed at {}.", number::rate(met), number::rate(missed))
        }
        (Some(met), None) => format!("{slo}: met up to {}, and missed nowhere.", number::rate(met)),
        (None, Some(missed)) if missed == lowest => {
            format!("{slo}: missed at {}, the lowest rate.", number::rate(missed))
        }
        (None, Some(missed)) => {
            format!("{slo}: missed at {}, and open at {}, the lowest rate.", number::rate(missed), number::rate(lowest))
        }
        (None, None) => {
            format!("{slo}: open at {}, the lowest rate; a longer --step may tell.", number::rate(lowest))
        }
    }
}

pub(crate) fn state_word(state: StepState) -> &'static str {
    match state {
        StepState::Valid => "valid",
        StepState::Suspect => "suspect",
        StepState::Saturated => "saturated",
        StepState::GeneratorLimit => "generator limit",
        StepState::Invalid => "INVALID",
    }
}

/// Returns the quantile of a step as charts draw it: a measured value, not a bound, of a step that can be trusted.
pub(crate) fn measured<'a>(step: &'a SweepStep, time: &str, q: f64) -> Option<&'a StepQuantile> {
    let quantile = step.quantile(time, q).filter(|of| of.value_ns.is_some() && !of.at_least);
    quantile.filter(|_| step.state != StepState::Invalid)
}

pub(crate) fn step_value(quantile: &StepQuantile) -> String {
    let value = quantile.value_ns.map_or("–".to_owned(), number::time);
    if quantile.at_least && quantile.value_ns.is_some() { format!("≥{value}") } else { value }
}

/// A column of the table of steps.
pub(crate) struct Column {
    pub(crate) head: String,
    pub(crate) cell: Box<dyn Fn(&SweepStep) -> String>,
    /// True if the column may be left out on a narrow screen.
    pub(crate) is_minor: bool,
}

fn column(head: &str, is_minor: bool, cell: impl Fn(&SweepStep) -> String + 'static) -> Column {
    Column { head: head.to_owned(), cell: Box::new(cell), is_minor }
}

/// Returns the columns. `shown` is the quantile of each time beside the median.
pub(crate) fn sweep_columns(sweep: &Sweep, shown: f64) -> Vec<Column> {
    let times = sweep.time_names();
    let mut columns = vec![
        column("rate", false, |step| number::rate(step.rate)),
        column("answered", false, |step| number::rate_if_any(step.answered_per_second)),
    ];
    if sweep.has_tokens() {
        let tokens = |step: &SweepStep| step.output_tokens_per_second.map_or("–".to_owned(), number::of_any_size);
        columns.push(column("tokens/s", false, tokens));
    }
    for (place, name) in times.iter().enumerate() {
        let is_first = place == 0;
        // Of streams, the response time says less than the times of their events. JSON has it.
        if !is_first && *name == "response-time" {
            continue;
        }
        let of = |q: f64| {
            let name = (*name).to_owned();
            move |step: &SweepStep| step.quantile(&name, q).map_or("–".to_owned(), step_value)
        };
        columns.push(column(&format!("{} p50", time_label(name)), !is_first && shown > 0.5, of(0.5)));
        if shown > 0.5 {
            columns.push(column(&format!("{} {}", time_label(name), quantile_name(shown)), false, of(shown)));
        }
        if is_first {
            let name = (*name).to_owned();
            columns.push(column("95 % interval", false, move |step| {
                step.quantile(&name, shown).map_or(String::new(), |of| number::time_range(of.low_ns, of.high_ns))
            }));
        }
    }
    if sweep.steps.iter().any(|step| step.goodput.is_some()) {
        columns.push(column("goodput", false, |step| match step.goodput {
            None => "–".to_owned(),
            Some(of) if of.share == of.share_at_most => number::share(of.share),
            Some(of) => format!("{}…{}", number::share(of.share), number::share(of.share_at_most)),
        }));
    }
    if sweep.steps.iter().any(|step| step.errors > 0) {
        let share = |step: &SweepStep| number::share(step.errors as f64 / step.requests.max(1) as f64);
        columns.push(column("errors", false, share));
    }
    columns.push(column("", false, |step| state_word(step.state).to_owned()));
    for slo in &sweep.slo {
        let slo = slo.clone();
        let head = slo.clone();
        let answer = move |step: &SweepStep| {
            let found = step.objectives.iter().find(|objective| objective.slo == slo);
            found.map_or("–", |found| answer_word(found.answer)).to_owned()
        };
        columns.push(column(&head, false, answer));
    }
    columns
}

fn answer_word(answer: Answer) -> &'static str {
    match answer {
        Answer::Meets => "meets",
        Answer::Misses => "misses",
        Answer::Open => "open",
        Answer::GeneratorLimit => "–",
    }
}
