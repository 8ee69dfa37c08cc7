//! A few streams in full, one below the other.

use truetail_analysis::series::{SampleReason, StreamSeries};
use truetail_run::{EventMark, SampledStream, StreamEnding};

use super::frame::{Axis, Frame};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::scale::{AxisScale, linear_time_ticks};
use super::sheet::{Sheet, Swatch, heading, legend_height, remark};
use super::svg::{Anchor, Rect, Svg};
use super::text_width;
use crate::number;

const TITLE: &str = "A few streams, event by event";
pub(super) const AROUND: f64 = 156.0;
pub(super) const ROW: f64 = 46.0;
/// Room for the texts left and right of the rows.
const LEFT: f64 = 168.0;
const RIGHT: f64 = 130.0;
/// Height of a bar of waiting, and of a mark of an event.
const BAR: f64 = 10.0;
const MARK: f64 = 26.0;
/// Lowest distance of two marks that can be told apart, in units of the picture.
const NARROWEST: f64 = 1.5;

/// Draws streams from their intended starts: waits before sending, waits for the first event, events, and stalls.
pub fn waterfall(series: &StreamSeries) -> Picture {
    if series.sampled.is_empty() {
        return Sheet::nothing(TITLE, "No stream was kept in full.");
    }
    let longest = series.sampled.iter().map(|shown| shown.stream.length_ns()).max().unwrap_or(1).max(1) as f64;
    let legend = legend(series);
    let height = AROUND + legend_height(&legend) + series.sampled.len() as f64 * ROW;
    let subtitle =
        "Each begins at its intended start. A stroke is an event, or several that are too close to tell apart.";
    let mut sheet = Sheet::new(TITLE, subtitle, height, &legend);
    let area = sheet.area;
    let frame = draw_frame(&mut sheet, series.sampled.len(), longest, "since the intended start");
    for (n, shown) in series.sampled.iter().enumerate() {
        let row = Rect { y: area.y + n as f64 * ROW, height: ROW, ..area };
        let stream = &shown.stream;
        let ends = [number::time(stream.length_ns()), stream.ending.describe().to_owned()];
        draw_names(&mut sheet.svg, row, (shown.because, stream.intended_start_ns), &ends);
        StreamRow { frame: &frame, stream: &shown.stream, middle: row.y + ROW / 2.0 }
            .draw(&mut sheet.svg, series.stall_ns);
    }
    frame.draw_base(&mut sheet.svg);
    sheet.finish()
}

fn legend(series: &StreamSeries) -> Vec<(String, Swatch)> {
    let streams = || series.sampled.iter().map(|shown| &shown.stream);
    let marks = || streams().flat_map(|stream| &stream.marks);
    let block = |name: &str, look: SeriesStyle, opacity: f64| (name.to_owned(), Swatch::Block(look, opacity));
    let mut legend = vec![
        block("not sent yet", SeriesStyle::Wait, 0.8),
        block("sent, no event yet", SeriesStyle::InFlight, 0.5),
        ("events".to_owned(), Swatch::Line(SeriesStyle::Response)),
    ];
    if marks().any(|mark| mark.coalesced > 0) {
        legend.push(("some of them read together".to_owned(), Swatch::Line(SeriesStyle::Lag)));
    }
    if streams().any(|stream| stalls(stream, series.stall_ns).next().is_some()) {
        legend.push(block("stall", SeriesStyle::Failed, 0.3));
    }
    if streams().any(|stream| stream.ending != StreamEnding::Complete) {
        legend.push(block("nothing came until the end", SeriesStyle::LagMax, 0.45));
    }
    legend
}

/// Draws a frame with `rows` rows, as wide as `longest` nanoseconds.
pub(super) fn draw_frame(sheet: &mut Sheet, rows: usize, longest: f64, label: &str) -> Frame {
    let area = sheet.area;
    let inner = Rect { x: area.x + LEFT, width: area.width - LEFT - RIGHT, height: rows as f64 * ROW, ..area };
    let x = Axis::new(label, AxisScale::Linear { from: 0.0, to: longest }, linear_time_ticks(longest, 8));
    let y = Axis::new("", AxisScale::Linear { from: 0.0, to: 1.0 }, Vec::new());
    let frame = Frame::around(inner, x, y);
    frame.draw_behind(&mut sheet.svg);
    frame.draw_columns(&mut sheet.svg);
    frame
}

/// Draws the reason for the selection and the due time at the left, and the length and the ending at the right.
pub(super) fn draw_names(svg: &mut Svg, row: Rect, (because, due_ns): (SampleReason, u64), ends: &[String; 2]) {
    let why = match because {
        SampleReason::Slowest => "slowest",
        SampleReason::Median => "median of a sample",
        SampleReason::Chance => "by chance",
    };
    let middle = row.y + ROW / 2.0;
    heading(svg, row.x, middle - 3.0, why);
    let due = format!("due at {:.3} s", due_ns as f64 / 1e9);
    remark(svg, row.x, middle + 14.0, &due, Anchor::Start);
    let right = row.x + row.width - RIGHT + 12.0;
    let [length, ending] = ends;
    heading(svg, right, middle - 3.0, length);
    remark(svg, right, middle + 14.0, &text_width::fitted(ending, 14.0, RIGHT - 12.0), Anchor::Start);
}

/// Returns the gaps that are stalls, as pairs of instants; empty if no limit was set.
fn stalls(stream: &SampledStream, stall_ns: Option<u64>) -> impl Iterator<Item = (u64, u64)> + '_ {
    let between = stream.marks.windows(2).map(|pair| (pair[0].to_ns, pair[1].from_ns));
    let open = stream.marks.last().filter(|_| stream.ending != StreamEnding::Complete);
    let all = between.chain(open.map(|last| (last.to_ns, stream.end_ns)));
    all.filter(move |(from, to)| stall_ns.is_some_and(|stall| to.saturating_sub(*from) >= stall))
}

struct StreamRow<'a> {
    frame: &'a Frame,
    stream: &'a SampledStream,
    middle: f64,
}

impl StreamRow<'_> {
    fn draw(&self, svg: &mut Svg, stall_ns: Option<u64>) {
        let stream = self.stream;
        let first = stream.marks.first().map_or(stream.end_ns, |mark| mark.from_ns);
        let sent = stream.actual_start_ns.clamp(stream.intended_start_ns, stream.end_ns);
        for (from, to) in stalls(stream, stall_ns) {
            self.block(svg, (from, to), MARK, SeriesStyle::Failed, 0.22);
        }
        self.block(svg, (stream.intended_start_ns, sent), BAR, SeriesStyle::Wait, 0.8);
        self.block(svg, (sent, first), BAR, SeriesStyle::InFlight, 0.5);
        if let Some(last) = stream.marks.last().filter(|_| stream.ending != StreamEnding::Complete) {
            self.block(svg, (last.to_ns, stream.end_ns), BAR, SeriesStyle::LagMax, 0.45);
        }
        for (look, is_coalesced) in [(SeriesStyle::Response, false), (SeriesStyle::Lag, true)] {
            let marks = || stream.marks.iter().filter(move |mark| (mark.coalesced > 0) == is_coalesced);
            for mark in marks().filter(|mark| self.width(mark) >= NARROWEST) {
                self.block(svg, (mark.from_ns, mark.to_ns), MARK * 0.6, look, 0.6);
            }
            let strokes: Vec<Vec<(f64, f64)>> = marks().map(|mark| self.stroke(mark.from_ns)).collect();
            svg.series(&strokes, look, 1.5);
        }
    }

    /// Returns the place of an instant. Instants after the end, which clocks may produce, are moved to the end.
    fn x(&self, at_ns: u64) -> f64 {
        self.frame.x(at_ns.min(self.stream.end_ns).saturating_sub(self.stream.intended_start_ns) as f64)
    }

    fn width(&self, mark: &EventMark) -> f64 {
        self.x(mark.to_ns) - self.x(mark.from_ns)
    }

    fn stroke(&self, at_ns: u64) -> Vec<(f64, f64)> {
        let x = self.x(at_ns);
        vec![(x, self.middle - MARK / 2.0), (x, self.middle + MARK / 2.0)]
    }

    fn block(&self, svg: &mut Svg, (from_ns, to_ns): (u64, u64), height: f64, look: SeriesStyle, opacity: f64) {
        let x = self.x(from_ns);
        let width = self.x(to_ns) - self.x(from_ns);
        if width >= 0.2 {
            svg.block(Rect { x, y: self.middle - height / 2.0, width, height }, look, opacity);
        }
    }
}
