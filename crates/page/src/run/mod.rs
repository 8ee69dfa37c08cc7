//! The page of a run: its sections in their order, a file each.
//!
//! | section | content |
//! |---|---|
//! | `verdict` | can the measurement be trusted, what came of gates and checks, notes |
//! | `books` | what became of every planned arrival |
//! | `times` | the headline table, and what explains it |
//! | `sessions` | sessions of a flow: books, steps, early ends, a few in full |
//! | `streams` | answers that come in pieces: times, gaps over time, objectives, a few in full |
//! | `over_time` | heat map and lanes |
//! | `percentiles` | the percentile curves |
//! | `causes` | start delay, gaps between requests, response time by rate |
//! | `answers` | statuses, errors, the first failing answers |
//! | `targets` | targets beside each other |
//! | `time_rows`, `wording` | rows over time; small forms that sections share |
//! | `repeat` | command, seed and machines |

mod answers;
mod books;
mod causes;
mod over_time;
mod page;
mod percentiles;
mod repeat;
mod sessions;
mod streams;
mod targets;
mod time_rows;
mod times;
mod verdict;
mod wording;

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Serialize;
use truetail_report::words;

pub use page::{Overlay, RunPage};

use crate::data::{PageData, script_json};
use crate::document::{Document, Section, contents};
use crate::text::{clipped, visible};

/// The longest heading, in characters. A URL can be of any length.
const LONGEST_HEADING: usize = 300;
/// What a live page replaces with each update. The script draws the rest itself.
const LIVE_SECTIONS: [&str; 5] = ["verdict", "books", "times", "answers", "targets"];

/// The page of a run: one text that loads nothing.
pub fn run_page(page: &RunPage<'_>) -> String {
    let sections = sections(page);
    let headline = clipped(&words::headline(page.run), LONGEST_HEADING);
    let title = format!("{headline} – truetail");
    let header = header(page, &headline, &sections);
    Document { title: &title, header, sections: &sections, footer: footer(page), data: &data(page) }.html()
}

/// What has changed on the page of a run that is going on, as one line of JSON.
pub fn live_update(page: &RunPage<'_>) -> String {
    #[derive(Serialize)]
    struct Update<'a> {
        sections: BTreeMap<&'static str, String>,
        data: PageData<'a>,
    }
    let changing = sections(page).into_iter().filter(|section| LIVE_SECTIONS.contains(&section.id));
    let sections = changing.map(|section| (section.id, visible(&section.inner().into_string()))).collect();
    script_json(&Update { sections, data: data(page) })
}

fn data<'a>(page: &RunPage<'a>) -> PageData<'a> {
    PageData { schema: crate::data::SCHEMA, live: page.live, runs: page.runs() }
}

/// Those that have something to say, in order.
fn sections(page: &RunPage<'_>) -> Vec<Section> {
    [
        Some(verdict::section(page)),
        Some(books::section(page)),
        Some(times::section(page)),
        sessions::section(page),
        streams::section(page),
        Some(over_time::section(page)),
        Some(percentiles::section(page)),
        Some(causes::delay(page)),
        Some(causes::gaps(page)),
        causes::rate(page),
        Some(answers::section(page)),
        targets::section(page),
        Some(repeat::section(page)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn header(page: &RunPage<'_>, headline: &str, sections: &[Section]) -> Markup {
    html! {
        h1 { (headline) }
        p.faint {
            @if page.live { "A run that is going on, as it is now. " }
            (repeat::when_and_where(page.run))
        }
        (contents(sections))
    }
}

fn footer(page: &RunPage<'_>) -> Markup {
    html! {
        p.faint {
            "Made by truetail " (page.run.facts.version) ". Response time runs from the moment at which a request was due, over all \
             planned requests; a request without an answer counts as slower than every answer. Service time runs from the \
             moment at which a request was sent, over answers."
        }
    }
}
