//! Response time against rate.

use truetail_analysis::series::{RateBand, RunSeries};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::picture::Picture;
use super::reading::{LayerReading, PanelReading, ReadingAxis, levels};
use super::scale::{AxisScale, Quantity, linear_ticks};
use super::sheet::{Layer, Sheet, Swatch, heading, time_axis};
use super::svg::{Rect, Svg};
use crate::number::{self, quantile_name};

const TITLE: &str = "Response time against rate";
const QUANTILES: [(f64, SeriesStyle); 4] =
    [(0.5, SeriesStyle::P50), (0.9, SeriesStyle::P90), (0.99, SeriesStyle::P99), (0.999, SeriesStyle::P999)];

/// Room for the texts of the vertical axes and of the horizontal one, and for the heading of the lower panel.
const LEFT: f64 = 100.0;
const BELOW: f64 = 50.0;
const HEADING: f64 = 26.0;

/// Draws percentiles of the response time, and the rate of answers, by planned rate, if the rate changed.
pub fn by_rate(series: &RunSeries) -> Picture {
    let bands = &series.by_rate;
    let line = |(q, look): (f64, SeriesStyle)| {
        let value = |quantiles: &[(f64, u64)]| quantiles.iter().find(|(known, _)| *known == q).map(|(_, value)| *value);
        let points = bands.iter().filter_map(|band| Some((band.planned_per_s, value(&band.quantiles)?.max(1) as f64)));
        (q, look, points.collect::<Vec<(f64, f64)>>())
    };
    let lines: Vec<_> = QUANTILES.into_iter().map(line).filter(|(.., points)| !points.is_empty()).collect();
    if bands.is_empty() {
        return Sheet::nothing(TITLE, "The planned rate did not move, so there is nothing to set against it.");
    }
    if lines.is_empty() {
        return Sheet::nothing(TITLE, "Too few answers at any rate for a percentile.");
    }
    let legend: Vec<(String, Swatch)> =
        lines.iter().map(|(q, look, _)| (quantile_name(*q), Swatch::Line(*look))).collect();
    let subtitle = "Each point holds the requests that were planned while the rate was about that.";
    let mut sheet = Sheet::new(TITLE, subtitle, HEIGHT, &legend);
    let most = bands.iter().map(|band| band.planned_per_s).fold(0.0, f64::max) * 1.05;
    let scale = AxisScale::Linear { from: 0.0, to: most };
    let upper = sheet.take(sheet.area.height * 0.58);
    draw_times(&mut sheet, upper, scale, bands, &lines);
    let answers = Rect { y: sheet.area.y + HEADING, height: sheet.area.height - HEADING, ..sheet.area };
    heading(&mut sheet.svg, answers.x, sheet.area.y + 12.0, "Answers per second");
    draw_answers(&mut sheet, answers, scale, bands);
    let stops: Vec<f64> = bands.iter().map(|band| band.planned_per_s).collect();
    let texts = bands.iter().map(|band| format!("{} planned", number::rate(band.planned_per_s)));
    let ticks = levels(scale, Quantity::Numbers.levels(scale));
    let axis = ReadingAxis::new(scale, &stops, texts);
    sheet.finish_readable(ReadingAxis { key: "rate", name: "planned rate", ticks, ..axis })
}

type RateOf = fn(&RateBand) -> f64;

/// A line of a quantile: its points are (planned rate, value in ns).
type QuantileLine = (f64, SeriesStyle, Vec<(f64, f64)>);

fn draw_times(sheet: &mut Sheet, area: Rect, scale: AxisScale, bands: &[RateBand], lines: &[QuantileLine]) {
    let values = || lines.iter().flat_map(|(.., points)| points.iter().map(|(_, value)| *value));
    let y = time_axis("response time", values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let frame = Frame::around(inner(area), Axis::new("", scale, Vec::new()), y);
    frame.draw_behind(&mut sheet.svg);
    let layers = lines.iter().map(|(q, look, points)| {
        let value = |quantiles: &[(f64, u64)]| quantiles.iter().find(|(known, _)| known == q).map(|(_, value)| *value);
        let texts = bands.iter().map(|band| value(&band.quantiles).map(number::time));
        Layer::new(LayerReading::line(&quantile_name(*q), *look, texts), |svg, frame| {
            draw_points(svg, frame, points, *look);
        })
    });
    sheet.panel(&frame, PanelReading::new("Response time", frame.y_scale(), Quantity::LogTimes), layers.collect());
    frame.draw_base(&mut sheet.svg);
}

fn draw_answers(sheet: &mut Sheet, area: Rect, scale: AxisScale, bands: &[RateBand]) {
    let rates: [(&str, SeriesStyle, RateOf); 2] = [
        ("planned", SeriesStyle::Planned, |band| band.planned_per_s),
        ("completed", SeriesStyle::Completed, |band| band.completed_per_s),
    ];
    let most = bands.iter().flat_map(|band| rates.map(|(.., rate)| rate(band))).fold(0.0, f64::max) * 1.08;
    let AxisScale::Linear { to, .. } = scale else { return };
    let x = Axis::new("planned requests per second", scale, linear_ticks(0.0, to, 10));
    let y = Axis::new("", AxisScale::Linear { from: 0.0, to: most }, linear_ticks(0.0, most, 4));
    let below = Rect { height: area.height - BELOW, ..area };
    let frame = Frame::around(inner(below), x, y);
    frame.draw_behind(&mut sheet.svg);
    let layers = rates.iter().map(|(name, look, rate)| {
        let texts = bands.iter().map(|band| Some(number::rate(rate(band))));
        Layer::new(LayerReading::line(name, *look, texts), |svg, frame| {
            let points: Vec<_> = bands.iter().map(|band| (band.planned_per_s, rate(band))).collect();
            draw_points(svg, frame, &points, *look);
        })
    });
    sheet.panel(&frame, PanelReading::new("Answers per second", frame.y_scale(), Quantity::Numbers), layers.collect());
    frame.draw_base(&mut sheet.svg);
}

fn inner(area: Rect) -> Rect {
    Rect { x: area.x + LEFT, width: area.width - LEFT - 10.0, ..area }
}

fn draw_points(svg: &mut Svg, frame: &Frame, points: &[(f64, f64)], look: SeriesStyle) {
    let places: Vec<(f64, f64)> = points.iter().map(|(rate, value)| (frame.x(*rate), frame.y(*value))).collect();
    let dots: Vec<Vec<(f64, f64)>> = places.iter().map(|place| vec![*place]).collect();
    svg.series(&[places], look, 2.0);
    svg.series(&dots, look, 8.0);
}
