//! Number of planned requests that met their objectives.

use truetail_analysis::series::{ObjectiveBooks, StreamSeries};

use super::books::{Part, draw_bar, draw_list};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::sheet::{Sheet, heading};
use super::svg::Rect;
use crate::number;

const TITLE: &str = "Which planned requests met the objectives";
/// Room above the first bar and below the last one.
const AROUND: f64 = 116.0;
/// Heights of text, bar and list, and the gap below an objective.
const NAME: f64 = 24.0;
const BAR: f64 = 34.0;
const LIST: f64 = 30.0;
const GAP: f64 = 16.0;

/// Draws one bar of planned requests for each objective, and one for all objectives together.
pub fn goodput(series: &StreamSeries) -> Picture {
    let Some(planned) = series.objectives.first().map(planned).filter(|planned| *planned > 0) else {
        return Sheet::nothing(TITLE, "No objective was set, or no request was planned.");
    };
    let height = AROUND + series.objectives.len() as f64 * (NAME + BAR + LIST + GAP);
    let subtitle =
        format!("Each of the {} planned requests is counted once for each objective.", number::count(planned));
    let mut sheet = Sheet::new(TITLE, &subtitle, height, &[]);
    for books in &series.objectives {
        let place = sheet.take(NAME + BAR + LIST + GAP);
        let name = books.objective.as_deref().unwrap_or("all objectives");
        heading(&mut sheet.svg, place.x, place.y + 16.0, name);
        let bar = Rect { y: place.y + NAME, height: BAR, ..place };
        let parts = parts(books);
        draw_bar(&mut sheet.svg, bar, &parts);
        draw_list(&mut sheet.svg, Rect { y: bar.y + BAR + 22.0, ..place }, &parts, planned);
    }
    sheet.finish()
}

fn planned(books: &ObjectiveBooks) -> u64 {
    parts(books).iter().fold(0, |sum: u64, part| sum.saturating_add(part.count))
}

fn parts(books: &ObjectiveBooks) -> [Part; 4] {
    [
        Part { name: "met", count: books.met, look: SeriesStyle::Completed },
        Part { name: "cannot be told", count: books.cannot_tell, look: SeriesStyle::Backlog },
        Part { name: "missed", count: books.missed, look: SeriesStyle::Failed },
        Part { name: "no complete answer", count: books.incomplete, look: SeriesStyle::LagMax },
    ]
}
