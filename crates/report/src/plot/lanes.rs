//! The run over time in lanes one below the other, with one axis of time.

use truetail_analysis::series::{QuantileSeries, RunSeries};

use super::lane::{Lane, Line, draw_lanes};
use super::look::SeriesStyle;
use super::over_time::{self, Shades};
use super::picture::Picture;
use super::sheet::Sheet;
use crate::number::{self, quantile_name};

const TITLE: &str = "The run over time";
const HEIGHT: f64 = 860.0;

/// Draws load, waiting requests, response time and generator lag over time. Pauses of both sides are shaded.
pub fn lanes(series: &RunSeries) -> Picture {
    if series.time.columns == 0 {
        return Sheet::nothing(TITLE, "Nothing was recorded by time.");
    }
    let shades = over_time::shades(&series.time, &series.pauses);
    let subtitle =
        "Planned, waiting and response times by intended start; sent by actual start; completed and failed by end.";
    let mut sheet = Sheet::new(TITLE, subtitle, HEIGHT, &shades.iter().map(Shades::entry).collect::<Vec<_>>());
    let lanes = [load(series), waiting(series), response_time(series), generator_lag(series)];
    draw_lanes(&mut sheet, &lanes, &series.time, &shades);
    sheet.finish_readable(over_time::reading("time", &series.time))
}

fn rates(name: &str, look: SeriesStyle, values: &[f64]) -> Line {
    Line { name: name.to_owned(), look, values: values.iter().copied().map(Some).collect(), write: number::rate }
}

fn counts(name: &str, look: SeriesStyle, values: &[u64]) -> Line {
    let values = values.iter().map(|value| Some(*value as f64)).collect();
    Line { name: name.to_owned(), look, values, write: |count| number::count(count as u64) }
}

fn load(series: &RunSeries) -> Lane {
    let load = &series.load;
    let mut lines = vec![
        rates("completed", SeriesStyle::Completed, &load.completed_per_s),
        rates("sent", SeriesStyle::Sent, &load.sent_per_s),
        rates("planned", SeriesStyle::Planned, &load.planned_per_s),
    ];
    if load.failed_per_s.iter().any(|rate| *rate > 0.0) {
        lines.push(rates("failed", SeriesStyle::Failed, &load.failed_per_s));
    }
    Lane { heading: "Requests per second".into(), lines, times: false, nothing: "too few requests for a rate" }
}

fn waiting(series: &RunSeries) -> Lane {
    let load = &series.load;
    let lines = vec![
        counts("in flight", SeriesStyle::InFlight, &load.in_flight),
        counts("backlog: due and not sent", SeriesStyle::Backlog, &load.backlog),
    ];
    Lane { heading: "Requests waiting".into(), lines, times: false, nothing: "too few requests" }
}

fn quantiles(series: &[QuantileSeries], look: impl Fn(f64) -> SeriesStyle) -> Vec<Line> {
    let line = |one: &QuantileSeries| Line {
        name: quantile_name(one.q),
        look: look(one.q),
        values: one.values_ns.iter().map(|value| value.map(|value| value as f64)).collect(),
        write: |ns| number::time(ns as u64),
    };
    series.iter().map(line).filter(|line| line.values.iter().any(Option::is_some)).collect()
}

fn response_time(series: &RunSeries) -> Lane {
    let look = |q: f64| match q {
        q if q >= 1.0 => SeriesStyle::Max,
        q if q >= 0.999 => SeriesStyle::P999,
        q if q >= 0.99 => SeriesStyle::P99,
        q if q >= 0.9 => SeriesStyle::P90,
        _ => SeriesStyle::P50,
    };
    let lines = quantiles(&series.response_time, look);
    Lane {
        heading: "Response time".into(),
        lines,
        times: true,
        nothing: "no arrival was answered, or times were not kept by time",
    }
}

fn generator_lag(series: &RunSeries) -> Lane {
    let look = |q: f64| match q {
        q if q >= 1.0 => SeriesStyle::LagMax,
        q if q >= 0.99 => SeriesStyle::Lag,
        _ => SeriesStyle::LagP50,
    };
    let lines = quantiles(&series.generator_lag, look);
    let all_zero = lines.iter().flat_map(|line| line.values.iter().flatten()).all(|value| *value <= 1.0);
    let nothing = if lines.is_empty() { "not recorded by time" } else { "the generator was never late" };
    Lane { heading: "Generator lag".into(), lines: if all_zero { Vec::new() } else { lines }, times: true, nothing }
}
