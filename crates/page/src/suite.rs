//! The page of the suite of situations: a row for each, and the commands.

use maud::{Markup, html};
use truetail_analysis::league::{SuiteResult, SuiteState};
use truetail_report::league::suite_summary;

use crate::document::{Document, Section, contents};
use crate::table::Table;
use crate::text::visible;

/// Returns the page as one text that loads nothing.
pub fn suite_page(result: &SuiteResult) -> String {
    let title = format!("{} in the suite of truetail", visible(&result.tool));
    let section = |id, heading, content| Section { id, heading, content };
    let sections = vec![
        section("situations", "Situations", situations(result)),
        section("tested", "The sentences tested", sentences(result)),
        section("commands", "Commands", commands(result)),
    ];
    let header = html! {
        h1 { (title) }
        p { (visible(&result.tool)) " " (visible(&result.version)) ": " (suite_summary(result)) "." }
        (contents(&sections))
    };
    let footer = html! { p.faint { "Made by truetail " (env!("CARGO_PKG_VERSION")) "." } };
    let title = format!("{title} – truetail");
    Document { title: &title, header, sections: &sections, footer, live: None, site: None }.html()
}

fn situations(result: &SuiteResult) -> Markup {
    let row = |row: &truetail_analysis::league::SuiteRow| {
        let by = row.judgement.error_pct.map_or("–".to_owned(), |error| format!("{error:+.1} %"));
        [row.situation.clone(), row.judgement.state.words().to_owned(), visible(&row.judgement.found), by]
    };
    let heads = ["situation", "result", "found", "by how much"];
    let table =
        Table::new("Result of each situation", heads).with_words(3).with_rows(result.situations.iter().map(row));
    let class = if result.count(SuiteState::Fail) > 0 { "invalid" } else { "valid" };
    html! {
        div class=(class) { p.state { strong { (suite_summary(result)) } } }
        (table.markup())
    }
}

fn sentences(result: &SuiteResult) -> Markup {
    let row =
        |row: &truetail_analysis::league::SuiteRow| [row.situation.clone(), row.tests.clone(), row.source.clone()];
    let heads = ["situation", "sentence", "from"];
    Table::new("Sentence of each situation", heads).with_words(3).with_rows(result.situations.iter().map(row)).markup()
}

fn commands(result: &SuiteResult) -> Markup {
    html! {
        @for row in result.situations.iter().filter(|row| !row.command.is_empty()) {
            h3 { (row.situation) }
            pre { code { (visible(&row.command.join(" "))) } }
        }
    }
}
