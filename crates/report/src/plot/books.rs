//! Outcomes of all planned arrivals.

use truetail_model::record::Tally;
use truetail_run::RunSource;

use super::layout::{FAINT_INK, INK};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::sheet::Sheet;
use super::svg::{Anchor, Label, Rect, Svg};
use super::text_width;
use crate::number;
use crate::summary::malformed_name;

const TITLE: &str = "Where every planned arrival went";
const HEIGHT: f64 = 300.0;
const BAR: f64 = 40.0;
const GAP: f64 = 16.0;
/// Lowest width of a part, so that it stays visible.
const NARROWEST: f64 = 2.0;

#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) count: u64,
    pub(super) look: SeriesStyle,
}

/// Draws bars of planned arrivals, sent arrivals, and outcomes, one below the other. Widths are proportional to counts.
pub fn books(tally: &Tally, source: &RunSource) -> Picture {
    if tally.planned == 0 {
        return Sheet::nothing(TITLE, "No arrival was planned.");
    }
    let subtitle = format!("{} planned arrivals; each has exactly one outcome.", number::count(tally.planned));
    let outcomes = outcomes(tally, source);
    let mut sheet = Sheet::new(TITLE, &subtitle, HEIGHT, &[]);
    let area = sheet.area;
    let row = |n: f64| Rect { y: area.y + n * (BAR + GAP), height: BAR, ..area };
    let planned = [Part { name: "planned", count: tally.planned, look: SeriesStyle::Planned }];
    let sent = [
        Part { name: "sent", count: tally.issued, look: SeriesStyle::Sent },
        Part { name: "never sent", count: tally.never_issued, look: SeriesStyle::LagMax },
    ];
    for (n, parts) in [(0.0, &planned[..]), (1.0, &sent[..]), (2.0, &outcomes[..])] {
        draw_bar(&mut sheet.svg, row(n), parts);
    }
    draw_list(&mut sheet.svg, Rect { y: row(2.0).y + BAR + 26.0, ..area }, &outcomes, tally.planned);
    sheet.finish()
}

fn outcomes(tally: &Tally, source: &RunSource) -> [Part; 7] {
    let part = |name, count, look| Part { name, count, look };
    [
        part("answered", tally.responses, SeriesStyle::Completed),
        part("timed out", tally.timed_out, SeriesStyle::Failed),
        part("connect failed", tally.connect_failed, SeriesStyle::Backlog),
        part("reset", tally.reset, SeriesStyle::Lag),
        part(malformed_name(source), tally.malformed, SeriesStyle::Truth),
        part("in flight at the end", tally.in_flight_at_end, SeriesStyle::InFlight),
        part("never sent", tally.never_issued, SeriesStyle::LagMax),
    ]
}

/// Draws parts side by side, each as wide as its count.
pub(super) fn draw_bar(svg: &mut Svg, bar: Rect, parts: &[Part]) {
    let all: u64 = parts.iter().map(|part| part.count).sum();
    let shown: Vec<&Part> = parts.iter().filter(|part| part.count > 0).collect();
    let wide = |part: &Part| (part.count as f64 / all.max(1) as f64 * bar.width).max(NARROWEST);
    // Widening narrow parts takes room from the widest part.
    let excess = shown.iter().map(|part| wide(part)).sum::<f64>() - bar.width;
    let widest = shown.iter().map(|part| part.count).max().unwrap_or(0);
    let mut x = bar.x;
    let mut taken = false;
    for part in shown {
        let take = part.count == widest && !taken;
        taken |= take;
        let width = (wide(part) - if take { excess.max(0.0) } else { 0.0 }).max(NARROWEST);
        svg.block(Rect { x, width: (width - 1.0).max(1.0), ..bar }, part.look, 0.45);
        let text = format!("{} {}", number::count(part.count), part.name);
        if text_width::width(&text, 15.0) + 20.0 < width {
            let y = bar.y + bar.height / 2.0 + 5.5;
            svg.label(Label { x: x + 10.0, y, text: &text, size: 15.0, anchor: Anchor::Start, color: INK, bold: true });
        }
        x += width;
    }
}

/// Lists every outcome that occurred, with its count and share.
pub(super) fn draw_list(svg: &mut Svg, place: Rect, outcomes: &[Part], planned: u64) {
    let mut x = place.x;
    let mut y = place.y;
    for part in outcomes.iter().filter(|part| part.count > 0) {
        let share = number::share(part.count as f64 / planned as f64);
        let text = format!("{}: {} ({share})", part.name, number::count(part.count));
        let width = 22.0 + text_width::width(&text, 14.0) + 22.0;
        if x > place.x && x + width > place.x + place.width {
            (x, y) = (place.x, y + 22.0);
        }
        svg.block(Rect { x, y: y - 11.0, width: 14.0, height: 14.0 }, part.look, 0.45);
        svg.label(Label {
            x: x + 22.0,
            y,
            text: &text,
            size: 14.0,
            anchor: Anchor::Start,
            color: FAINT_INK,
            bold: false,
        });
        x += width;
    }
}
