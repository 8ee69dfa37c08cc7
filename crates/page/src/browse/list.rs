//! The list of runs.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use truetail_report::plot::spark;
use truetail_report::{RunWords, run_words};
use truetail_run::catalog::{RunOrder, SavedRun};
use truetail_run::{GateState, VerdictState};

use super::links::Links;
use super::query::RunQuery;
use crate::document::{Document, Section, contents};
use crate::figure::script_json;
use crate::site::SitePlace;
use crate::text::visible;

/// Limit on the runs named that cannot be read.
const MAX_UNREADABLE: usize = 20;
/// Limit on the labels shown in a row.
const MAX_TAGS: usize = 6;

/// The content of a page of the list.
#[derive(Clone, Debug)]
pub struct ListPage<'a> {
    /// The folder of the runs, as the user named it.
    pub folder: &'a str,
    /// The runs of this page.
    pub rows: Vec<ListedRow<'a>>,
    /// Number of runs that meet the conditions.
    pub found: usize,
    /// Number of runs in the folder.
    pub all: usize,
    /// Number of pages, at least one.
    pub pages: usize,
    /// Conditions, and the page.
    pub query: &'a RunQuery,
    /// Conditions that are no conditions, a sentence each.
    pub problems: Vec<String>,
    /// Series among the runs that meet the conditions.
    pub series: Vec<ListedSeries>,
    /// Number of series that are not listed.
    pub more_series: usize,
    /// Runs that cannot be read: folder and reason.
    pub unreadable: &'a [(String, String)],
    /// Addresses of pages.
    pub links: Links<'a>,
    /// True if the picked runs can be removed.
    pub can_remove: bool,
}

/// A run in the list.
#[derive(Clone, Debug)]
pub struct ListedRow<'a> {
    /// The run.
    pub run: &'a SavedRun,
    /// p99 of each interval, nanoseconds.
    pub shape: Vec<Option<u64>>,
    /// True if its process has not ended.
    pub in_progress: bool,
}

/// A series in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedSeries {
    /// Name, or else URL, of its runs.
    pub key: String,
    /// Number of its runs.
    pub runs: usize,
    /// p99 of its newest runs, nanoseconds, oldest first.
    pub p99: Vec<Option<u64>>,
}

/// Returns the page as one text that loads nothing. `site` has the address of its events.
pub fn list_page(page: &ListPage<'_>, site: &SitePlace) -> String {
    let sections: Vec<Section> = filter(page).into_iter().chain(changing(page)).collect();
    let header = html! { h1 { "Saved runs" } p.faint { (of_all(page)) } (contents(&sections)) };
    let live = site.events.as_deref();
    Document { title: "Saved runs – truetail", header, sections: &sections, footer: footer(), live, site: Some(site) }
        .html()
}

/// Returns the changes of the page when a run was saved or removed, as one line of JSON.
pub fn list_update(page: &ListPage<'_>) -> String {
    let sections = changing(page).into_iter();
    let sections: BTreeMap<_, _> =
        sections.map(|section| (section.id, visible(&section.inner().into_string()))).collect();
    script_json(&serde_json::json!({ "sections": sections, "pictures": {} }))
}

pub(super) fn footer() -> Markup {
    html! {
        p.faint { "Made by truetail " (env!("CARGO_PKG_VERSION")) ". Response time runs from the moment at which a request was due." }
    }
}

fn changing(page: &ListPage<'_>) -> [Section; 2] {
    [
        Section { id: "runs", heading: "Runs", content: runs(page) },
        Section { id: "series", heading: "Series", content: series(page) },
    ]
}

fn of_all(page: &ListPage<'_>) -> Markup {
    html! { "The runs in " code { (page.folder) } ", newest first unless sorted. Times are UTC." }
}

fn filter(page: &ListPage<'_>) -> Option<Section> {
    let query = page.query;
    let verdicts = [("", "any"), ("valid", "VALID"), ("suspect", "SUSPECT"), ("invalid", "INVALID")];
    let sorts = RunOrder::NAMED.map(|(name, _)| (name, name));
    let content = html! {
        form.filter action="/" method="get" role="search" aria-label="Runs" {
            (field("target", "Name or URL", &query.target, "checkout"))
            (field("since", "Since", &query.since, "7d or 2026-11-01"))
            (field("before", "Before", &query.before, "30d"))
            (choice("verdict", "Verdict", &query.verdict, &verdicts))
            (field("tag", "Label", &query.tag, "branch=main"))
            (choice("sort", "Sort by", &query.sort, &sorts))
            div.buttons { button type="submit" { "Filter" } " " a href="/" { "Show all" } }
        }
        @for problem in &page.problems { p.problem role="alert" { (problem) } }
    };
    page.links.are_served().then_some(Section { id: "filter", heading: "Filter", content })
}

fn field(name: &str, label: &str, value: &str, example: &str) -> Markup {
    html! {
        label { span { (label) } input type="text" name=(name) value=(value) placeholder=(example) autocomplete="off"; }
    }
}

fn choice(name: &str, label: &str, chosen: &str, options: &[(&str, &str)]) -> Markup {
    html! {
        label {
            span { (label) }
            select name=(name) {
                @for (value, word) in options {
                    option value=(value) selected[chosen.eq_ignore_ascii_case(value)] { (word) }
                }
            }
        }
    }
}

fn runs(page: &ListPage<'_>) -> Markup {
    let conditions = if page.query.has_conditions() { " that meet the conditions" } else { "" };
    html! {
        p.faint role="status" {
            (number_of(page.found)) (conditions)
            @if page.found != page.all { ", of " (page.all) " in the folder" }
            @if page.pages > 1 { "; page " (page.query.page + 1) " of " (page.pages) }
            "."
        }
        @if page.rows.is_empty() { p.none { (nothing(page)) } }
        @else if page.links.are_served() {
            form action="/compare" method="get" aria-label="Comparison" {
                (table(page))
                p.buttons {
                    button type="submit" { "Compare two picked runs" }
                    @if page.can_remove { " " button type="submit" formaction="/remove" { "Remove picked runs …" } }
                }
            }
        } @else { (table(page)) }
        (turn(page))
        (unreadable(page))
    }
}

fn nothing(page: &ListPage<'_>) -> &'static str {
    match page.all {
        0 => "There is no run in this folder. 'truetail run' saves runs under truetail-runs.",
        _ => "No run meets the conditions.",
    }
}

fn table(page: &ListPage<'_>) -> Markup {
    let can_pick = page.links.are_served();
    html! {
        div.scroll.whole tabindex="0" role="region" aria-label="Runs" {
            // The roles remain when a narrow window shows each row as a block.
            table.numbers.runs role="table" {
                thead role="rowgroup" {
                    tr role="row" {
                        @if can_pick { (head("Pick", true)) }
                        @for (text, is_word) in HEADS { (head(text, is_word)) }
                    }
                }
                tbody role="rowgroup" { @for row in &page.rows { (line(row, page.links)) } }
            }
        }
    }
}

/// Heads of the columns after the picks, and whether they hold words.
const HEADS: [(&str, bool); 8] = [
    ("Run", true),
    ("Verdict", true),
    ("p50", false),
    ("p99", false),
    ("Max", false),
    ("p99 over time", true),
    ("Errors", false),
    ("Gates", true),
];

fn head(text: &str, is_word: bool) -> Markup {
    html! { th.w[is_word] scope="col" role="columnheader" { (text) } }
}

fn line(row: &ListedRow<'_>, links: Links<'_>) -> Markup {
    let words = run_words(row.run);
    html! {
        tr role="row" {
            @if links.are_served() {
                td.w.pick role="cell" {
                    input type="checkbox" name="run" value=(row.run.folder)
                        aria-label={ "Pick " (words.name) " of " (words.started) };
                }
            }
            th.w scope="row" role="rowheader" { (named(&words, links.run(&row.run.folder), row.run)) }
            td.w role="cell" { (verdict(row, &words)) }
            td role="cell" data-name="p50" { (words.p50) }
            td role="cell" data-name="p99" { (words.p99) }
            td role="cell" data-name="Max" { (words.max) }
            td.w role="cell" { (PreEscaped(spark(&row.shape, &format!("p99 over the run, at most {}", words.max)))) }
            td role="cell" data-name="Errors" { (words.errors) }
            td.w role="cell" { (gates(row.run, &words)) }
        }
    }
}

fn named(words: &RunWords, address: Option<String>, run: &SavedRun) -> Markup {
    html! {
        @match address { Some(address) => a href=(address) { (words.name) }, None => { (words.name) } }
        span.about { (words.started) @if !words.load.is_empty() { " · " (words.load) } }
        @if !words.tags.is_empty() {
            span.about {
                @for tag in words.tags.iter().take(MAX_TAGS) { code { (tag) } " " }
                @if run.tags.len() > MAX_TAGS { "and " (run.tags.len() - MAX_TAGS) " more" }
            }
        }
    }
}

fn verdict(row: &ListedRow<'_>, words: &RunWords) -> Markup {
    let class = match row.run.verdict {
        _ if row.run.unfinished => "suspect",
        VerdictState::Valid => "valid",
        VerdictState::Suspect => "suspect",
        VerdictState::Invalid => "invalid",
    };
    let word = if row.in_progress { "in progress" } else { words.verdict };
    html! { span.badge.(class) { (word) } }
}

fn gates(run: &SavedRun, words: &RunWords) -> Markup {
    let class = match run.worst_gate() {
        None => return html! {},
        Some(GateState::Holds) => "holds",
        Some(GateState::Open) => "open",
        Some(GateState::Fails) => "fails",
    };
    html! { span.badge.(class) { (words.gates) } }
}

/// Returns the links to the pages before and after this one.
fn turn(page: &ListPage<'_>) -> Markup {
    let at = page.query.page;
    let address =
        |page_at: usize| page.links.list(page_at, &RunQuery { page: page_at, ..page.query.clone() }.to_query());
    html! {
        @if page.pages > 1 {
            nav.turn aria-label="Pages" {
                ul {
                    @if at > 0 {
                        li { a href=(address(0)) { "First" } }
                        li { a rel="prev" href=(address(at - 1)) { "Page " (at) } }
                    }
                    li { span aria-current="page" { "Page " (at + 1) " of " (page.pages) } }
                    @if at + 1 < page.pages {
                        li { a rel="next" href=(address(at + 1)) { "Page " (at + 2) } }
                        li { a href=(address(page.pages - 1)) { "Last" } }
                    }
                }
            }
        }
    }
}

fn unreadable(page: &ListPage<'_>) -> Markup {
    let left_out = page.unreadable.len().saturating_sub(MAX_UNREADABLE);
    html! {
        @if !page.unreadable.is_empty() {
            details {
                summary { (number_of(page.unreadable.len())) " cannot be read" }
                ul {
                    @for (folder, why) in page.unreadable.iter().take(MAX_UNREADABLE) { li { code { (folder) } ": " (why) } }
                    @if left_out > 0 { li { "and " (left_out) " more" } }
                }
            }
        }
    }
}

fn series(page: &ListPage<'_>) -> Markup {
    html! {
        @if page.series.is_empty() { p.none { "A series needs two runs with the same name or URL." } }
        @else {
            p.faint { "Runs with the same name, or else URL. The line is the p99 of the newest runs, from left to right." }
            ul.series {
                @for one in &page.series {
                    li {
                        @match page.links.series(&one.key) {
                            Some(address) => a href=(address) { (one.key) },
                            None => { (one.key) }
                        }
                        span.about { (number_of(one.runs)) }
                        (PreEscaped(spark(&one.p99, "p99 of the newest runs")))
                    }
                }
            }
            @if page.more_series > 0 { p.faint { "And " (page.more_series) " more; a condition finds them." } }
        }
    }
}

fn number_of(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}
