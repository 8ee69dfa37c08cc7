//! A series of runs with its changes.

use maud::{Markup, html};
use truetail_analysis::history::{Change, History, HistoryFigure, Member, PercentileHistory};
use truetail_report::number;
use truetail_report::{change_sentence, lines_without_change, plot};

use super::links::Links;
use super::list::footer;
use crate::document::{Document, Section, contents};
use crate::figure::Figure;
use crate::site::SitePlace;
use crate::table::Table;
use crate::text::clipped;

/// Limit on the runs in the table: the newest.
const MAX_LISTED: usize = 500;
const LONGEST_HEADING: usize = 300;

/// The content of the page of a series.
#[derive(Clone, Debug)]
pub struct SeriesPage<'a> {
    /// Name, or else URL, of the runs.
    pub key: &'a str,
    /// The series, with the folders of the runs below the folder of the site.
    pub history: &'a History,
    /// The runs of the history, in its order.
    pub runs: Vec<SeriesRun>,
    /// Addresses of pages.
    pub links: Links<'a>,
}

/// A run of a series, as words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesRun {
    /// Start.
    pub started: String,
    /// Median.
    pub p50: String,
    /// 99th percentile.
    pub p99: String,
}

/// Returns the page as one text that loads nothing.
pub fn series_page(page: &SeriesPage<'_>, site: &SitePlace) -> String {
    let is_drawn = |found: &&PercentileHistory| matches!(found.figure, HistoryFigure::ResponseTime(_));
    let drawn = page.history.percentiles.iter().filter(is_drawn);
    let pictures = drawn.zip(SECTIONS).map(|(found, id)| picture(page, found, id));
    let sections: Vec<Section> = [changes(page)].into_iter().chain(pictures).chain([runs(page)]).collect();
    let heading = clipped(page.key, LONGEST_HEADING);
    let header = html! {
        h1 { (heading) }
        p.faint { (used(page.history)) " of one load, oldest first. Each change has its 95 % interval." }
        (contents(&sections))
    };
    let title = format!("{heading} – truetail");
    Document { title: &title, header, sections: &sections, footer: footer(), live: None, site: Some(site) }.html()
}

/// Sections of the percentiles that a history looks at: name of the figure, and heading.
const SECTIONS: [(&str, &str); 4] =
    [("history-1", "p50"), ("history-2", "p90"), ("history-3", "p99"), ("history-4", "p99.9")];

fn used(history: &History) -> String {
    let used = history.runs.iter().filter(|run| run.left_out.is_none()).count();
    let left_out = history.runs.len() - used;
    let runs = if used == 1 { "1 run".to_owned() } else { format!("{used} runs") };
    if left_out == 0 { runs } else { format!("{runs}, without {left_out} left out,") }
}

fn changes(page: &SeriesPage<'_>) -> Section {
    let History { runs, percentiles } = page.history;
    let all: Vec<(HistoryFigure, &Change)> =
        percentiles.iter().flat_map(|found| found.changes.iter().map(|change| (found.figure, change))).collect();
    let content = html! {
        @if !all.is_empty() {
            ul.changes { @for (figure, change) in &all { li { (one_change(page, *figure, change, runs)) } } }
        }
        @for line in lines_without_change(percentiles) { p { (line) "." } }
        @if percentiles.is_empty() { p.none { "No run of this series has a percentile with an interval." } }
    };
    Section { id: "changes", heading: "Changes", content }
}

fn one_change(page: &SeriesPage<'_>, figure: HistoryFigure, change: &Change, runs: &[Member]) -> Markup {
    let before = &runs[change.before].folder;
    let after = &runs[change.after].folder;
    let links = [
        ("run before", page.links.run(before)),
        ("run after", page.links.run(after)),
        ("compare them", page.links.compare(before, after)),
    ];
    html! {
        (change_sentence(figure, change, runs)) ". "
        @for (text, address) in links { @if let Some(address) = address { a href=(address) { (text) } " " } }
    }
}

fn picture(page: &SeriesPage<'_>, found: &PercentileHistory, (name, _): (&'static str, &str)) -> Section {
    let of = found.figure.name();
    let heading = SECTIONS.iter().find(|(_, heading)| *heading == of).map_or("Percentile", |(_, heading)| heading);
    let starts: Vec<String> = page.runs.iter().map(|run| run.started.clone()).collect();
    let rows = found.runs.iter().zip(&found.points).map(|(at, point)| {
        let level = found.levels.iter().find(|level| level.points.contains(&place(found, *at)));
        let time = |value: f64| number::time(value.exp().round() as u64);
        [
            (at + 1).to_string(),
            starts.get(*at).cloned().unwrap_or_default(),
            time(point.value),
            level.map_or(String::new(), |level| time(level.value)),
        ]
    });
    let caption = format!("{heading} of each run");
    let table = Table::new(caption, ["run", "started", heading, "level"]).with_words(2).with_rows(rows);
    let caption =
        "Each dot is a run with the 95 % interval that it knows of itself. The line is the level between changes.";
    let figure = Figure { name, picture: plot::history(page.history, found, &starts), caption, table };
    Section { id: name, heading, content: html! { (figure.markup()) } }
}

/// Returns the place of a run among the points.
fn place(found: &PercentileHistory, run: usize) -> usize {
    found.runs.binary_search(&run).unwrap_or(usize::MAX)
}

fn runs(page: &SeriesPage<'_>) -> Section {
    let all = &page.history.runs;
    let newest = all.iter().enumerate().rev().take(MAX_LISTED);
    let content = html! {
        @if all.len() > MAX_LISTED { p.faint { "The newest " (MAX_LISTED) " of " (all.len()) "." } }
        div.scroll.whole tabindex="0" role="region" aria-label="Runs of the series" {
            table.numbers {
                caption { "Runs of the series, newest first" }
                thead {
                    tr {
                        th.w scope="col" { "run" } th.w scope="col" { "started" } th.w scope="col" { "folder" }
                        th.w scope="col" { "commit" } th scope="col" { "p50" } th scope="col" { "p99" }
                        th.w scope="col" { "left out because" }
                    }
                }
                tbody { @for (at, member) in newest { (member_row(page, at, member)) } }
            }
        }
    };
    Section { id: "runs", heading: "Runs", content }
}

fn member_row(page: &SeriesPage<'_>, at: usize, member: &Member) -> Markup {
    let run = page.runs.get(at);
    html! {
        tr {
            th.w scope="row" { (at + 1) }
            td.w.line { (run.map_or("", |run| &run.started)) }
            td.w.line {
                @match page.links.run(&member.folder) {
                    Some(address) => a href=(address) { (member.folder) },
                    None => { (member.folder) }
                }
            }
            td.w { (clipped(member.commit.as_deref().unwrap_or("–"), 40)) }
            td { (run.map_or("", |run| &run.p50)) }
            td { (run.map_or("", |run| &run.p99)) }
            td.w { (member.left_out.as_deref().unwrap_or("")) }
        }
    }
}
