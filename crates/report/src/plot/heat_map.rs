//! Heat maps of a run: response times, and gaps between events, by time and length.

use std::fmt::Write;

use truetail_analysis::series::{HeatMap, RunSeries, StreamSeries, TimeAxis};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::over_time;
use super::picture::Picture;
use super::scale::{AxisScale, log_time_ticks};
use super::sheet::{Sheet, Swatch, remark};
use super::svg::{Anchor, Rect};
use crate::number;

/// Opacities from one value in a cell to the largest count, in equal ratios.
const SHADES: [f64; 6] = [0.16, 0.3, 0.46, 0.64, 0.82, 1.0];
/// Height of the strip of unanswered arrivals, and of the gap below it.
const STRIP: f64 = 14.0;
const STRIP_GAP: f64 = 6.0;

struct Subject {
    title: &'static str,
    subtitle: &'static str,
    /// Label of the rows.
    axis: &'static str,
    /// Name of the counted thing, singular and plural.
    counted: [&'static str; 2],
    /// Name of the values in the strip above the cells.
    strip: &'static str,
    /// Texts for a run without values by time, and for a run without values.
    nothing: [&'static str; 2],
}

const RESPONSE_TIMES: Subject = Subject {
    title: "Response times over time",
    subtitle: "Each request stands where it should have started. Darker: more requests.",
    axis: "response time",
    counted: ["request", "requests"],
    strip: "no answer",
    nothing: ["Response times by time were not recorded.", "No arrival was answered, so there are no response times."],
};

const EVENT_GAPS: Subject = Subject {
    title: "Gaps between events over time",
    subtitle: "Each gap stands where the event came that ended it. Darker: more gaps.",
    axis: "gap",
    counted: ["gap", "gaps"],
    strip: "not ended",
    nothing: ["Gaps by time were not recorded.", "No two events were read one after the other, so there are no gaps."],
};

/// Draws answers by intended start and response time, darker for more answers. A strip above shows unanswered arrivals.
pub fn heat_map(series: &RunSeries) -> Picture {
    draw(&RESPONSE_TIMES, &series.heat_map, &series.time)
}

/// Draws gaps between events by end and length, darker for more gaps. A strip above shows gaps that no event ended.
pub fn event_gaps(series: &StreamSeries) -> Picture {
    let map = &series.gaps;
    match open(map) {
        open if open > 0 && map.rows == 0 && !map.cells.is_empty() => {
            Sheet::nothing(EVENT_GAPS.title, &only_open(open))
        }
        _ => draw(&EVENT_GAPS, map, &series.time),
    }
}

fn only_open(open: u64) -> String {
    match open {
        1 => "1 gap began, and no event ended it.".to_owned(),
        _ => format!("{} gaps began, and no event ended them.", number::count(open)),
    }
}

/// Returns the sum of the strip above the cells.
fn open(map: &HeatMap) -> u64 {
    map.unanswered.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
}

fn draw(subject: &Subject, map: &HeatMap, time: &TimeAxis) -> Picture {
    let Subject { title, subtitle, nothing: [not_recorded, none], .. } = *subject;
    if map.cells.is_empty() {
        return Sheet::nothing(title, not_recorded);
    }
    if map.rows == 0 {
        return Sheet::nothing(title, none);
    }
    let unanswered = open(map);
    let mut sheet = Sheet::new(title, subtitle, HEIGHT, &legend(subject, map, unanswered));
    let strip = (unanswered > 0).then(|| sheet.take(STRIP + STRIP_GAP));
    let frame = Frame::in_area(sheet.area, over_time::axis(time), times(subject, map));
    frame.draw_behind(&mut sheet.svg);
    let area = cells_area(&frame, map, time);
    for (level, path) in paths(map, time).iter().enumerate() {
        sheet.svg.cells(path, area, (time.columns as f64, map.rows as f64), SeriesStyle::Response, SHADES[level]);
    }
    if let Some(strip) = strip {
        let strip = Rect { x: area.x, width: area.width, height: STRIP, ..strip };
        for (level, path) in strip_paths(map, time).iter().enumerate() {
            sheet.svg.cells(path, strip, (time.columns as f64, 1.0), SeriesStyle::Failed, SHADES[level]);
        }
        remark(&mut sheet.svg, strip.x - 10.0, strip.y + 11.5, subject.strip, Anchor::End);
    }
    frame.draw_base(&mut sheet.svg);
    sheet.finish()
}

fn legend(subject: &Subject, map: &HeatMap, unanswered: u64) -> Vec<(String, Swatch)> {
    let cell = |text: String, opacity: f64| (text, Swatch::Block(SeriesStyle::Response, opacity));
    let [one, many] = subject.counted;
    let mut legend = vec![cell(format!("1 {one}"), SHADES[0])];
    if map.largest > 1 {
        legend.push(cell(format!("{} {many}", number::count(map.largest)), 1.0));
    }
    if unanswered > 0 {
        let text = format!("{} ({})", subject.strip, number::count(unanswered));
        legend.push((text, Swatch::Block(SeriesStyle::Failed, 1.0)));
    }
    legend
}

/// Returns the axis of times: the range of the rows, and at least a factor of ten.
fn times(subject: &Subject, map: &HeatMap) -> Axis {
    let low = map.lowest_ns;
    let high = map.lowest_ns * libm::pow(map.row_factor, map.rows as f64);
    let room = libm::sqrt((10.0 / (high / low)).max(1.0));
    let from = low / room;
    let to = high * room;
    Axis::new(subject.axis, AxisScale::Log { from, to }, log_time_ticks(from, to))
}

/// Returns the area of the cells, as wide as if all columns were whole.
fn cells_area(frame: &Frame, map: &HeatMap, time: &TimeAxis) -> Rect {
    let top = frame.y(map.lowest_ns * libm::pow(map.row_factor, map.rows as f64));
    let length = time.columns as f64 * time.column_s;
    let width = frame.inner.width * length / (time.to_s - time.from_s);
    Rect { x: frame.inner.x, y: top, width, height: frame.y(map.lowest_ns) - top }
}

fn level(count: u64, largest: u64) -> usize {
    let share = if largest > 1 { libm::log(count as f64) / libm::log(largest as f64) } else { 1.0 };
    ((share * SHADES.len() as f64) as usize).min(SHADES.len() - 1)
}

/// Returns one path for each shade: cells as horizontal dashes, row by row.
fn paths(map: &HeatMap, time: &TimeAxis) -> Vec<String> {
    let mut rows: Vec<Vec<(usize, usize)>> = vec![Vec::new(); map.rows];
    for (column, cells) in map.cells.iter().enumerate() {
        for (row, count) in cells {
            rows[usize::from(*row)].push((column, level(*count, map.largest)));
        }
    }
    dashes(&rows, time)
}

fn strip_paths(map: &HeatMap, time: &TimeAxis) -> Vec<String> {
    let most = map.unanswered.iter().copied().max().unwrap_or(0);
    let cells = map.unanswered.iter().enumerate().filter(|(_, count)| **count > 0);
    dashes(&[cells.map(|(column, count)| (column, level(*count, most))).collect()], time)
}

/// Returns one path per shade through all rows. Adjacent cells are one dash. `rows` hold (column, shade), ascending.
fn dashes(rows: &[Vec<(usize, usize)>], time: &TimeAxis) -> Vec<String> {
    let mut paths = vec![Dashes::default(); SHADES.len()];
    for (row, cells) in rows.iter().enumerate() {
        for run in cells.chunk_by(|one, next| one.1 == next.1 && one.0 + 1 == next.0) {
            paths[run[0].1].add(row, run[0].0, run.len(), time);
        }
    }
    paths.into_iter().map(|dashes| dashes.path).collect()
}

/// A path of dashes, each in the middle of its row. It moves in whole columns and rows, except for the last column.
#[derive(Clone, Default)]
struct Dashes {
    path: String,
    at: (f64, usize),
}

impl Dashes {
    fn add(&mut self, row: usize, column: usize, columns: usize, time: &TimeAxis) {
        if self.path.is_empty() {
            self.path.push_str("M0 .5");
        }
        let ends = column + columns == time.columns;
        let last =
            if ends { (time.end_s(time.columns - 1) - time.from_s) / time.column_s - time.columns as f64 } else { 0.0 };
        let length = (columns as f64 + (last * 100.0).round() / 100.0).max(0.01);
        let right = ((column as f64 - self.at.0) * 100.0).round() / 100.0;
        let up = row - self.at.1;
        write!(self.path, "m{right} {up}h{length}").expect("a String takes everything");
        self.at = (column as f64 + length, row);
    }
}
