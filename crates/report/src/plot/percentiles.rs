//! Percentile curves on an axis of 1/(1 − q).

use truetail_analysis::series::{CurveKind, CurvePoint, PercentileCurve, RunSeries};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::picture::Picture;
use super::reading::{LayerReading, PanelReading, ReadingAxis, levels};
use super::scale::{AxisScale, Quantity, percentile_levels, percentile_ticks};
use super::sheet::{Layer, Sheet, Swatch, remark, time_axis};
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
    draw(&curves, first)
}

/// Who measured a curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CurveSource {
    /// A simulated open loop.
    Open,
    /// A simulated closed loop.
    Closed,
    /// The closed loop after HdrHistogram's correction.
    Corrected,
    /// Known exactly, not measured.
    Truth,
    /// An open loop on real sockets.
    MeasuredOpen,
    /// A closed loop on real sockets.
    MeasuredClosed,
}

impl CurveSource {
    const fn look(self) -> SeriesStyle {
        match self {
            CurveSource::Open => SeriesStyle::Response,
            CurveSource::Closed => SeriesStyle::Closed,
            CurveSource::Corrected => SeriesStyle::Corrected,
            CurveSource::Truth => SeriesStyle::Truth,
            CurveSource::MeasuredOpen => SeriesStyle::MeasuredOpen,
            CurveSource::MeasuredClosed => SeriesStyle::MeasuredClosed,
        }
    }
}

/// Draws named curves beside each other, without intervals. The first is at the back.
pub fn percentile_curves(curves: &[(&str, CurveSource, &PercentileCurve)]) -> Picture {
    let styled = curves.iter().filter(|(.., curve)| !curve.points.is_empty()).map(|&(name, source, curve)| {
        let width = if source == CurveSource::Open { 3.0 } else { 2.0 };
        StyledCurve { name: name.to_owned(), look: source.look(), curve, width }
    });
    let curves: Vec<StyledCurve<'_>> = styled.collect();
    if curves.is_empty() {
        return Sheet::nothing(TITLE, "Too few answers for any percentile.");
    }
    draw(&curves, None)
}

/// Draws curves, with the interval and the end of `first`.
fn draw(curves: &[StyledCurve<'_>], first: Option<&PercentileCurve>) -> Picture {
    let subtitle = first.map_or(String::new(), said_of);
    let mut sheet = Sheet::new(TITLE, &subtitle, HEIGHT, &legend(curves, first));
    let frame = Frame::in_area(sheet.area, shares(curves), times(curves));
    frame.draw_columns(&mut sheet.svg);
    frame.draw_behind(&mut sheet.svg);
    let mut qs: Vec<f64> = curves.iter().flat_map(|drawn| drawn.curve.points.iter().map(|point| point.q)).collect();
    qs.sort_by(f64::total_cmp);
    qs.dedup();
    let mut layers: Vec<Layer<'_>> = first.into_iter().flat_map(|first| uncertainty_layers(&qs, first)).collect();
    layers.extend(curves.iter().map(|drawn| curve_layer(&qs, drawn)));
    sheet.panel(&frame, PanelReading::new("Response time", frame.y_scale(), Quantity::LogTimes), layers);
    frame.draw_base(&mut sheet.svg);
    if let Some(first) = first {
        draw_end(&mut sheet.svg, &frame, first);
    }
    sheet.finish_readable(reading_axis(&frame, &qs))
}

fn reading_axis(frame: &Frame, qs: &[f64]) -> ReadingAxis {
    let scale = frame.x_scale();
    let (AxisScale::Linear { to, .. } | AxisScale::Log { to, .. }) = scale;
    let stops: Vec<f64> = qs.iter().copied().map(place_of).collect();
    let ticks = levels(scale, percentile_levels(to));
    let axis = ReadingAxis::new(scale, &stops, qs.iter().map(|q| number::quantile_name(*q)));
    ReadingAxis { key: "percentile", name: "percentile", ticks, ..axis }
}

fn curve_layer<'a>(qs: &[f64], drawn: &'a StyledCurve<'_>) -> Layer<'a> {
    let curve = drawn.curve;
    let points: Vec<(f64, String)> = curve.points.iter().map(|point| (point.q, number::time(point.value_ns))).collect();
    let beyond = |q: f64| if q > 1.0 - curve.unanswered_share { "no answer" } else { "too few samples" };
    let texts = qs.iter().map(|q| Some(text_at(&points, *q).unwrap_or_else(|| beyond(*q).to_owned())));
    Layer::new(LayerReading::line(&drawn.name, drawn.look, texts), move |svg, frame| {
        let points: Vec<_> = curve.points.iter().map(|point| place(frame, point, point.value_ns)).collect();
        let end: Vec<_> = points.last().copied().into_iter().collect();
        svg.series(&[points], drawn.look, drawn.width);
        svg.series(&[end], drawn.look, 3.0 * drawn.width);
    })
}

/// Returns the layers of the interval, and of the part that the generator may have added.
fn uncertainty_layers<'a>(qs: &[f64], curve: &'a PercentileCurve) -> Vec<Layer<'a>> {
    let mut layers = Vec::new();
    if !band(curve).is_empty() {
        let points = curve.points.iter().filter(|point| point.low_ns.is_some() || point.high_ns.is_some());
        let points: Vec<_> = points.map(|point| (point.q, number::time_range(point.low_ns, point.high_ns))).collect();
        let reading =
            LayerReading::area("95% interval", SeriesStyle::Response, qs.iter().map(|q| text_at(&points, *q)));
        layers.push(Layer::new(reading, move |svg, frame| draw_band(svg, frame, curve)));
    }
    let bracket = bracket(curve);
    if !bracket.is_empty() {
        let points: Vec<_> = bracket.iter().map(|(point, without)| (point.q, number::time(*without))).collect();
        let texts = qs.iter().map(|q| text_at(&points, *q));
        let reading = LayerReading::area("without the generator", SeriesStyle::Lag, texts);
        layers.push(Layer::new(reading, move |svg, frame| draw_bracket(svg, frame, curve)));
    }
    layers
}

/// Returns the text of the first point at or after `q`. If that point is not at `q`, the text names its percentile.
fn text_at(points: &[(f64, String)], q: f64) -> Option<String> {
    let (at, text) = &points[points.partition_point(|(at, _)| *at < q)..].first()?;
    Some(if *at == q { text.clone() } else { format!("{text} at {}", number::quantile_name(*at)) })
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
    place_of(point.q)
}

fn place_of(q: f64) -> f64 {
    1.0 / (1.0 - q).max(1e-12)
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

/// Explains the end of the response time, if arrivals without an answer begin there.
fn draw_end(svg: &mut Svg, frame: &Frame, curve: &PercentileCurve) {
    let Some(last) = curve.points.last() else { return };
    let (x, y) = place(frame, last, last.value_ns);
    if curve.unanswered_share > 0.0 {
        let text = format!("{} of the arrivals got no answer", number::share(curve.unanswered_share));
        let right = x > frame.inner.x + frame.inner.width * 0.5;
        let (anchor, x) = if right { (Anchor::End, x) } else { (Anchor::Start, x) };
        remark(svg, x, (y - 14.0).max(frame.inner.y + 14.0), &text, anchor);
    }
}
