//! The run over time in lanes one below the other, with one axis of time.

use truetail_analysis::figures::quantile_name;
use truetail_analysis::series::{QuantileSeries, RunSeries};

use super::frame::{Axis, Frame};
use super::look::Look;
use super::over_time;
use super::picture::Picture;
use super::scale::{AxisScale, Tick, linear_ticks};
use super::sheet::{Sheet, Swatch, draw_legend, heading, remark, stretches, time_axis};
use super::svg::{Anchor, Rect};

const TITLE: &str = "The run over time";
const HEIGHT: f64 = 860.0;
/// Room for the texts of the axes of all lanes.
const LEFT: f64 = 74.0;
/// Room below the last lane.
const BELOW: f64 = 58.0;
/// Heading of a lane, and the gap below a lane.
const HEADING: f64 = 26.0;
const GAP: f64 = 14.0;

/// A line of a lane.
struct Line {
    name: String,
    look: Look,
    values: Vec<Option<f64>>,
}

/// A lane.
struct Lane {
    heading: &'static str,
    lines: Vec<Line>,
    /// Times on a logarithmic axis; else counts from 0 on.
    times: bool,
    /// What is said where there are no values.
    nothing: &'static str,
}

/// Load, waiting requests, response time and generator lag over time; pauses of either side are shaded.
pub fn lanes(series: &RunSeries) -> Picture {
    if series.time.columns == 0 {
        return Sheet::nothing(TITLE, "Nothing was recorded by time.");
    }
    let subtitle =
        "Planned, waiting and response times by intended start; sent by actual start; completed and failed by end.";
    let mut sheet = Sheet::new(TITLE, subtitle, HEIGHT, &over_time::shades(series));
    let lanes = [load(series), waiting(series), response_time(series), generator_lag(series)];
    let height = (sheet.area.height - BELOW) / lanes.len() as f64;
    let last = lanes.len() - 1;
    for (i, lane) in lanes.iter().enumerate() {
        let place = sheet.take(height);
        draw(&mut sheet, series, lane, place, i == last);
    }
    sheet.finish()
}

/// `place` without the room for the texts of the axes.
fn inner(place: Rect) -> Rect {
    Rect { x: place.x + LEFT, width: place.width - LEFT - 10.0, ..place }
}

fn draw(sheet: &mut Sheet, series: &RunSeries, lane: &Lane, place: Rect, has_axis: bool) {
    let svg = &mut sheet.svg;
    heading(svg, place.x, place.y + 14.0, lane.heading);
    let values = || lane.lines.iter().flat_map(|line| line.values.iter().flatten().copied());
    let place = inner(place);
    let inside = Rect { y: place.y + HEADING, height: place.height - HEADING - GAP, ..place };
    let has_values = values().next().is_some();
    let y = y_axis(
        lane.times,
        values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min),
        values().fold(0.0, f64::max),
    );
    let x = over_time::axis(&series.time);
    let x = if has_axis { x } else { Axis { label: String::new(), ticks: Vec::new(), ..x } };
    let y = if has_values { y } else { Axis { ticks: Vec::new(), ..y } };
    let frame = Frame::around(inside, x, y);
    over_time::shade(svg, &frame, inside, &series.pauses);
    frame.draw_behind(svg);
    frame.draw_base(svg);
    if !has_values {
        remark(svg, inside.x + inside.width / 2.0, inside.y + inside.height / 2.0 + 5.0, lane.nothing, Anchor::Middle);
        return;
    }
    let entries: Vec<(String, Swatch)> =
        lane.lines.iter().map(|line| (line.name.clone(), Swatch::Line(line.look))).collect();
    draw_legend(svg, Rect { x: place.x + 190.0, y: place.y + 14.0, width: place.width - 190.0, height: 0.0 }, &entries);
    for line in &lane.lines {
        let points = over_time::middles(&series.time).zip(line.values.iter().copied());
        svg.series(&stretches(&frame, points), line.look, 2.0);
    }
}

fn y_axis(times: bool, lowest: f64, highest: f64) -> Axis {
    if times {
        let axis = time_axis("", lowest, highest);
        return Axis { ticks: sparse(axis.ticks), ..axis };
    }
    let to = if highest > 0.0 { highest * 1.08 } else { 1.0 };
    Axis::new("", AxisScale::Linear { from: 0.0, to }, linear_ticks(0.0, to, 4))
}

/// At most five ticks with a text, and no others.
fn sparse(ticks: Vec<Tick>) -> Vec<Tick> {
    let named: Vec<Tick> = ticks.into_iter().filter(|tick| !tick.text.is_empty()).collect();
    let step = named.len().div_ceil(5).max(1);
    named.into_iter().step_by(step).collect()
}

fn rates(name: &str, look: Look, values: &[f64]) -> Line {
    Line { name: name.to_owned(), look, values: values.iter().copied().map(Some).collect() }
}

fn counts(name: &str, look: Look, values: &[u64]) -> Line {
    Line { name: name.to_owned(), look, values: values.iter().map(|value| Some(*value as f64)).collect() }
}

fn load(series: &RunSeries) -> Lane {
    let load = &series.load;
    let mut lines = vec![
        rates("completed", Look::Completed, &load.completed_per_s),
        rates("sent", Look::Sent, &load.sent_per_s),
        rates("planned", Look::Planned, &load.planned_per_s),
    ];
    if load.failed_per_s.iter().any(|rate| *rate > 0.0) {
        lines.push(rates("failed", Look::Failed, &load.failed_per_s));
    }
    Lane { heading: "Requests per second", lines, times: false, nothing: "too few requests for a rate" }
}

fn waiting(series: &RunSeries) -> Lane {
    let load = &series.load;
    let lines = vec![
        counts("in flight", Look::InFlight, &load.in_flight),
        counts("backlog: due and not sent", Look::Backlog, &load.backlog),
    ];
    Lane { heading: "Requests waiting", lines, times: false, nothing: "too few requests" }
}

fn quantiles(series: &[QuantileSeries], look: impl Fn(f64) -> Look) -> Vec<Line> {
    let line = |one: &QuantileSeries| Line {
        name: if one.q >= 1.0 { "max".to_owned() } else { quantile_name(one.q) },
        look: look(one.q),
        // Zero has no place on a logarithmic axis.
        values: one.values_ns.iter().map(|value| value.map(|value| value.max(1) as f64)).collect(),
    };
    series.iter().map(line).filter(|line| line.values.iter().any(Option::is_some)).collect()
}

fn response_time(series: &RunSeries) -> Lane {
    let look = |q: f64| match q {
        q if q >= 1.0 => Look::Max,
        q if q >= 0.999 => Look::P999,
        q if q >= 0.99 => Look::P99,
        q if q >= 0.9 => Look::P90,
        _ => Look::P50,
    };
    let lines = quantiles(&series.response_time, look);
    Lane {
        heading: "Response time",
        lines,
        times: true,
        nothing: "no arrival was answered, or times were not kept by time",
    }
}

fn generator_lag(series: &RunSeries) -> Lane {
    let look = |q: f64| match q {
        q if q >= 1.0 => Look::LagMax,
        q if q >= 0.99 => Look::Lag,
        _ => Look::LagP50,
    };
    let lines = quantiles(&series.generator_lag, look);
    let all_zero = lines.iter().flat_map(|line| line.values.iter().flatten()).all(|value| *value <= 1.0);
    let nothing = if lines.is_empty() { "not recorded by time" } else { "the generator was never late" };
    Lane { heading: "Generator lag", lines: if all_zero { Vec::new() } else { lines }, times: true, nothing }
}
