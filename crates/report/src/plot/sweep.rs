//! Sweeps over rates: times against throughput.

use truetail_analysis::sweep::{StepQuantile, StepState, Sweep, SweepStep};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::picture::Picture;
use super::scale::{AxisScale, linear_ticks};
use super::sheet::{Sheet, Swatch, heading, time_axis};
use super::svg::{Rect, Svg};
use crate::number::quantile_name;
use crate::sweep::{SweepReport, Throughput, measured, time_label};

/// Quantiles of a single sweep. Of several sweeps only the one of the table is drawn.
const QUANTILES: [(f64, SeriesStyle); 3] = [(0.5, SeriesStyle::P50), (0.9, SeriesStyle::P90), (0.99, SeriesStyle::P99)];
/// Height that each further panel adds to the picture, and that of its heading.
const PANEL: f64 = 300.0;
const HEADING: f64 = 30.0;
/// Room for the texts of the vertical axes and of the horizontal one.
const LEFT: f64 = 100.0;
const BELOW: f64 = 50.0;
/// Factor by which an interval may lengthen the axis of the times.
const WIDEST: f64 = 4.0;
/// Half the size of the cross of a saturated step.
const CROSS: f64 = 7.0;

/// A curve: its name, its look, and its points by rate.
struct Curve {
    name: String,
    look: SeriesStyle,
    points: Vec<Point>,
}

struct Point {
    throughput: f64,
    time_ns: f64,
    low_ns: Option<f64>,
    high_ns: Option<f64>,
    is_saturated: bool,
}

/// Draws times of each step by its throughput, with 95 % intervals: the first time and, of language models, TPOT.
pub fn sweep_curves(report: &SweepReport) -> Picture {
    let named = report.named();
    let title = if named.len() == 1 { format!("Sweep of {}", report.sweep.target) } else { "Sweeps".to_owned() };
    let throughput = report.throughput();
    let times = report.sweep.time_names();
    let shown = times.iter().enumerate().filter(|(at, name)| *at == 0 || matches!(**name, "tpot" | "event-gap"));
    let panels: Vec<(&str, Vec<Curve>)> = shown
        .map(|(_, name)| (*name, curves(&named, name, report.shown_quantile(), throughput)))
        .filter(|(_, curves)| !curves.is_empty())
        .collect();
    let Some((_, first)) = panels.first() else {
        return Sheet::nothing(&title, "No step has a percentile, so there is nothing to set against the throughput.");
    };
    let legend: Vec<(String, Swatch)> =
        first.iter().map(|curve| (curve.name.clone(), Swatch::Line(curve.look))).collect();
    let subtitle = "Each point is a rate, with its 95 % interval. A cross is a saturated rate, whose times only grow.";
    let height = HEIGHT + PANEL * (panels.len() - 1) as f64;
    let mut sheet = Sheet::new(&title, subtitle, height, &legend);
    let most = points(panels.iter().flat_map(|(_, curves)| curves)).map(|point| point.throughput).fold(0.0, f64::max);
    let most = if most > 0.0 { most * 1.05 } else { 1.0 };
    let each = sheet.area.height / panels.len() as f64;
    for (name, curves) in &panels {
        let place = sheet.take(each);
        heading(&mut sheet.svg, place.x, place.y + 12.0, &format!("{} (logarithmic)", long_label(name)));
        let inner = Rect {
            x: place.x + LEFT,
            y: place.y + HEADING,
            width: place.width - LEFT - 10.0,
            height: place.height - HEADING - BELOW,
        };
        let ticks = linear_ticks(0.0, most, 10);
        let x = Axis::new(throughput.name(), AxisScale::Linear { from: 0.0, to: most }, ticks);
        let frame = Frame::around(inner, x, times_axis(curves));
        frame.draw_behind(&mut sheet.svg);
        curves.iter().for_each(|curve| draw(&mut sheet.svg, &frame, curve));
        frame.draw_base(&mut sheet.svg);
    }
    sheet.finish()
}

fn long_label(name: &str) -> &str {
    match name {
        "ttft" => "Time to the first token",
        "tpot" => "Time per output token",
        "first-event" => "Time to the first event",
        "event-gap" => "Gap between events",
        "response-time" => "Response time",
        other => time_label(other),
    }
}

fn curves(named: &[(String, &Sweep)], time: &str, q: f64, throughput: Throughput) -> Vec<Curve> {
    let curve = |name: String, look: SeriesStyle, sweep: &Sweep, q: f64| {
        let points = sweep.steps.iter().filter_map(|step| point(step, time, q, throughput)).collect();
        Curve { name, look, points }
    };
    let all: Vec<Curve> = match named {
        [(_, sweep)] => QUANTILES.iter().map(|(q, look)| curve(quantile_name(*q), *look, sweep, *q)).collect(),
        several => {
            let look = |number: usize| number.checked_sub(1).map_or(SeriesStyle::Response, SeriesStyle::Other);
            let named = several.iter().enumerate();
            named.map(|(n, (name, sweep))| curve(format!("{} {name}", quantile_name(q)), look(n), sweep, q)).collect()
        }
    };
    all.into_iter().filter(|curve| !curve.points.is_empty()).collect()
}

fn point(step: &SweepStep, time: &str, q: f64, throughput: Throughput) -> Option<Point> {
    let StepQuantile { value_ns, low_ns, high_ns, .. } = *measured(step, time, q)?;
    let above_zero = |ns: u64| ns.max(1) as f64;
    Some(Point {
        throughput: throughput.of(step)?,
        time_ns: above_zero(value_ns?),
        low_ns: low_ns.map(above_zero),
        high_ns: high_ns.map(above_zero),
        is_saturated: step.state == StepState::Saturated,
    })
}

fn points<'a>(curves: impl Iterator<Item = &'a Curve>) -> impl Iterator<Item = &'a Point> {
    curves.flat_map(|curve| &curve.points)
}

/// Returns an axis of the times. Their intervals may be much longer, and are cut off then.
fn times_axis(curves: &[Curve]) -> Axis {
    let all = || points(curves.iter());
    let lowest = all().map(|point| point.time_ns).fold(f64::INFINITY, f64::min);
    let highest = all().map(|point| point.time_ns).fold(0.0, f64::max);
    let low = all().filter_map(|point| point.low_ns).fold(lowest, f64::min);
    let high = all().filter_map(|point| point.high_ns).fold(highest, f64::max);
    time_axis("", low.max(lowest / WIDEST), high.min(highest * WIDEST))
}

/// Returns the ends of the interval of a point. One that is open upwards reaches the frame.
fn interval(frame: &Frame, point: &Point) -> Vec<(f64, f64)> {
    let x = frame.x(point.throughput);
    let top = match (point.low_ns, point.high_ns) {
        (_, Some(high)) => frame.y(high),
        (Some(_), None) => frame.inner.y,
        (None, None) => frame.y(point.time_ns),
    };
    vec![(x, frame.y(point.low_ns.unwrap_or(point.time_ns))), (x, top)]
}

fn draw(svg: &mut Svg, frame: &Frame, curve: &Curve) {
    let place = |point: &Point| (frame.x(point.throughput), frame.y(point.time_ns));
    let cross = |point: &Point| {
        let (x, y) = place(point);
        [[(x - CROSS, y - CROSS), (x + CROSS, y + CROSS)], [(x - CROSS, y + CROSS), (x + CROSS, y - CROSS)]]
            .map(|line| line.to_vec())
    };
    let (saturated, others): (Vec<&Point>, Vec<&Point>) = curve.points.iter().partition(|point| point.is_saturated);
    svg.series(&curve.points.iter().map(|point| interval(frame, point)).collect::<Vec<_>>(), curve.look, 1.5);
    svg.series(&[curve.points.iter().map(place).collect()], curve.look, 2.0);
    svg.series(&others.iter().map(|point| vec![place(point)]).collect::<Vec<_>>(), curve.look, 9.0);
    svg.series(&saturated.iter().flat_map(|point| cross(point)).collect::<Vec<_>>(), curve.look, 3.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep_text::tests::report;

    #[test]
    fn one_sweep_has_its_quantiles_and_two_have_their_names() {
        let alone = sweep_curves(&report());
        for text in ["Time to the first token", "Time per output token", "output tokens per second", ">p50<", ">p99<"] {
            assert!(alone.svg().contains(text), "{text}: {}", alone.svg());
        }
        assert!(!alone.svg().contains("Response time"), "{}", alone.svg());
        let mut both = report();
        both.beside = vec![("elsewhere".to_owned(), both.sweep.clone())];
        let both = sweep_curves(&both);
        assert!(both.svg().contains("p99 swept") && both.svg().contains("p99 elsewhere"), "{}", both.svg());
    }

    #[test]
    fn bounds_and_invalid_rates_are_not_points() {
        let drawn =
            |report: &SweepReport| curves(&report.named(), "ttft", 0.99, Throughput::OutputTokens)[2].points.len();
        let mut report = report();
        assert_eq!(drawn(&report), 3);
        report.sweep.steps[2].times[0].quantiles[2].at_least = true;
        assert_eq!(drawn(&report), 2);
        report.sweep.steps[0].state = StepState::Invalid;
        assert_eq!(drawn(&report), 1);
    }

    #[test]
    fn an_interval_that_is_open_upwards_reaches_the_frame() {
        let mut report = report();
        let before = sweep_curves(&report).svg().to_owned();
        report.sweep.steps[0].times[0].quantiles[2].high_ns = None;
        assert_ne!(sweep_curves(&report).svg(), before);
        let point = |high_ns| Point { throughput: 1.0, time_ns: 2.0, low_ns: Some(1.0), high_ns, is_saturated: false };
        let inner = Rect { x: 0.0, y: 7.0, width: 100.0, height: 100.0 };
        let axis = || Axis::new("", AxisScale::Linear { from: 0.0, to: 10.0 }, Vec::new());
        let frame = Frame::around(inner, axis(), axis());
        assert_eq!(interval(&frame, &point(None))[1], (10.0, 7.0));
        assert_eq!(interval(&frame, &point(Some(5.0)))[1], (10.0, 57.0));
    }

    #[test]
    fn without_times_it_says_so() {
        let mut report = report();
        report.sweep.steps.iter_mut().for_each(|step| step.times.clear());
        assert!(sweep_curves(&report).svg().contains("No step has a percentile"));
    }
}
