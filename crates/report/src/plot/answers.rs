//! Statuses and errors.

use truetail_run::Run;

use super::layout::{FAINT_INK, INK};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::sheet::Sheet;
use super::svg::{Anchor, Label, Rect};
use super::text_width;
use crate::{number, words};

const TITLE: &str = "Answers and errors";
/// Limit on the rows. The last row adds up the rest.
const MAX_ROWS: usize = 14;
const ROW: f64 = 28.0;

struct StatusRow {
    name: String,
    count: u64,
    look: SeriesStyle,
}

/// Draws the number of arrivals by status, or by error if there was no answer.
pub fn answers(run: &Run) -> Picture {
    let rows = rows(run);
    let all = run.snapshot.tally.planned;
    if all == 0 || rows.is_empty() {
        return Sheet::nothing(TITLE, "No arrival was planned.");
    }
    let names = rows.iter().map(|row| text_width::width(&row.name, 14.0)).fold(60.0, f64::max) + 14.0;
    let subtitle = format!("Of {} planned arrivals.", number::count(all));
    let mut sheet = Sheet::new(TITLE, &subtitle, 120.0 + ROW * rows.len() as f64, &[]);
    let largest = rows.iter().map(|row| row.count).max().unwrap_or(1).max(1);
    for row in &rows {
        let place = sheet.take(ROW);
        let room = place.width - names - 150.0;
        let bar = Rect {
            x: place.x + names,
            y: place.y + 4.0,
            width: (row.count as f64 / largest as f64 * room).max(1.5),
            height: ROW - 10.0,
        };
        sheet.svg.block(bar, row.look, 0.7);
        let y = place.y + 18.0;
        let label = |x: f64, text, color| Label { x, y, text, size: 14.0, anchor: Anchor::Start, color, bold: false };
        sheet.svg.label(label(place.x, &row.name, INK));
        let figure = format!("{} ({})", number::count(row.count), number::share(row.count as f64 / all as f64));
        sheet.svg.label(label(bar.x + bar.width + 8.0, &figure, FAINT_INK));
    }
    sheet.finish()
}

/// Returns answers without a status, statuses in order, then causes and other outcomes by their count.
fn rows(run: &Run) -> Vec<StatusRow> {
    let snapshot = &run.snapshot;
    let status = |(status, count): (&u16, &u64)| StatusRow {
        name: format!("status {}", words::status_of(run, *status)),
        count: *count,
        look: status_look(*status),
    };
    let without_status = StatusRow {
        name: "answered".to_owned(),
        count: snapshot.answers_without_status(),
        look: SeriesStyle::Completed,
    };
    let mut rows: Vec<StatusRow> = Some(without_status)
        .filter(|row| row.count > 0)
        .into_iter()
        .chain(snapshot.statuses.iter().map(status))
        .collect();
    let cause = |(cause, count): (&truetail_model::record::Cause, &u64)| StatusRow {
        name: cause.describe().to_owned(),
        count: *count,
        look: SeriesStyle::Backlog,
    };
    let mut others: Vec<StatusRow> = snapshot.causes.iter().map(cause).collect();
    let tally = &snapshot.tally;
    let ends = [
        ("timed out", tally.timed_out),
        ("in flight at the end", tally.in_flight_at_end),
        ("never sent", tally.never_issued),
    ];
    others.extend(ends.map(|(name, count)| StatusRow { name: name.to_owned(), count, look: SeriesStyle::LagMax }));
    others.retain(|row| row.count > 0);
    others.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows.extend(others);
    if rows.len() > MAX_ROWS {
        let rest: u64 = rows.drain(MAX_ROWS - 1..).map(|row| row.count).sum();
        rows.push(StatusRow { name: "others".to_owned(), count: rest, look: SeriesStyle::Planned });
    }
    rows
}

const fn status_look(status: u16) -> SeriesStyle {
    match status {
        0..=299 => SeriesStyle::Completed,
        300..=399 => SeriesStyle::InFlight,
        400..=499 => SeriesStyle::Wait,
        _ => SeriesStyle::Failed,
    }
}
