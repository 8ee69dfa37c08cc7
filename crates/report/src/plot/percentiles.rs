//! Percentile curves on an axis of 1/(1 − q).

use truetail_analysis::series::{CurveKind, CurvePoint, PercentileCurve, RunSeries};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::picture::Picture;
use super::scale::{AxisScale, percentile_ticks};
use super::sheet::{Sheet, Swatch, remark, time_axis};
use super::svg::{Anchor, Svg};
use crate::number;

const TITLE: &str = "Response time by percentile";
const BAND: f64 = 0.18;
const BRACKET: f64 = 0.35;
/// The axis ends at 99 % or later.
const SHORTEST_AXIS: f64 = 100.0;

struct StyledCurve<'a> {
    name: String,
    look: SeriesStyle,
    curve: &'a PercentileCurve,
    width: f64,
}

/// Draws the curves of the first run, and the response times of the other runs over them. A curve ends when the sample
/// no longer supports it, or when unanswered arrivals begin.
pub fn percentiles(runs: &[(&str, &RunSeries)]) -> Picture {
    let curves = drawn(runs);
    if curves.is_empty() {
        return Sheet::nothing(TITLE, "Too few answers for any percentile.");
    }
    let first = curves.iter().find(|drawn| drawn.look == SeriesStyle::Response).map(|drawn| drawn.curve);
    let subtitle = first.map_or(String::new(), said_of);
    let mut sheet = Sheet::new(TITLE, &subtitle, HEIGHT, &legend(&curves, first));
    let frame = Frame::in_area(sheet.area, shares(&curves), times(&curves));
    frame.draw_columns(&mut sheet.svg);
    frame.draw_behind(&mut sheet.svg);
    if let Some(first) = first {
        draw_band(&mut sheet.svg, &frame, first);
        draw_bracket(&mut sheet.svg, &frame, first);
    }
    for drawn in curves.iter().rev() {
        let points = drawn.curve.points.iter().map(|point| place(&frame, point, point.value_ns)).collect();
        sheet.svg.series(&[points], drawn.look, drawn.width);
    }
    frame.draw_base(&mut sheet.svg);
    if let Some(first) = first {
        draw_end(&mut sheet.svg, &frame, first);
    }
    sheet.finish()
}

fn drawn<'a>(runs: &[(&str, &'a RunSeries)]) -> Vec<StyledCurve<'a>> {
    let Some(((name, run), others)) = runs.split_first() else { return Vec::new() };
    let of_first = |curve: &'a PercentileCurve| {
        let (what, look, width) = match curve.kind {
            CurveKind::ResponseTime => ("response time", SeriesStyle::Response, 3.0),
            CurveKind::ServiceTime => ("service time", SeriesStyle::Service, 2.0),
            CurveKind::ClosedLoopShadow => ("what a closed-loop tool would have reported", SeriesStyle::Shadow, 2.0),
            CurveKind::Corrected => ("corrected by HdrHistogram's method", SeriesStyle::Corrected, 2.0),
            CurveKind::Truth => ("exact", SeriesStyle::Truth, 2.0),
        };
        let is_alone = others.is_empty() || name.is_empty() || look != SeriesStyle::Response;
        StyledCurve { name: if is_alone { what.to_owned() } else { format!("{what}: {name}") }, look, curve, width }
    };
    let mut curves: Vec<StyledCurve<'a>> = run.curves.iter().map(of_first).collect();
    for (n, (name, run)) in others.iter().enumerate() {
        let response_time = run.curves.iter().find(|curve| curve.kind == CurveKind::ResponseTime);
        curves.extend(response_time.map(|curve| StyledCurve {
            name: (*name).to_owned(),
            look: SeriesStyle::Other(n),
            curve,
            width: 2.0,
        }));
    }
    curves
}

fn said_of(curve: &PercentileCurve) -> String {
    format!(
        "Over {} planned arrivals. A curve ends where more requests would be needed, or answers are missing.",
        number::count(curve.count)
    )
}

fn legend(curves: &[StyledCurve<'_>], first: Option<&PercentileCurve>) -> Vec<(String, Swatch)> {
    let mut legend: Vec<(String, Swatch)> =
        curves.iter().map(|drawn| (drawn.name.clone(), Swatch::Line(drawn.look))).collect();
    let has_band = first.is_some_and(|curve| !band(curve).is_empty());
    let has_bracket = first.is_some_and(|curve| !bracket(curve).is_empty());
    let is_open = first.is_some_and(|curve| band(curve).iter().any(|(.., high)| *high == u64::MAX));
    let interval = if is_open { "its 95% interval, open where it has no upper end" } else { "its 95% interval" };
    legend.extend(has_band.then(|| (interval.to_owned(), Swatch::Block(SeriesStyle::Response, BAND * 1.5))));
    legend.extend(
        has_bracket.then(|| ("what the generator may have added".to_owned(), Swatch::Block(SeriesStyle::Lag, BRACKET))),
    );
    legend
}

fn at(point: &CurvePoint) -> f64 {
    1.0 / (1.0 - point.q).max(1e-12)
}

fn place(frame: &Frame, point: &CurvePoint, value_ns: u64) -> (f64, f64) {
    (frame.x(at(point)), frame.y(value_ns.max(1) as f64))
}

fn shares(curves: &[StyledCurve<'_>]) -> Axis {
    let last = curves.iter().filter_map(|drawn| drawn.curve.points.last()).map(at).fold(1.0, f64::max);
    let to = (last * 1.3).max(SHORTEST_AXIS);
    Axis::new("share of requests that were at least as fast", AxisScale::Log { from: 1.0, to }, percentile_ticks(to))
}

fn times(curves: &[StyledCurve<'_>]) -> Axis {
    let points = || curves.iter().flat_map(|drawn| &drawn.curve.points);
    let low = points().map(|point| point.value_ns.max(1) as f64).fold(f64::INFINITY, f64::min);
    let high = points().map(|point| point.high_ns.unwrap_or(0).max(point.value_ns).max(1) as f64).fold(0.0, f64::max);
    time_axis("response time", low, high)
}

/// Returns the points with an interval, and its ends. An unbounded interval extends to the end of the axis.
fn band(curve: &PercentileCurve) -> Vec<(&CurvePoint, u64, u64)> {
    curve.points.iter().filter_map(|point| Some((point, point.low_ns?, point.high_ns.unwrap_or(u64::MAX)))).collect()
}

/// Returns the points with their value without the generator's contribution; empty if the contribution is invisible.
fn bracket(curve: &PercentileCurve) -> Vec<(&CurvePoint, u64)> {
    let visible = |(point, without): &(&CurvePoint, u64)| point.value_ns as f64 > *without as f64 * 1.02;
    let all: Vec<_> = curve.points.iter().filter_map(|point| Some((point, point.without_generator_ns?))).collect();
    if all.iter().any(visible) { all } else { Vec::new() }
}

fn draw_band(svg: &mut Svg, frame: &Frame, curve: &PercentileCurve) {
    let band = band(curve);
    let high = band.iter().map(|(point, _, high)| place(frame, point, *high));
    let low = band.iter().rev().map(|(point, low, _)| place(frame, point, *low));
    svg.area(&high.chain(low).collect::<Vec<_>>(), SeriesStyle::Response, BAND);
}

fn draw_bracket(svg: &mut Svg, frame: &Frame, curve: &PercentileCurve) {
    let bracket = bracket(curve);
    let high = bracket.iter().map(|(point, _)| place(frame, point, point.value_ns));
    let low = bracket.iter().rev().map(|(point, without)| place(frame, point, *without));
    svg.area(&high.chain(low).collect::<Vec<_>>(), SeriesStyle::Lag, BRACKET);
}

/// Marks the end of the response time, with the reason.
fn draw_end(svg: &mut Svg, frame: &Frame, curve: &PercentileCurve) {
    let Some(last) = curve.points.last() else { return };
    let (x, y) = place(frame, last, last.value_ns);
    svg.series(&[vec![(x, y)]], SeriesStyle::Response, 9.0);
    if curve.unanswered_share > 0.0 {
        let text = format!("{} of the arrivals got no answer", number::share(curve.unanswered_share));
        let right = x > frame.inner.x + frame.inner.width * 0.5;
        let (anchor, x) = if right { (Anchor::End, x) } else { (Anchor::Start, x) };
        remark(svg, x, (y - 14.0).max(frame.inner.y + 14.0), &text, anchor);
    }
}
