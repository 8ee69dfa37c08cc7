//! Start delay of requests, by cause.

use truetail_analysis::series::RunSeries;

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::over_time;
use super::picture::Picture;
use super::reading::{LayerReading, PanelReading};
use super::scale::{AxisScale, Quantity, linear_time_ticks};
use super::sheet::{Layer, Sheet, Swatch};
use crate::number;

const TITLE: &str = "Start delay by owner";
const OPACITY: f64 = 0.75;

/// Draws the mean start delay over time, with the causes stacked.
pub fn start_delay(series: &RunSeries) -> Picture {
    let delay = &series.start_delay;
    let layers = [
        ("connecting", SeriesStyle::Connect, &delay.connect_ns),
        ("waiting for a connection", SeriesStyle::Wait, &delay.connection_wait_ns),
        ("generator lag", SeriesStyle::Lag, &delay.generator_lag_ns),
    ];
    let columns = delay.generator_lag_ns.len();
    let mut tops = vec![vec![0.0; columns]];
    for (_, _, values) in &layers {
        let below = tops.last().expect("never empty");
        let top = below.iter().zip(values.iter()).map(|(below, value)| below + value.unwrap_or(0) as f64).collect();
        tops.push(top);
    }
    let most = tops.last().into_iter().flatten().copied().fold(0.0, f64::max);
    if columns == 0 || delay.generator_lag_ns.iter().all(Option::is_none) {
        return Sheet::nothing(TITLE, "No request was sent, or start delays were not recorded by time.");
    }
    if most <= 0.0 {
        return Sheet::nothing(TITLE, "Every request started exactly when it was planned.");
    }
    let used: Vec<bool> = layers.iter().map(|(_, _, values)| values.iter().flatten().any(|value| *value > 0)).collect();
    let shown = layers.iter().zip(&used).filter(|(_, used)| **used);
    let legend: Vec<(String, Swatch)> =
        shown.map(|((name, look, _), _)| ((*name).to_owned(), Swatch::Block(*look, OPACITY))).collect();
    let subtitle = "Mean time from the intended to the actual start of requests, by intended start.";
    let mut sheet = Sheet::new(TITLE, subtitle, HEIGHT * 0.75, &legend);
    let to = most * 1.08;
    let y = Axis::new("start delay", AxisScale::Linear { from: 0.0, to }, linear_time_ticks(to, 5));
    let frame = Frame::in_area(sheet.area, over_time::axis(&series.time), y);
    frame.draw_behind(&mut sheet.svg);
    let shown = layers.iter().enumerate().filter(|(i, _)| used[*i]).map(|(i, (name, look, values))| {
        let texts = values.iter().map(|value| value.map(number::time));
        let above = &tops[i + 1];
        let below = &tops[i];
        Layer::new(LayerReading::area(name, *look, texts), move |svg, frame| {
            let edge = |values: &[f64]| -> Vec<(f64, f64)> {
                // Each column is drawn from edge to edge, so the first and the last column reach the frame.
                let sides = |i: usize| [series.time.begin_s(i), series.time.end_s(i)];
                (0..columns).flat_map(|i| sides(i).map(|x| (frame.x(x), frame.y(values[i])))).collect()
            };
            let outline: Vec<(f64, f64)> = edge(above).into_iter().chain(edge(below).into_iter().rev()).collect();
            svg.area(&outline, *look, OPACITY);
        })
    });
    let reading = PanelReading::new("Mean start delay", frame.y_scale(), Quantity::Times);
    let shades = over_time::shades(&series.time, &series.pauses);
    sheet.panel(&frame, reading, shades.iter().map(|shades| shades.layer(None)).chain(shown).collect());
    frame.draw_base(&mut sheet.svg);
    sheet.finish_readable(over_time::reading("time", &series.time))
}
