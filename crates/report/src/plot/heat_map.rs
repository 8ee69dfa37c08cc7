//! Response times by time and size.

use std::fmt::Write;

use truetail_analysis::series::{HeatMap, RunSeries, TimeAxis};

use super::frame::{Axis, Frame};
use super::layout::HEIGHT;
use super::look::Look;
use super::over_time;
use super::picture::Picture;
use super::scale::{AxisScale, log_time_ticks};
use super::sheet::{Sheet, Swatch, remark};
use super::svg::{Anchor, Rect};
use crate::number;

const TITLE: &str = "Response times over time";
/// From one answer in a cell to the most of all, in equal ratios.
const SHADES: [f64; 6] = [0.16, 0.3, 0.46, 0.64, 0.82, 1.0];
/// Height of the strip of arrivals without an answer, and of the gap below it.
const STRIP: f64 = 14.0;
const STRIP_GAP: f64 = 6.0;

/// Answers by the time at which their requests should have started and by response time; darker where there are more. Above
/// them, arrivals without an answer.
pub fn heat_map(series: &RunSeries) -> Picture {
    let (map, time) = (&series.heat_map, &series.time);
    if map.cells.is_empty() {
        return Sheet::nothing(TITLE, "Response times by time were not recorded.");
    }
    if map.rows == 0 {
        return Sheet::nothing(TITLE, "No arrival was answered, so there are no response times.");
    }
    let unanswered: u64 = map.unanswered.iter().sum();
    let subtitle = "Each request stands where it should have started. Darker: more requests.";
    let mut sheet = Sheet::new(TITLE, subtitle, HEIGHT, &legend(map, unanswered));
    let strip = (unanswered > 0).then(|| sheet.take(STRIP + STRIP_GAP));
    let frame = Frame::in_area(sheet.area, over_time::axis(time), times(map));
    frame.draw_behind(&mut sheet.svg);
    let area = cells_area(&frame, map, time);
    for (level, path) in paths(map, time).iter().enumerate() {
        sheet.svg.cells(path, area, (time.columns as f64, map.rows as f64), Look::Response, SHADES[level]);
    }
    if let Some(strip) = strip {
        let strip = Rect { x: area.x, width: area.width, height: STRIP, ..strip };
        for (level, path) in strip_paths(map, time).iter().enumerate() {
            sheet.svg.cells(path, strip, (time.columns as f64, 1.0), Look::Failed, SHADES[level]);
        }
        remark(&mut sheet.svg, strip.x - 10.0, strip.y + 11.5, "no answer", Anchor::End);
    }
    frame.draw_base(&mut sheet.svg);
    sheet.finish()
}

fn legend(map: &HeatMap, unanswered: u64) -> Vec<(String, Swatch)> {
    let cell = |text: String, opacity: f64| (text, Swatch::Block(Look::Response, opacity));
    let mut legend = vec![cell("1 request".to_owned(), SHADES[0])];
    if map.largest > 1 {
        legend.push(cell(format!("{} requests", number::count(map.largest)), 1.0));
    }
    if unanswered > 0 {
        legend.push((format!("no answer ({})", number::count(unanswered)), Swatch::Block(Look::Failed, 1.0)));
    }
    legend
}

/// The axis of response times: that of the rows, and at least a factor of ten.
fn times(map: &HeatMap) -> Axis {
    let (low, high) = (map.lowest_ns, map.lowest_ns * libm::pow(map.row_factor, map.rows as f64));
    let room = libm::sqrt((10.0 / (high / low)).max(1.0));
    let (from, to) = (low / room, high * room);
    Axis::new("response time", AxisScale::Log { from, to }, log_time_ticks(from, to))
}

/// Where the cells are: as wide as if all columns were whole.
fn cells_area(frame: &Frame, map: &HeatMap, time: &TimeAxis) -> Rect {
    let top = frame.y(map.lowest_ns * libm::pow(map.row_factor, map.rows as f64));
    let length = time.columns as f64 * time.column_s;
    let width = frame.inner.width * length / (time.to_s - time.from_s);
    Rect { x: frame.inner.x, y: top, width, height: frame.y(map.lowest_ns) - top }
}

/// How dark a cell is: an index into [`SHADES`].
fn level(count: u64, largest: u64) -> usize {
    let share = if largest > 1 { libm::log(count as f64) / libm::log(largest as f64) } else { 1.0 };
    ((share * SHADES.len() as f64) as usize).min(SHADES.len() - 1)
}

/// The cells of each shade as horizontal dashes, row by row.
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

/// Of each shade: one path through all rows. Cells beside each other are one dash. `rows` hold (column, shade), ascending.
fn dashes(rows: &[Vec<(usize, usize)>], time: &TimeAxis) -> Vec<String> {
    let mut paths = vec![Dashes::default(); SHADES.len()];
    for (row, cells) in rows.iter().enumerate() {
        for run in cells.chunk_by(|one, next| one.1 == next.1 && one.0 + 1 == next.0) {
            paths[run[0].1].add(row, run[0].0, run.len(), time);
        }
    }
    paths.into_iter().map(|dashes| dashes.path).collect()
}

/// A path of dashes, each in the middle of its row. It moves in whole columns and rows but for the last column.
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
        let (right, up) = (((column as f64 - self.at.0) * 100.0).round() / 100.0, row - self.at.1);
        write!(self.path, "m{right} {up}h{length}").expect("a String takes everything");
        self.at = (column as f64 + length, row);
    }
}
