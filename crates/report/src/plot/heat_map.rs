//! Heat maps of a run: response times, and gaps between events, by time and length.

use std::fmt::Write;

use truetail_analysis::series::{HeatMap, PauseSpan, RunSeries, StreamSeries, TimeAxis};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::SeriesStyle;
use super::over_time::{self, Shades};
use super::picture::Picture;
use super::reading::{LayerReading, PanelReading, rounded};
use super::scale::{AxisScale, Quantity, log_time_ticks};
use super::sheet::{Layer, Sheet, Swatch, remark};
use super::svg::{Anchor, Rect};
use crate::number;

/// Number of shades. The lightest is for one value in a cell, the darkest for the largest count. Equal steps of shade
/// are equal ratios of counts.
const SHADES: usize = SeriesStyle::HEAT_SHADES;
/// Height of the strip of unanswered arrivals, and of the gap below it.
const STRIP: f64 = 14.0;
const STRIP_GAP: f64 = 6.0;
/// Height of the marks of pauses.
const FOOT: f64 = 6.0;

struct Subject {
    /// Pictures with the same key share their cursor.
    key: &'static str,
    /// Heading above the values at the cursor.
    heading: &'static str,
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
    key: "time",
    heading: "Response time",
    title: "Response times over time",
    subtitle: "Each request stands where it should have started. Darker: more requests.",
    axis: "response time",
    counted: ["request", "requests"],
    strip: "no answer",
    nothing: ["Response times by time were not recorded.", "No arrival was answered, so there are no response times."],
};

const EVENT_GAPS: Subject = Subject {
    key: "time of streams",
    heading: "Gap between events",
    title: "Gaps between events over time",
    subtitle: "Each gap stands where the event came that ended it. Darker: more gaps.",
    axis: "gap",
    counted: ["gap", "gaps"],
    strip: "not ended",
    nothing: ["Gaps by time were not recorded.", "No two events were read one after the other, so there are no gaps."],
};

/// Draws answers by intended start and response time, darker for more answers. A strip above shows unanswered arrivals.
pub fn heat_map(series: &RunSeries) -> Picture {
    draw(&RESPONSE_TIMES, &series.heat_map, &series.time, &over_time::shades(&series.time, &series.pauses))
}

/// Draws gaps between events by end and length, darker for more gaps. A strip above shows gaps that no event ended.
pub fn event_gaps(series: &StreamSeries, pauses: &[PauseSpan]) -> Picture {
    let map = &series.gaps;
    match open(map) {
        open if open > 0 && map.rows == 0 && !map.cells.is_empty() => {
            Sheet::nothing(EVENT_GAPS.title, &only_open(open))
        }
        _ => draw(&EVENT_GAPS, map, &series.time, &over_time::shades(&series.time, pauses)),
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

fn draw(subject: &Subject, map: &HeatMap, time: &TimeAxis, shades: &[Shades]) -> Picture {
    let Subject { title, subtitle, nothing: [not_recorded, none], .. } = *subject;
    if map.cells.is_empty() {
        return Sheet::nothing(title, not_recorded);
    }
    if map.rows == 0 {
        return Sheet::nothing(title, none);
    }
    let unanswered = open(map);
    let mut legend = legend(subject, map, unanswered);
    legend.extend(shades.iter().map(Shades::entry));
    let mut sheet = Sheet::new(title, subtitle, HEIGHT, &legend);
    let room = if unanswered > 0 { STRIP + STRIP_GAP } else { 0.0 };
    let frame = Frame::in_area(sheet.area, over_time::axis(time), times(subject, map, room / sheet.area.height));
    frame.draw_behind(&mut sheet.svg);
    let area = cells_area(&frame, map, time);
    let strip = Rect { y: frame.inner.y, height: STRIP, ..area };
    let mut reading = PanelReading::new(subject.heading, frame.y_scale(), Quantity::LogTimes);
    let place = |ns: f64| rounded(frame.y_scale().place(ns));
    let rows = (0..map.rows).map(|row| row_text(map, row, row)).collect();
    reading.set_cells((place(edge(map, 0)), place(edge(map, map.rows))), rows, map);
    let texts = map.cells.iter().map(|cells| Some(column_text(map, cells)));
    let cells = LayerReading::area(subject.counted[1], SeriesStyle::Heat(SHADES / 2), texts);
    let mut layers = vec![Layer::new(cells, |svg, _| {
        for (level, path) in paths(map, time).iter().enumerate() {
            svg.cells(path, area, (time.columns as f64, map.rows as f64), SeriesStyle::Heat(level), 1.0);
        }
    })];
    if unanswered > 0 {
        let texts = map.unanswered.iter().map(|n| Some(number::count(*n)));
        layers.push(Layer::new(LayerReading::area(subject.strip, SeriesStyle::Failed, texts), |svg, _| {
            for (level, path) in strip_paths(map, time).iter().enumerate() {
                svg.cells(
                    path,
                    strip,
                    (time.columns as f64, 1.0),
                    SeriesStyle::Failed,
                    (level + 1) as f64 / SHADES as f64,
                );
            }
        }));
    }
    // Only along the foot, because above it the colours mean counts.
    layers.extend(shades.iter().map(|shades| shades.layer(Some(FOOT))));
    sheet.panel(&frame, reading, layers);
    if unanswered > 0 {
        remark(&mut sheet.svg, strip.x - 10.0, strip.y + 11.5, subject.strip, Anchor::End);
    }
    frame.draw_base(&mut sheet.svg);
    sheet.finish_readable(over_time::reading(subject.key, time))
}

fn edge(map: &HeatMap, row: usize) -> f64 {
    map.lowest_ns * libm::pow(map.row_factor, row as f64)
}

/// Formats the times from the lower edge of row `first` to the upper edge of row `last`.
fn row_text(map: &HeatMap, first: usize, last: usize) -> String {
    let whole = |ns: f64| Some(ns.round() as u64);
    number::time_range(whole(edge(map, first)), whole(edge(map, last + 1)))
}

/// Formats the number of values of a column, and their range.
fn column_text(map: &HeatMap, cells: &[(u16, u64)]) -> String {
    let (Some((first, _)), Some((last, _))) = (cells.first(), cells.last()) else { return "0".to_owned() };
    let sum = cells.iter().fold(0, |sum: u64, (_, n)| sum.saturating_add(*n));
    format!("{} in {}", number::count(sum), row_text(map, usize::from(*first), usize::from(*last)))
}

fn legend(subject: &Subject, map: &HeatMap, unanswered: u64) -> Vec<(String, Swatch)> {
    let cell = |text: String, shade: usize| (text, Swatch::Block(SeriesStyle::Heat(shade), 1.0));
    let [one, many] = subject.counted;
    let mut legend = vec![cell(format!("1 {one}"), 0)];
    if map.largest > 1 {
        legend.push(cell(format!("{} {many}", number::count(map.largest)), SHADES - 1));
    }
    if unanswered > 0 {
        let text = format!("{} ({})", subject.strip, number::count(unanswered));
        legend.push((text, Swatch::Block(SeriesStyle::Failed, 1.0)));
    }
    legend
}

/// Returns the axis of times. It covers the rows, and at least a factor of ten. The share `above` of its length is room
/// above the rows.
fn times(subject: &Subject, map: &HeatMap, above: f64) -> Axis {
    let low = edge(map, 0);
    let high = edge(map, map.rows);
    // Also room below the cells for the marks of pauses.
    let room = libm::sqrt(10.0 / (high / low)).max(libm::pow(high / low, 0.05));
    let from = low / room;
    let to = from * libm::pow(high * room / from, 1.0 / (1.0 - above));
    Axis::new(subject.axis, AxisScale::Log { from, to }, log_time_ticks(from, to))
}

/// Returns the area of the cells, as wide as if all columns were whole.
fn cells_area(frame: &Frame, map: &HeatMap, time: &TimeAxis) -> Rect {
    let top = frame.y(edge(map, map.rows));
    let length = time.columns as f64 * time.column_s;
    let width = frame.inner.width * length / (time.to_s - time.from_s);
    Rect { x: frame.inner.x, y: top, width, height: frame.y(edge(map, 0)) - top }
}

fn level(count: u64, largest: u64) -> usize {
    let share = if largest > 1 { libm::log(count as f64) / libm::log(largest as f64) } else { 1.0 };
    ((share * SHADES as f64) as usize).min(SHADES - 1)
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
    let mut paths = vec![Dashes::default(); SHADES];
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
