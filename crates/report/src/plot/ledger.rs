//! Parts of the response times, stacked.

use truetail_analysis::figures::quantile_name;
use truetail_run::{Findings, LedgerRow};

use super::layout::{FAINT_INK, INK};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::sheet::Sheet;
use super::svg::{Anchor, Label, Rect};
use super::text_width;
use crate::{number, words};

const TITLE: &str = "Where the time went";
const ROW: f64 = 40.0;
const LEGEND_ROW: f64 = 24.0;
const LOOKS: [SeriesStyle; 8] = [
    SeriesStyle::Completed,
    SeriesStyle::InFlight,
    SeriesStyle::Wait,
    SeriesStyle::Closed,
    SeriesStyle::Other(0),
    SeriesStyle::Other(1),
    SeriesStyle::Other(2),
    SeriesStyle::Backlog,
];

/// Draws a bar for each quantile. Its parts are as long as their shares in the mean response time.
pub fn ledger(findings: &Findings) -> Picture {
    let names = words::ledger_parts(findings);
    if findings.ledger.is_empty() {
        return Sheet::nothing(TITLE, "The service reported no times.");
    }
    let subtitle = "Mean parts of the response times around each percentile.";
    let height = 100.0 + ROW * findings.ledger.len() as f64 + LEGEND_ROW * names.len() as f64;
    let mut sheet = Sheet::new(TITLE, subtitle, height, &[]);
    for row in &findings.ledger {
        bar(&mut sheet, row, &names);
    }
    for (place, name) in names.iter().enumerate() {
        let line = sheet.take(LEGEND_ROW);
        let square = Rect { x: line.x, y: line.y + 6.0, width: 14.0, height: 14.0 };
        sheet.svg.block(square, look_of(place, names.len()), 0.7);
        sheet.svg.label(label(line.x + 24.0, line.y + 18.0, name, INK));
    }
    sheet.finish()
}

fn bar(sheet: &mut Sheet, row: &LedgerRow, names: &[String]) {
    let place = sheet.take(ROW);
    let title = quantile_name(row.q);
    let total = number::time(row.response_time_ns.round() as u64);
    let room = place.width - 60.0 - text_width::width(&total, 14.0) - 16.0;
    sheet.svg.label(label(place.x, place.y + 24.0, &title, INK));
    let mut x = place.x + 60.0;
    // Parts that are negative have no length, and the others share the bar.
    let whole: f64 = row.parts.iter().map(|part| part.mean_ns.max(0.0)).sum();
    for (nth, name) in names.iter().enumerate() {
        let Some(part) = row.parts.iter().find(|part| part.name == *name && part.mean_ns > 0.0) else { continue };
        let width = part.mean_ns / whole.max(1.0) * room;
        let block = Rect { x, y: place.y + 6.0, width, height: ROW - 14.0 };
        sheet.svg.block(block, look_of(nth, names.len()), 0.7);
        x += width;
    }
    sheet.svg.label(label(x + 8.0, place.y + 24.0, &total, FAINT_INK));
}

/// Returns the look of a part. What is unattributed comes last and is grey.
fn look_of(place: usize, parts: usize) -> SeriesStyle {
    if place + 1 == parts { SeriesStyle::Planned } else { LOOKS[place % LOOKS.len()] }
}

fn label<'a>(x: f64, y: f64, text: &'a str, color: &'static str) -> Label<'a> {
    Label { x, y, text, size: 14.0, anchor: Anchor::Start, color, bold: false }
}
