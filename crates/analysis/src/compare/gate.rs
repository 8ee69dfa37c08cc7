//! Conditions under which a comparison fails: `p99 worse than 5%`, `ttft p99 worse than 10%`.

use std::fmt;
use std::str::FromStr;

use truetail_run::{GateFinding, GateState, Run};

use crate::figures::quantile_name;
use crate::gates::{PlannedRun, ReadingMode, percent, quantile_named};
use crate::streams::StreamMetric;
use crate::support::{QUANTILES, min_sample_size};

use super::comparison::Comparison;
use super::quantiles::QuantileComparison;

/// A condition under which a comparison fails: a figure of B is worse than that of A by more than a share.
#[derive(Clone, PartialEq, Debug)]
pub struct CompareGate {
    text: String,
    figure: Figure,
    share: f64,
}

/// A figure that is compared.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Figure {
    /// A quantile of the response time, in (0, 1).
    ResponseTime(f64),
    /// A quantile of a time of streams.
    StreamTime(StreamMetric, f64),
    /// Goodput, whose share in percent points is meant.
    Goodput,
}

/// Error for a text that is not a valid condition: one line, which quotes the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompareGateError(String);

impl fmt::Display for CompareGateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CompareGateError {}

impl FromStr for CompareGate {
    type Err = CompareGateError;

    fn from_str(text: &str) -> Result<CompareGate, CompareGateError> {
        let text = text.trim();
        let malformed = || {
            CompareGateError(format!(
                "'{text}' is not a condition; write PERCENTILE worse than SHARE, such as 'p99 worse than 5%'; of streams also \
                 'ttft p99 worse than 10%' or first-event, event-gap, longest-gap, itl, tpot, and 'goodput worse than 2%'"
            ))
        };
        let (name, share) = text.split_once("worse than").ok_or_else(malformed)?;
        let figure = figure_named(name.trim()).ok_or_else(malformed)?;
        let share = percent(share).ok_or_else(malformed)?;
        match figure.q() {
            Some(q) if !QUANTILES.contains(&q) || q >= 1.0 => Err(not_compared(text)),
            _ => Ok(CompareGate { text: text.to_owned(), figure, share }),
        }
    }
}

fn figure_named(name: &str) -> Option<Figure> {
    if name == "goodput" {
        return Some(Figure::Goodput);
    }
    let Some((time, q)) = name.split_once(char::is_whitespace) else {
        return quantile_named(name).map(Figure::ResponseTime);
    };
    let q = quantile_named(q.trim())?;
    match time {
        "response-time" => Some(Figure::ResponseTime(q)),
        _ => StreamMetric::named(time).map(|metric| Figure::StreamTime(metric, q)),
    }
}

fn not_compared(text: &str) -> CompareGateError {
    let names: Vec<_> = QUANTILES.iter().filter(|q| **q < 1.0).map(|q| quantile_name(*q)).collect();
    CompareGateError(format!(
        "'{text}' names a percentile that is not compared; the ones that are: {}",
        names.join(", ")
    ))
}

impl Figure {
    fn q(self) -> Option<f64> {
        match self {
            Figure::ResponseTime(q) | Figure::StreamTime(_, q) => Some(q),
            Figure::Goodput => None,
        }
    }

    fn reading(self) -> ReadingMode {
        match self {
            Figure::ResponseTime(_) => ReadingMode::Whole,
            Figure::StreamTime(metric, _) if !metric.is_of_llm() => ReadingMode::Streams,
            Figure::StreamTime(..) | Figure::Goodput => ReadingMode::Llm,
        }
    }
}

impl fmt::Display for CompareGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl CompareGate {
    /// Returns the quantile that the condition is about; `None` for goodput.
    pub fn q(&self) -> Option<f64> {
        self.figure.q()
    }

    /// Returns true if the condition is about goodput, which needs objectives of each request.
    pub fn is_about_goodput(&self) -> bool {
        self.figure == Figure::Goodput
    }

    /// Returns true if the condition is about streams, which have no interval within a run.
    pub fn is_about_streams(&self) -> bool {
        self.figure.reading() > ReadingMode::Whole
    }

    /// Returns the number of arrivals without which a run cannot decide the condition.
    pub fn fewest_arrivals(&self) -> u64 {
        match self.figure {
            Figure::StreamTime(metric, _) if !metric.is_of_each_arrival() => 1,
            figure => figure.q().map_or(1, min_sample_size),
        }
    }

    /// Explains why a load cannot decide the condition, and the remedy. `None` if it may.
    pub fn objection(&self, planned: &PlannedRun<'_>) -> Option<String> {
        let needed = self.figure.reading();
        if planned.reading < needed {
            let how = if needed == ReadingMode::Llm { "--llm, such as --llm openai-chat" } else { "--stream or --llm" };
            return Some(format!("'{self}' needs {how}"));
        }
        if let Figure::StreamTime(..) = self.figure
            && let Some(objection) = planned.reading.objection_to_stream_time(self)
        {
            return Some(objection);
        }
        let q = self.figure.q().filter(|_| self.fewest_arrivals() > 1)?;
        planned.objection_to_quantile(self, q)
    }

    /// Explains why the run of this name has nothing to decide the condition with. `None` if it has.
    pub fn objection_to_run(&self, name: &str, run: &Run) -> Option<String> {
        let streams = run.facts.stream.as_ref();
        let llm = streams.and_then(|streams| streams.llm.as_ref());
        let missing = match (self.figure, self.figure.reading()) {
            (Figure::Goodput, _) if llm.is_none_or(|llm| llm.slo.is_none()) => {
                "goodput, which a run has with --llm and --slo 'ttft < 500ms'"
            }
            (_, ReadingMode::Llm) if llm.is_none() => "times of language models, which a run has with --llm",
            (_, ReadingMode::Streams) if streams.is_none() => {
                "times of streams, which a run has with --stream or --llm"
            }
            _ => return None,
        };
        Some(format!("'{self}' needs {missing}, and {name} has none"))
    }

    /// Decides the condition: fails if the whole interval is beyond the limit, holds if none of it is.
    pub fn judge(&self, comparison: &Comparison) -> GateFinding {
        let found = self.worsening(comparison);
        let state = match (found.low, found.high) {
            (Some(low), _) if low > self.share => GateState::Fails,
            (_, Some(high)) if high <= self.share => GateState::Holds,
            _ => GateState::Open,
        };
        GateFinding {
            text: self.text.clone(),
            state,
            value_ns: None,
            limit_ns: None,
            value: found.measured,
            limit: Some(self.share),
            message: self.message(found, comparison, state),
        }
    }

    fn worsening(&self, comparison: &Comparison) -> Worsening {
        let streams = comparison.streams.as_ref();
        match self.figure {
            Figure::ResponseTime(q) => Worsening::of_quantile(comparison.at(q)),
            Figure::StreamTime(metric, q) => Worsening::of_quantile(streams.and_then(|streams| streams.at(metric, q))),
            Figure::Goodput => {
                streams.and_then(|streams| streams.goodput).map_or(Worsening::default(), |found| Worsening {
                    measured: Some(-found.difference),
                    low: found.difference_high.map(|high| -high),
                    high: found.difference_low.map(|low| -low),
                })
            }
        }
    }

    /// Returns the reason why nothing is known about the difference.
    fn why_unknown(&self, comparison: &Comparison) -> &'static str {
        let streams = comparison.streams.as_ref();
        // Times of streams with values on both sides are only known from below.
        let are_bounds = match self.figure {
            Figure::StreamTime(metric, q) => streams.and_then(|streams| streams.at(metric, q)),
            Figure::ResponseTime(_) | Figure::Goodput => None,
        };
        let are_bounds = are_bounds.is_some_and(|found| found.a_ns.is_some() && found.b_ns.is_some());
        match self.figure {
            Figure::Goodput => "not compared: the runs have different objectives of each request, or none",
            _ if are_bounds && streams.is_some_and(|streams| !streams.has_kernel_times) => {
                "no interval: the kernel did not say when events came, and truetail may have read any of them late"
            }
            _ if are_bounds => {
                "no interval: streams were cut, or times are missing, so the values of both sides are only known from below"
            }
            _ => "no interval: a run is too short for this percentile, or too many of its requests had no answer",
        }
    }

    fn message(&self, found: Worsening, comparison: &Comparison, state: GateState) -> String {
        let Some(measured) = found.measured else { return self.why_unknown(comparison).to_owned() };
        let measured = format!("measured {}", self.change(measured));
        if (found.low, found.high) == (None, None) && self.is_about_streams() {
            return format!("{measured}, without an interval: streams need several runs on a side");
        }
        // Of goodput, a smaller share is worse.
        let ends = if self.is_about_goodput() { [found.high, found.low] } else { [found.low, found.high] };
        let [low, high] = ends.map(|end| end.map_or("unknown".to_owned(), |end| self.change(end)));
        let measured = format!("{measured}, {} interval {low} … {high}", in_percent(comparison.confidence));
        match state {
            GateState::Holds | GateState::Fails => measured,
            GateState::Open => format!("{measured}; more or longer runs narrow it"),
        }
    }

    /// Formats `+4.2 %` for a quantile that is worse by 0.042, and `-4.2 points` for such a goodput.
    fn change(&self, worse: f64) -> String {
        let percent = worse * 100.0;
        match self.figure {
            Figure::Goodput => format!("{:+.1} points", -percent),
            _ if percent.abs() >= 1000.0 => format!("× {:.1}", 1.0 + worse),
            _ => format!("{percent:+.1} %"),
        }
    }
}

/// Share by which a figure of B is worse than that of A, with its interval; negative if it is better. Ends that are not
/// known are `None`.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct Worsening {
    measured: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

impl Worsening {
    fn of_quantile(compared: Option<&QuantileComparison>) -> Worsening {
        let Some(found) = compared else { return Worsening::default() };
        let [measured, low, high] =
            [found.ratio, found.ratio_low, found.ratio_high].map(|ratio| ratio.map(|ratio| ratio - 1.0));
        Worsening { measured, low, high }
    }
}

/// `95 %` for 0.95, and `98.75 %` for 0.9875.
fn in_percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}
