//! Early ends of sessions by step and cause.

use truetail_analysis::series::{EarlyEnds, SessionSeries};

use super::layout::{FAINT_INK, INK};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::sheet::Sheet;
use super::svg::{Anchor, Label, Rect};
use super::text_width;
use crate::number;

const TITLE: &str = "Where sessions ended early, and why";
const AROUND: f64 = 120.0;
const ROW: f64 = 34.0;
const BAR: f64 = 20.0;
/// Highest width of a name, and the room for a count with its share.
const WIDEST_NAME: f64 = 340.0;
const COUNT: f64 = 150.0;
/// Limit on the rows: only the most frequent ends are drawn.
const MAX_ROWS: usize = 12;

/// Draws a bar for each step and cause, in the order of the steps.
pub fn session_ends(series: &SessionSeries) -> Picture {
    let rows = most_frequent(&series.early_ends);
    let Some(largest) = rows.iter().map(|ends| ends.sessions).max() else {
        return Sheet::nothing(TITLE, "No session ended early.");
    };
    let mut subtitle = format!("Shares are of the {} sessions that were begun.", number::count(series.begun));
    if rows.len() < series.early_ends.len() {
        subtitle = format!("{subtitle} The {MAX_ROWS} most frequent ends; the others are in run.json.");
    }
    let mut sheet = Sheet::new(TITLE, &subtitle, AROUND + rows.len() as f64 * ROW, &[]);
    let names: Vec<String> =
        rows.iter().map(|ends| text_width::fitted(&name(series, ends), 14.0, WIDEST_NAME)).collect();
    let left = names.iter().map(|name| text_width::width(name, 14.0)).fold(60.0, f64::max) + 16.0;
    for (ends, name) in rows.iter().zip(&names) {
        let row = sheet.take(ROW);
        let wide = (row.width - left - COUNT) * ends.sessions as f64 / largest as f64;
        let bar = Rect { x: row.x + left, y: row.y + (ROW - BAR) / 2.0, width: wide.max(2.0), height: BAR };
        sheet.svg.block(bar, SeriesStyle::Failed, 0.6);
        let share = number::share(ends.sessions as f64 / series.begun.max(1) as f64);
        let count = format!("{} ({share})", number::count(ends.sessions));
        for (x, text, color) in [(row.x, name, INK), (bar.x + bar.width + 10.0, &count, FAINT_INK)] {
            let y = row.y + ROW / 2.0 + 5.0;
            sheet.svg.label(Label { x, y, text, size: 14.0, anchor: Anchor::Start, color, bold: false });
        }
    }
    sheet.finish()
}

fn name(series: &SessionSeries, ends: &EarlyEnds) -> String {
    let step = series.steps.get(ends.step).map_or("", String::as_str);
    format!("{step}: {}", ends.cause.describe())
}

fn most_frequent(ends: &[EarlyEnds]) -> Vec<EarlyEnds> {
    let mut rows: Vec<(usize, EarlyEnds)> = ends.iter().copied().enumerate().collect();
    rows.sort_by_key(|(at, ends)| (std::cmp::Reverse(ends.sessions), *at));
    rows.truncate(MAX_ROWS);
    rows.sort_by_key(|(at, _)| *at);
    rows.into_iter().map(|(_, ends)| ends).collect()
}
