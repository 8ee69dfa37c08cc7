//! Requests that a closed loop sent, and those that it never sent.

use truetail_analysis::never_sent::{RequestMark, RequestTimeline, TimelineRow};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::over_time::Shades;
use super::picture::Picture;
use super::reading::{LayerReading, PanelReading, ReadingAxis, levels};
use super::scale::{AxisScale, Quantity, linear_ticks, second_levels};
use super::sheet::{Layer, Sheet, Swatch, time_axis};
use super::svg::Svg;
use crate::number;

const TITLE: &str = "Requests that were never sent";
const DOT: f64 = 5.0;

/// Draws each request of a closed loop by its due time and response time, and in another colour the requests that it
/// never sent. `stalls` are shaded: (from, to) in seconds.
pub fn never_sent(timeline: &RequestTimeline, stalls: &[(f64, f64)]) -> Picture {
    let marks = || timeline.sent.iter().chain(&timeline.never_sent);
    if marks().next().is_none() {
        return Sheet::nothing(TITLE, "No request was due in this time.");
    }
    let within = stalls.iter().map(|(from, to)| (from.max(timeline.from_s), to.min(timeline.to_s)));
    let stalls = Shades { name: "the server stalls", look: SeriesStyle::ServerPause, spans: within.collect() };
    let legend = [
        ("sent by the closed loop".to_owned(), Swatch::Block(SeriesStyle::Closed, 1.0)),
        ("never sent".to_owned(), Swatch::Block(SeriesStyle::Response, 1.0)),
        stalls.entry(),
    ];
    let mut sheet = Sheet::new(TITLE, "", HEIGHT * 0.75, &legend);
    let times = || marks().map(|(_, ns, _)| (*ns).max(1) as f64);
    let y = time_axis("response time", times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let scale = AxisScale::Linear { from: timeline.from_s, to: timeline.to_s };
    let x = Axis::new("due, seconds since the start", scale, linear_ticks(timeline.from_s, timeline.to_s, 8));
    let frame = Frame::in_area(sheet.area, x, y);
    frame.draw_behind(&mut sheet.svg);
    let counts = |count: fn(&TimelineRow) -> u64| timeline.rows.iter().map(move |row| Some(number::count(count(row))));
    let ghosts = LayerReading::area("never sent", SeriesStyle::Response, counts(|row| row.never_sent));
    let ghosts = Layer::new(ghosts, |svg, frame| {
        draw_marks(svg, frame, &timeline.never_sent, SeriesStyle::Response);
    });
    let sent = LayerReading::area("sent by the closed loop", SeriesStyle::Closed, counts(|row| row.sent));
    let sent = Layer::new(sent, |svg, frame| draw_marks(svg, frame, &timeline.sent, SeriesStyle::Closed));
    let reading = PanelReading::new("Response time", frame.y_scale(), Quantity::LogTimes);
    sheet.panel(&frame, reading, vec![stalls.layer(None), ghosts, sent]);
    frame.draw_base(&mut sheet.svg);
    sheet.finish_readable(axis(timeline, scale))
}

fn axis(timeline: &RequestTimeline, scale: AxisScale) -> ReadingAxis {
    let length = (timeline.to_s - timeline.from_s) / timeline.rows.len().max(1) as f64;
    let stops: Vec<f64> = timeline.rows.iter().map(|row| row.from_s + length / 2.0).collect();
    let text = |row: &TimelineRow| format!("{:.3}…{:.3}s: {} planned", row.from_s, row.from_s + length, row.planned);
    let ticks = levels(scale, second_levels(timeline.from_s, timeline.to_s, length / 50.0));
    let axis = ReadingAxis::new(scale, &stops, timeline.rows.iter().map(text));
    ReadingAxis { key: "requests", name: "time since the start", ticks, ..axis }
}

/// Draws answered requests as dots. Those without an answer are large and faint.
fn draw_marks(svg: &mut Svg, frame: &Frame, marks: &[RequestMark], look: SeriesStyle) {
    for (is_answered, size) in [(true, DOT), (false, 2.0 * DOT)] {
        let dots = marks.iter().filter(|(.., answered)| *answered == is_answered);
        let dots: Vec<_> = dots.map(|(at, ns, _)| vec![(frame.x(*at), frame.y((*ns).max(1) as f64))]).collect();
        svg.series(&dots, look, size);
    }
}
