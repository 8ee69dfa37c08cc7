//! Asks whether to remove runs.

use maud::html;
use truetail_report::run_words;
use truetail_run::catalog::SavedRun;

use super::list::footer;
use crate::document::{Document, Section};
use crate::site::SitePlace;

/// Returns the page that asks whether to remove `runs`. Its form sends the secret `token` of the site.
pub fn removal_page(runs: &[&SavedRun], token: &str, site: &SitePlace) -> String {
    let content = html! {
        ul {
            @for run in runs {
                @let words = run_words(run);
                li { (words.name) " of " (words.started) ", " (words.verdict) ": " code { (run.folder) } }
            }
        }
        p { "Their files are removed for good. A folder with other files stays." }
        form action="/remove" method="post" {
            input type="hidden" name="token" value=(token);
            @for run in runs { input type="hidden" name="run" value=(run.folder); }
            p.buttons { button type="submit" { "Remove " (number_of(runs.len())) } " " a href="/" { "Keep them" } }
        }
    };
    let sections = [Section { id: "removal", heading: "Runs to remove", content }];
    let header = html! { h1 { "Remove runs?" } };
    let title = "Remove runs? – truetail";
    Document { title, header, sections: &sections, footer: footer(), live: None, site: Some(site) }.html()
}

fn number_of(runs: usize) -> String {
    if runs == 1 { "this run".to_owned() } else { format!("these {runs} runs") }
}
