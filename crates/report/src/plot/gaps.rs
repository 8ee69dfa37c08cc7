//! Gaps between sends, compared with the planned gaps.

use truetail_analysis::series::{GapSeries, RunSeries};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::picture::Picture;
use super::reading::{LayerReading, PanelReading, ReadingAxis, levels};
use super::scale::{AxisScale, Quantity, log_time_ticks, percent_ticks};
use super::sheet::{Layer, Sheet, Swatch};
use crate::number;

const TITLE: &str = "Gaps between requests";
const OPACITY: f64 = 0.3;

/// Draws the lengths of gaps between consecutive requests, with the planned gaps.
pub fn gaps(series: &RunSeries) -> Picture {
    let Some(gaps) = &series.gaps else {
        return Sheet::nothing(TITLE, "Gaps need every single request, and at least 100 of them.");
    };
    let legend = [
        ("planned".to_owned(), Swatch::Block(SeriesStyle::Planned, OPACITY)),
        ("sent".to_owned(), Swatch::Line(SeriesStyle::Sent)),
    ];
    let subtitle = "Share of the gaps between one request and the next, by length.";
    let mut sheet = Sheet::new(TITLE, subtitle, HEIGHT * 0.75, &legend);
    let most = gaps.planned.iter().chain(&gaps.sent).copied().fold(0.0, f64::max) * 100.0;
    let to = most * 1.08;
    let y = Axis::new("share of gaps", AxisScale::Linear { from: 0.0, to }, percent_ticks(to, 5));
    let frame = Frame::in_area(sheet.area, lengths(gaps), y);
    frame.draw_behind(&mut sheet.svg);
    let texts = |shares: &[f64]| shares.iter().map(|part| Some(number::share(*part))).collect::<Vec<_>>();
    let planned = LayerReading::area("planned", SeriesStyle::Planned, texts(&gaps.planned).into_iter());
    let planned = Layer::new(planned, |svg, frame| {
        let foot = frame.y(0.0);
        let planned = outline(gaps, &gaps.planned, frame);
        let from = planned.first().map_or(0.0, |point| point.0);
        let to = planned.last().map_or(0.0, |point| point.0);
        let closed: Vec<(f64, f64)> = planned.into_iter().chain([(to, foot), (from, foot)]).collect();
        svg.area(&closed, SeriesStyle::Planned, OPACITY);
    });
    let sent = LayerReading::line("sent", SeriesStyle::Sent, texts(&gaps.sent).into_iter());
    let sent = Layer::new(sent, |svg, frame| svg.series(&[outline(gaps, &gaps.sent, frame)], SeriesStyle::Sent, 2.0));
    let reading = PanelReading::new("Share of the gaps", frame.y_scale(), Quantity::Percents);
    sheet.panel(&frame, reading, vec![planned, sent]);
    frame.draw_base(&mut sheet.svg);
    sheet.finish_readable(axis(gaps, &frame))
}

fn axis(gaps: &GapSeries, frame: &Frame) -> ReadingAxis {
    let scale = frame.x_scale();
    let bins = 0..gaps.planned.len();
    let stops: Vec<f64> = bins.clone().map(|bin| libm::sqrt(edge(gaps, bin) * edge(gaps, bin + 1))).collect();
    let whole = |bin: usize| Some(edge(gaps, bin).round() as u64);
    let texts = bins.map(|bin| number::time_range(whole(bin), whole(bin + 1)));
    let ticks = levels(scale, Quantity::LogTimes.levels(scale));
    let name = "gap between two requests";
    ReadingAxis { key: "gap", name, at: "gaps of", ticks, ..ReadingAxis::new(scale, &stops, texts) }
}

fn edge(gaps: &GapSeries, bin: usize) -> f64 {
    gaps.lowest_ns * libm::pow(gaps.bin_factor, bin as f64)
}

/// Returns the axis of gap lengths. It covers the bins, and is widened to a factor of ten if they cover less.
fn lengths(gaps: &GapSeries) -> Axis {
    let low = edge(gaps, 0);
    let high = edge(gaps, gaps.planned.len());
    let room = libm::sqrt((10.0 / (high / low)).max(1.0));
    let from = low / room;
    let to = high * room;
    Axis::new("gap", AxisScale::Log { from, to }, log_time_ticks(from, to))
}

fn outline(gaps: &GapSeries, shares: &[f64], frame: &Frame) -> Vec<(f64, f64)> {
    let sides = |(bin, share): (usize, &f64)| {
        [edge(gaps, bin), edge(gaps, bin + 1)].map(|at| (frame.x(at), frame.y(share * 100.0)))
    };
    shares.iter().enumerate().flat_map(sides).collect()
}
