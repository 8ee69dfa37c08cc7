//! The page of an audit: the findings in a file of another tool, the evidence, and the missing requests.

use maud::{Markup, html};
use truetail_analysis::audit::{Audit, AuditFinding, AuditStop};
use truetail_report::plot::{audit_quantiles, audit_timeline};
use truetail_report::{AuditReport, AuditWords, audit_words, number};

use crate::document::{Document, Section, contents};
use crate::figure::Figure;
use crate::table::Table;

/// Maximum number of stretches in the table. The longest ones are kept.
const MAX_ROWS: usize = 200;

/// The content of the page of an audit.
#[derive(Clone, Copy, Debug)]
pub struct AuditPage<'a> {
    /// The audited files with their findings.
    pub reports: &'a [AuditReport],
    /// The command that made the audit, without secrets.
    pub command: &'a str,
}

/// Returns the page as one text that loads nothing.
pub fn audit_page(page: &AuditPage<'_>) -> String {
    let (title, sections) = match page.reports {
        [one] => (format!("Audit of {}", one.file), sections_of(one, page)),
        several => (format!("Audit of {} files", several.len()), sections_of_several(page)),
    };
    let header = html! {
        h1 { (title) }
        p { "Did the client stop sending while the service was slow? Then its file lacks the requests that would have been slow too." }
        (contents(&sections))
    };
    let footer = html! { p.faint { "Made by truetail " (env!("CARGO_PKG_VERSION")) " from the files alone." } };
    let title = format!("{title} – truetail");
    Document { title: &title, header, sections: &sections, footer, live: None, site: None }.html()
}

fn sections_of(report: &AuditReport, page: &AuditPage<'_>) -> Vec<Section> {
    let words = audit_words(report);
    let section = |id, heading, content| Section { id, heading, content };
    let mut sections = vec![
        section("finding", "Finding", finding(report, &words)),
        section("percentiles", "Percentiles", percentiles(report, &words, "")),
        section("over-time", "The file over time", over_time(report, "")),
    ];
    sections.extend(file(report, &words).map(|content| section("file", "The file", content)));
    sections.push(section("repeat", "To repeat this", html! { pre { code { (page.command) } } }));
    sections
}

fn sections_of_several(page: &AuditPage<'_>) -> Vec<Section> {
    let each = html! {
        @for report in page.reports {
            @let words = audit_words(report);
            @let of = format!(": {}", report.file);
            h3 { (report.file) }
            (finding(report, &words))
            (percentiles(report, &words, &of))
            (over_time(report, &of))
            @if let Some(file) = file(report, &words) { (file) }
        }
    };
    let section = |id, heading, content| Section { id, heading, content };
    vec![
        section("summary", "Findings", summary(page.reports)),
        section("files", "The files", each),
        section("repeat", "To repeat this", html! { pre { code { (page.command) } } }),
    ]
}

fn summary(reports: &[AuditReport]) -> Markup {
    let row = |report: &AuditReport| {
        let words = audit_words(report);
        let missing = report.audit.missing_arrivals.map_or("–".to_owned(), number::count);
        let requests = report.audit.requests.map_or("–".to_owned(), number::count);
        let reported = report.audit.reported_at(0.99);
        let corrected = report.audit.corrected_at(0.99).map(|one| one.value_ns);
        let time = |ns: Option<u64>| ns.map_or("–".to_owned(), number::time);
        [report.file.clone(), words.finding.to_owned(), requests, missing, time(reported), time(corrected)]
    };
    let heads = ["file", "finding", "requests", "missing", "p99 reported", "p99 corrected"];
    Table::new("The files beside each other", heads).with_words(2).with_rows(reports.iter().map(row)).markup()
}

/// Returns the class of a finding in the style sheet.
const fn class_of(finding: AuditFinding) -> &'static str {
    match finding {
        AuditFinding::NoneSeen => "valid",
        AuditFinding::Likely | AuditFinding::CannotTell => "suspect",
        AuditFinding::Certain => "invalid",
    }
}

fn finding(report: &AuditReport, words: &AuditWords) -> Markup {
    let class = class_of(report.audit.finding);
    html! {
        div class=(class) {
            p.state { strong { (words.finding) } " " (words.says) }
            p.faint { (words.about.join(" · ")) }
            @if let Some(missing) = &words.missing { p.missing { (missing) } }
            @if !report.audit.evidence.is_empty() {
                ul.reasons {
                    @for (evidence, sentence) in report.audit.evidence.iter().zip(&words.evidence) {
                        li { code { (evidence.code) } ": " (sentence) }
                    }
                }
            }
        }
    }
}

/// Returns the percentiles of a file. `of` ends the captions of tables, which must be unique on a page.
fn percentiles(report: &AuditReport, words: &AuditWords, of: &str) -> Markup {
    let heads = ["percentile", "reported", "corrected", "bounds"];
    let table = Table::new(format!("Percentiles of the latency{of}"), heads).with_rows(words.rows.iter().cloned());
    html! {
        @if words.rows.is_empty() { p.none { "The file has no percentiles." } }
        @else {
            (table.without_empty_columns().markup())
            figure {
                div.picture { (maud::PreEscaped(audit_quantiles(&report.audit).svg())) }
                figcaption { (percentiles_caption(report)) }
            }
        }
    }
}

const fn percentiles_caption(report: &AuditReport) -> &'static str {
    if report.audit.finding.is_omission() && !report.audit.corrected.is_empty() {
        "The further to the right, the slower. The requests that are missing are added as if each had waited until sending \
         went on; the bounds are with as few and as many of them as the file allows."
    } else {
        "The further to the right, the slower. Nothing is corrected, because the file does not show that requests are missing, \
         or how slow they would have been."
    }
}

fn over_time(report: &AuditReport, of: &str) -> Markup {
    let audit = &report.audit;
    let Some(timeline) = &audit.timeline else {
        return html! { p.none { "The file does not say when its requests started." } };
    };
    let seconds = |ns: u64| format!("{:.3}", ns.saturating_sub(timeline.from_ns) as f64 / 1e9);
    let row = |stop: &AuditStop| {
        let length = number::time(stop.length_ns());
        [seconds(stop.from_ns), length, format!("{:.0}", stop.missing)]
    };
    let mut longest: Vec<_> = audit.stops.iter().collect();
    longest.sort_by_key(|stop| std::cmp::Reverse(stop.length_ns()));
    longest.truncate(MAX_ROWS);
    longest.sort_by_key(|stop| stop.from_ns);
    let which = match audit.stops.len() - longest.len() {
        0 => String::new(),
        more => format!(", the longest of {}", more + longest.len()),
    };
    let table = Table::new(format!("Where sending stopped{which}{of}"), ["from, s", "for", "missing requests"])
        .with_rows(longest.into_iter().map(row));
    let figure = Figure { name: "audit-timeline", picture: audit_timeline(audit), caption: caption(audit), table };
    figure.markup()
}

fn caption(audit: &Audit) -> &'static str {
    if audit.stops.is_empty() {
        "Requests that started, those in flight, and how long the requests took that started then. A client that waits for \
         answers would stop sending where something is slow."
    } else {
        "Shaded: the client sent nothing, or less than usual, while something was slow, and went on with the next answer. A \
         client on a schedule would have gone on sending."
    }
}

/// Returns unused data, notes, and habits of the tool; `None` if there is nothing to report.
fn file(report: &AuditReport, words: &AuditWords) -> Option<Markup> {
    let has_words = !(words.unused.is_empty() && words.notes.is_empty() && words.habits.is_empty());
    has_words.then(|| {
        html! {
            (list("What could not be used", &words.unused))
            (list("What a reader should know", &words.notes))
            (list(&format!("What {} does by itself", report.run.tool.unwrap_or(report.run.format)), &words.habits))
        }
    })
}

fn list(heading: &str, items: &[String]) -> Markup {
    html! {
        @if !items.is_empty() {
            h3 { (heading) }
            ul.notes { @for item in items { li { (item) } } }
        }
    }
}
