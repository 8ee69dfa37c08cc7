//! The page of a sweep over rates.

use maud::html;
use truetail_analysis::sweep::SweepStep;
use truetail_report::plot::Picture;
use truetail_report::{SweepReport, number};

use crate::document::{Document, Section, contents};
use crate::figure::drawn;
use crate::table::Table;

/// The content of the page of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepPage<'a> {
    /// The sweep, and the ones beside it.
    pub report: &'a SweepReport,
    /// Their curves.
    pub curves: &'a Picture,
    /// The command that made it, without secrets.
    pub command: &'a str,
}

/// Returns the page as one text that loads nothing.
pub fn sweep_page(page: &SweepPage<'_>) -> String {
    let sections = [curves(page), rates(page), runs(page), repeat(page)];
    let sweep = &page.report.sweep;
    let header = html! {
        h1 { "Sweep of " (sweep.target) }
        p.faint {
            (sweep.steps.len()) " of " (sweep.planned_rates.len()) " rates, "
            (number::round_time((sweep.step_s * 1e9) as u64)) " each."
        }
        (contents(&sections))
    };
    let footer = html! {
        p.faint { "Made by truetail " (env!("CARGO_PKG_VERSION")) ". Times run from the moment at which a request was due." }
    };
    let title = format!("Sweep of {} – truetail", sweep.target);
    Document { title: &title, header, sections: &sections, footer, live: None, site: None }.html()
}

fn curves(page: &SweepPage<'_>) -> Section {
    let content = html! {
        figure {
            div.picture { (drawn(page.curves)) }
            figcaption {
                "Right is more throughput, low is faster. Where the curve turns up, requests begin to queue; where it turns \
                 back, more load only makes them wait longer."
            }
        }
        @for sentence in page.report.sentences() { p { (sentence) } }
    };
    Section { id: "curves", heading: "Throughput and times", content }
}

fn rates(page: &SweepPage<'_>) -> Section {
    let (heads, rows) = page.report.table();
    let heads = heads.into_iter().map(|head| if head.is_empty() { "state".to_owned() } else { head });
    let table = Table::new("Figures of each rate", heads).with_rows(rows).without_empty_columns();
    let goodput = &page.report.sweep.goodput_slo;
    let content = html! {
        (table.markup())
        @if !goodput.is_empty() {
            p { "Goodput is the share of planned requests that met " (goodput.join(" and ")) "." }
        }
        @for (name, sweep) in page.report.named().iter().skip(1) {
            @let (heads, rows) = SweepReport { sweep: (*sweep).clone(), beside: Vec::new(), folder: String::new() }.table();
            (Table::new(format!("Figures of {name}"), heads).with_rows(rows).without_empty_columns().markup())
        }
    };
    Section { id: "rates", heading: "Rates", content }
}

fn runs(page: &SweepPage<'_>) -> Section {
    // Each step is saved in a folder beside this page.
    let name = |step: &SweepStep| step.run.as_deref()?.rsplit('/').next().map(str::to_owned);
    let content = html! {
        ul.runs {
            @for step in &page.report.sweep.steps {
                li {
                    @match name(step) {
                        Some(name) => a href={ (name) "/report.html" } { (number::rate(step.rate)) },
                        None => (number::rate(step.rate)),
                    }
                    @if let Some(reason) = &step.reason { ": " (reason) }
                }
            }
        }
    };
    Section { id: "runs", heading: "The runs", content }
}

fn repeat(page: &SweepPage<'_>) -> Section {
    Section { id: "repeat", heading: "To repeat this", content: html! { pre { code { (page.command) } } } }
}
