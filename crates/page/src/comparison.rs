//! The page of several equal runs, such as the two loops of the demo or the series of a lab.

use maud::{Markup, html};
use truetail_analysis::series::RunSeries;
use truetail_report::plot::{self, Picture};
use truetail_run::{Findings, VerdictState};

use crate::document::{Document, Section, contents};
use crate::figure::{Figure, drawn};
use crate::site::SitePlace;
use crate::table::Table;

/// The content of the page of several runs.
#[derive(Clone, Debug)]
pub struct ComparisonPage<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// Description of the comparison, in a few sentences.
    pub about: &'a str,
    /// Result of the comparison, in a few sentences; may be empty.
    pub result: &'a str,
    /// Heads of the table. The first column names the rows.
    pub heads: Vec<String>,
    /// Rows of the table.
    pub rows: Vec<Vec<String>>,
    /// A second table, below the first.
    pub further: Option<FurtherTable>,
    /// Lines below the tables.
    pub remarks: Vec<String>,
    /// The runs, in the order of the legend.
    pub runs: Vec<ComparedRun<'a>>,
    /// Further pictures with their captions.
    pub pictures: Vec<(Picture, String)>,
    /// True if the pictures belong side by side on wide windows.
    pub side_by_side: bool,
    /// The command that made the comparison, without secrets.
    pub command: Option<String>,
    /// Place of the page in a site, if it is in one.
    pub site: Option<SitePlace>,
}

/// A second table of the result.
#[derive(Clone, Debug)]
pub struct FurtherTable {
    /// Caption of the table.
    pub caption: &'static str,
    /// Heads of the table. The first column names the rows.
    pub heads: Vec<String>,
    /// Rows of the table.
    pub rows: Vec<Vec<String>>,
}

/// A run in a comparison.
#[derive(Clone, Debug)]
pub struct ComparedRun<'a> {
    /// Name of the run in the legend.
    pub name: String,
    /// Findings of the run.
    pub findings: &'a Findings,
    /// Data for its pictures.
    pub series: &'a RunSeries,
    /// Path from this page to its own page, if any.
    pub page: Option<String>,
    /// True if the run was measured, so that its verdict is shown. Simulated runs need none.
    pub measured: bool,
}

/// Returns the page as one text that loads nothing.
pub fn comparison_page(page: &ComparisonPage<'_>) -> String {
    let sections: Vec<Section> =
        [Some(result(page)), Some(percentiles(page)), more_pictures(page), Some(runs(page)), repeat(page)]
            .into_iter()
            .flatten()
            .collect();
    let header = html! {
        h1 { (page.title) }
        p { (page.about) }
        (contents(&sections))
    };
    let footer = html! {
        p.faint { "Made by truetail " (env!("CARGO_PKG_VERSION")) ". Response time runs from the moment at which a request was due." }
    };
    let title = format!("{} – truetail", page.title);
    Document { title: &title, header, sections: &sections, footer, live: None, site: page.site.as_ref() }.html()
}

fn result(page: &ComparisonPage<'_>) -> Section {
    let table = Table::new("Response times beside each other", page.heads.clone()).with_rows(page.rows.clone());
    let further = page.further.as_ref().filter(|further| !further.rows.is_empty());
    let further =
        further.map(|further| Table::new(further.caption, further.heads.clone()).with_rows(further.rows.clone()));
    let content = html! {
        @if !page.result.is_empty() { p.lead { (page.result) } }
        (table.markup())
        @if let Some(further) = further { (further.markup()) }
        @for remark in &page.remarks { p { (remark) } }
    };
    Section { id: "times", heading: "Result", content }
}

fn percentiles(page: &ComparisonPage<'_>) -> Section {
    let curves: Vec<(&str, &RunSeries)> = page.runs.iter().map(|run| (run.name.as_str(), run.series)).collect();
    let content = html! {
        (Figure {
            name: "percentiles",
            picture: plot::percentiles(&curves),
            caption: "The time within which a share of the requests was answered. Each step to the right is one more nine.",
            table: Table::new("Percentiles in the picture", ["percentile"]),
        }.markup())
    };
    Section { id: "percentiles", heading: "Percentiles", content }
}

fn more_pictures(page: &ComparisonPage<'_>) -> Option<Section> {
    let content = html! {
        div.beside[page.side_by_side] {
            @for (picture, caption) in &page.pictures {
                figure {
                    div.picture { (drawn(picture)) }
                    figcaption { (caption) }
                }
            }
        }
    };
    (!page.pictures.is_empty()).then_some(Section { id: "over-time", heading: "Over time", content })
}

fn runs(page: &ComparisonPage<'_>) -> Section {
    let content = html! { ul.runs { @for run in &page.runs { (compared(run)) } } };
    Section { id: "runs", heading: "The runs", content }
}

fn compared(run: &ComparedRun<'_>) -> Markup {
    let verdict = &run.findings.verdict;
    html! {
        li {
            @match &run.page { Some(page) => a href=(page) { (run.name) }, None => { (run.name) } }
            @if run.measured {
                ": " strong { (verdict.state.name()) }
                @if verdict.state == VerdictState::Valid { ", no problem was found with the measurement" }
                @if !verdict.reasons.is_empty() {
                    ul.reasons { @for reason in &verdict.reasons { li { code { (reason.code) } ": " (reason.message) } } }
                }
            } @else {
                ": computed, not measured"
            }
        }
    }
}

fn repeat(page: &ComparisonPage<'_>) -> Option<Section> {
    let command = page.command.as_ref()?;
    Some(Section { id: "repeat", heading: "To repeat this", content: html! { pre { code { (command) } } } })
}
