//! The page of a run: its sections in order, a file each.
//!
//! | section | content |
//! |---|---|
//! | `verdict` | verdict on the measurement, results of gates and checks, notes |
//! | `books` | outcomes of all planned arrivals |
//! | `times` | the headline table, and its explanation |
//! | `sessions` | sessions of a flow: books, steps, early ends, a few in full |
//! | `streams` | streams: times, gaps over time, objectives, a few in full |
//! | `over_time` | heat map and lanes |
//! | `percentiles` | the percentile curves |
//! | `causes` | start delay, gaps between requests, response time by rate |
//! | `answers` | statuses, errors, the first failed answers |
//! | `targets` | targets side by side |
//! | `ledger` | parts of the response times that the service reported |
//! | `marks` | effects of the commands that the run started |
//! | `scrapes` | the numbers that services published |
//! | `modes` | groups of slow requests that took a similar time |
//! | `slowest` | the slowest requests and the parts of their times |
//! | `time_rows`, `wording` | rows over time; shared fragments |
//! | `repeat` | command, seed and machines |

mod answers;
mod books;
mod causes;
mod kept_headers;
mod ledger;
mod marks;
mod modes;
mod over_time;
mod page;
mod percentiles;
mod repeat;
mod scrapes;
mod sessions;
mod slowest;
mod streams;
mod targets;
mod time_rows;
mod times;
mod verdict;
mod wording;

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::Serialize;
use truetail_report::plot::{self, Picture};
use truetail_report::words;

pub use page::{Overlay, RunPage};

use crate::document::{Document, Section, contents};
use crate::figure::{drawn, script_json};
use crate::text::{clipped, visible};

/// Maximum length of the heading, in characters. A URL can have any length.
const LONGEST_HEADING: usize = 300;
/// Address of the events on the site of a run in progress.
const EVENTS: &str = "/events";

/// Returns the page of a run as one text that loads nothing.
pub fn run_page(page: &RunPage<'_>) -> String {
    let sections = sections(page);
    let headline = clipped(&words::headline(page.run), LONGEST_HEADING);
    let title = format!("{headline} – truetail");
    let header = header(page, &headline, &sections);
    let events = page.site.and_then(|site| site.events.as_deref()).unwrap_or(EVENTS);
    let live = page.live.then_some(events);
    Document { title: &title, header, sections: &sections, footer: footer(page), live, site: page.site }.html()
}

/// Returns the changes on the page of a run in progress, as one line of JSON. Some sections are replaced as a whole.
/// The others stay in place and get new pictures, so that a reader keeps zoom, cursor and focus.
pub fn live_update(page: &RunPage<'_>) -> String {
    #[derive(Serialize)]
    struct Update {
        sections: BTreeMap<&'static str, String>,
        pictures: BTreeMap<&'static str, String>,
    }
    let changing = [verdict::section(page), books::section(page), times::section(page), answers::section(page)];
    let changing = changing.into_iter().chain(targets::section(page)).chain(slowest::section(page));
    let sections = changing.map(|section| (section.id, visible(&section.inner().into_string()))).collect();
    let pictures = readable_pictures(page).into_iter();
    let pictures = pictures.map(|(name, picture)| (name, visible(&drawn(&picture).into_string()))).collect();
    script_json(&Update { sections, pictures })
}

/// Returns the pictures that can be read at a cursor, with the names of their figures.
fn readable_pictures(page: &RunPage<'_>) -> Vec<(&'static str, Picture)> {
    let series = page.series;
    let mut pictures = vec![
        ("heat", plot::heat_map(series)),
        ("lanes", plot::lanes(series)),
        ("percentiles", percentiles::picture(page)),
        ("delay", plot::start_delay(series)),
        ("gaps", plot::gaps(series)),
        ("rate", plot::by_rate(series)),
    ];
    pictures.extend(series.streams.as_ref().map(|streams| ("event-gaps", plot::event_gaps(streams, &series.pauses))));
    pictures
}

/// Returns the sections that have content, in order.
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
        ledger::section(page),
        kept_headers::section(page),
        scrapes::section(page),
        marks::section(page),
        modes::section(page),
        slowest::section(page),
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
