//! Response time against rate.

use truetail_analysis::figures::quantile_name;
use truetail_analysis::series::RunSeries;

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::picture::Picture;
use super::scale::{AxisScale, linear_ticks};
use super::sheet::{Sheet, Swatch, time_axis};

const TITLE: &str = "Response time against rate";
const QUANTILES: [(f64, SeriesStyle); 4] =
    [(0.5, SeriesStyle::P50), (0.9, SeriesStyle::P90), (0.99, SeriesStyle::P99), (0.999, SeriesStyle::P999)];

/// Draws percentiles of the response time by planned rate, if the rate changed.
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
    let mut sheet = Sheet::new(TITLE, subtitle, HEIGHT * 0.85, &legend);
    let values = || lines.iter().flat_map(|(.., points)| points.iter().map(|(_, value)| *value));
    let y = time_axis("response time", values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let most = bands.iter().map(|band| band.planned_per_s).fold(0.0, f64::max) * 1.05;
    let x = Axis::new(
        "planned requests per second",
        AxisScale::Linear { from: 0.0, to: most },
        linear_ticks(0.0, most, 10),
    );
    let frame = Frame::in_area(sheet.area, x, y);
    frame.draw_behind(&mut sheet.svg);
    for (_, look, points) in &lines {
        let places: Vec<(f64, f64)> = points.iter().map(|(rate, value)| (frame.x(*rate), frame.y(*value))).collect();
        let dots: Vec<Vec<(f64, f64)>> = places.iter().map(|place| vec![*place]).collect();
        sheet.svg.series(&[places], *look, 2.0);
        sheet.svg.series(&dots, *look, 8.0);
    }
    frame.draw_base(&mut sheet.svg);
    sheet.finish()
}
