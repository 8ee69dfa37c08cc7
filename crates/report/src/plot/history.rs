//! A percentile over a series of runs.

use truetail_analysis::history::{History, Level, PercentileHistory, Point};

use super::frame::{Axis, Frame};
use super::layout::{FAINT_INK, HEIGHT};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::reading::{LayerReading, PanelReading, ReadingAxis, levels};
use super::scale::{AxisScale, Quantity, linear_ticks, linear_time_ticks};
use super::sheet::{Layer, Sheet, Swatch, remark, time_axis};
use super::svg::{Anchor, Stroke, Svg};
use crate::number;

/// Half the width of a 95 % interval, in standard errors.
const HALF_WIDTH: f64 = 1.96;
/// The axis is logarithmic if the largest value is at least this many times the smallest.
const WIDE: f64 = 8.0;
const LEVEL: SeriesStyle = SeriesStyle::Truth;

/// Draws a percentile of a series by the number of the run, with the 95 % interval of each run, and the levels between
/// the changes. `starts` has the text for each run, shown if a reader points at it.
pub fn history(history: &History, found: &PercentileHistory, starts: &[String]) -> Picture {
    let name = found.figure.name();
    let look = look(found.figure.q().unwrap_or(0.5));
    let title = format!("{name} of each run");
    let runs: Vec<f64> = found.runs.iter().map(|at| (at + 1) as f64).collect();
    let legend = [
        (format!("{name} with its 95 % interval"), Swatch::Block(look, 1.0)),
        ("level between changes".to_owned(), Swatch::Line(LEVEL)),
    ];
    let subtitle = "Runs in the order of their starts. Runs that are left out have a number, but no point.";
    let mut sheet = Sheet::new(&title, subtitle, HEIGHT, &legend);
    let last = history.runs.len() as f64;
    let scale = AxisScale::Linear { from: 0.5, to: last + 0.5 };
    let whole = linear_ticks(0.5, last + 0.5, 10).into_iter().filter(|tick| tick.at.fract() == 0.0).collect();
    let frame = Frame::in_area(sheet.area, Axis::new("run", scale, whole), value_axis(&found.points));
    frame.draw_behind(&mut sheet.svg);
    draw_changes(&mut sheet.svg, &frame, found);
    let quantity = match frame.y_scale() {
        AxisScale::Log { .. } => Quantity::LogTimes,
        AxisScale::Linear { .. } => Quantity::Times,
    };
    let ns = |value: f64| number::time(value.exp().round() as u64);
    let values = LayerReading::line(&name, look, found.points.iter().map(|point| Some(ns(point.value))));
    let level_of = |at: usize| found.levels.iter().find(|level| level.points.contains(&at));
    let of_levels = (0..found.points.len()).map(|at| level_of(at).map(|level| ns(level.value)));
    let layers = vec![
        Layer::new(LayerReading::line("level", LEVEL, of_levels), |svg, frame| draw_levels(svg, frame, found, &runs)),
        Layer::new(values, |svg, frame| draw_points(svg, frame, &found.points, &runs, look)),
    ];
    sheet.panel(&frame, PanelReading::new("Response time", frame.y_scale(), quantity), layers);
    frame.draw_base(&mut sheet.svg);
    // The separator of a reading must not be in its texts.
    let text = |at: &usize| starts.get(*at).map_or(String::new(), |start| start.replace('|', "¦"));
    let ticks = levels(scale, Quantity::Numbers.levels(scale));
    let axis = ReadingAxis::new(scale, &runs, found.runs.iter().map(text));
    sheet.finish_readable(ReadingAxis { key: "runs", name: "run", ticks, ..axis })
}

fn look(q: f64) -> SeriesStyle {
    match q {
        _ if q < 0.75 => SeriesStyle::P50,
        _ if q < 0.95 => SeriesStyle::P90,
        _ if q < 0.995 => SeriesStyle::P99,
        _ => SeriesStyle::P999,
    }
}

/// Returns both ends of the 95 % interval of a point, nanoseconds.
fn ends(point: &Point) -> [f64; 2] {
    [-HALF_WIDTH, HALF_WIDTH].map(|by| (point.value + by * point.error).exp())
}

/// Returns an axis from 0, or a logarithmic one if the values differ much.
fn value_axis(points: &[Point]) -> Axis {
    let values = || points.iter().map(|point| point.value.exp());
    let lowest = values().fold(f64::INFINITY, f64::min);
    let highest = values().fold(0.0, f64::max);
    if highest > lowest * WIDE {
        return time_axis("response time", lowest, highest);
    }
    // An interval may be much longer than the values: they decide.
    let to = points.iter().map(|point| ends(point)[1]).fold(highest, f64::max).min(highest * 1.5) * 1.15;
    Axis::new("response time", AxisScale::Linear { from: 0.0, to }, linear_time_ticks(to, 6))
}

fn draw_points(svg: &mut Svg, frame: &Frame, points: &[Point], runs: &[f64], look: SeriesStyle) {
    let bar = |(point, run): (&Point, &f64)| ends(point).map(|end| (frame.x(*run), frame.y(end))).to_vec();
    let dot = |(point, run): (&Point, &f64)| vec![(frame.x(*run), frame.y(point.value.exp()))];
    svg.series(&points.iter().zip(runs).map(bar).collect::<Vec<_>>(), look, 1.5);
    svg.series(&points.iter().zip(runs).map(dot).collect::<Vec<_>>(), look, 7.0);
}

fn draw_levels(svg: &mut Svg, frame: &Frame, found: &PercentileHistory, runs: &[f64]) {
    let line = |level: &Level| {
        let y = frame.y(level.value.exp());
        let of_level = &runs[level.points.clone()];
        let ends = of_level.first().zip(of_level.last());
        ends.map_or(Vec::new(), |(first, last)| vec![(frame.x(first - 0.4), y), (frame.x(last + 0.4), y)])
    };
    svg.series(&found.levels.iter().map(line).collect::<Vec<_>>(), LEVEL, 2.5);
}

/// Writes the size of each change above its place.
fn draw_changes(svg: &mut Svg, frame: &Frame, found: &PercentileHistory) {
    for change in &found.changes {
        let x = frame.x((change.before + change.after) as f64 / 2.0 + 1.0);
        let text = format!("{:+.1} %", (change.ratio - 1.0) * 100.0);
        let is_right = x > frame.inner.x + frame.inner.width / 2.0;
        let (anchor, gap) = if is_right { (Anchor::End, -6.0) } else { (Anchor::Start, 6.0) };
        svg.line(&[(x, frame.inner.y), (x, frame.bottom())], Stroke { color: FAINT_INK, width: 1.0, dashes: "3 4" });
        remark(svg, x + gap, frame.inner.y + 14.0, &text, anchor);
    }
}

#[cfg(test)]
mod tests {
    use truetail_analysis::history::{Change, HistoryFigure, Member, levels as levels_of};

    use super::*;

    /// Returns six runs at 10 ms and six at `after`, with an interval of ±2 %.
    fn series(after: f64) -> (History, PercentileHistory) {
        let value = |at: usize| if at < 6 { 1e7f64.ln() } else { after.ln() };
        let point = |at: usize| Point { value: value(at), without_generator: value(at), error: 0.01 };
        let points: Vec<Point> = (0..12).map(point).collect();
        let change =
            Change { before: 5, after: 6, before_ns: 1e7, after_ns: after, ratio: after / 1e7, low: 1.1, high: 1.3 };
        let member = |at| Member { folder: format!("{at}"), commit: None, left_out: None };
        let found = PercentileHistory {
            figure: HistoryFigure::ResponseTime(0.99),
            runs: (0..12).collect(),
            levels: levels_of(&points),
            points,
            changes: vec![change],
            smallest_shown: 0.03,
        };
        (History { runs: (0..12).map(member).collect(), percentiles: vec![found.clone()] }, found)
    }

    #[test]
    fn each_run_is_read_with_its_value_and_its_level() {
        let (all, found) = series(1.2e7);
        assert_eq!(found.levels.len(), 2, "{:?}", found.levels);
        let starts: Vec<String> = (1..=12).map(|day| format!("2026-01-{day:02} | x")).collect();
        let picture = history(&all, &found, &starts);
        assert!(picture.svg().contains("+20.0 %") && picture.svg().contains("p99 of each run"), "{}", picture.svg());
        let reading = serde_json::to_value(picture.reading().expect("a reading")).expect("JSON");
        let split = |joined: &serde_json::Value| {
            joined.as_str().expect("a text").split('|').map(str::to_owned).collect::<Vec<_>>()
        };
        let texts = split(&reading["axis"]["texts"]);
        assert_eq!((texts.len(), texts[0].as_str()), (12, "2026-01-01 ¦ x"));
        for (layer, name) in [(0, "level"), (1, "p99")] {
            let layer = &reading["panels"][0]["layers"][layer];
            let texts = split(&layer["texts"]);
            assert_eq!(
                (layer["name"].as_str(), texts[0].as_str(), texts[11].as_str()),
                (Some(name), "10.00ms", "12.00ms")
            );
        }
    }

    #[test]
    fn values_far_apart_have_a_logarithmic_axis() {
        let axis = |after| value_axis(&series(after).1.points).scale;
        assert!(matches!(axis(1.2e7), AxisScale::Linear { from: 0.0, to } if to > 1.2e7 && to < 2e7));
        assert!(matches!(axis(2e8), AxisScale::Log { .. }));
    }
}
