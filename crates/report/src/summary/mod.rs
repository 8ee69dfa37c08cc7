//! The screen of a run. First come the answers to the first questions: what was measured, is the measurement valid,
//! what did the server answer, and did each check and each gate pass? Then come the times, the time spent by cause,
//! each target, the run over time, and the folder of the saved run.
//!
//! | module | content |
//! |---|---|
//! | `headline` | the first lines |
//! | `load` | the target and the load in words |
//! | `answers` | shares of the statuses, the unanswered, the books |
//! | `tail` | the tables of quantiles |
//! | `time_spent` | parts of the response time |
//! | `sessions` | endings of sessions, and a row for each step |
//! | `streams` | endings of streams, and the times of their events |
//! | `targets` | a row for each target |
//! | `ledger` | parts of the response time that the service reported |
//! | `kept_headers` | response times by the value of a response header |
//! | `spans` | spans that are not part of any time |
//! | `marks` | effects of the commands that the run started |
//! | `modes` | groups of slow requests that took a similar time |
//! | `scrapes` | request times that the service published, beside the users' |
//! | `slowest` | a row for each of the slowest requests |
//! | `uncertainty`, `generator`, `fidelity` | additions of `--details` |
//! | `timeline` | two plots of one line |
//! | `notes` | notes, the end of an interrupted run, the folder of the saved run |

mod answers;
mod fidelity;
mod generator;
mod headline;
mod kept_headers;
mod labelled;
mod ledger;
mod load;
mod marks;
mod modes;
mod notes;
mod scrapes;
mod sessions;
mod shards;
mod slowest;
mod spans;
mod streams;
mod tail;
mod targets;
mod time_spent;
mod timeline;
mod uncertainty;

pub(crate) use answers::malformed_name;
pub use answers::{answer_details, answer_shares, books, cancelled, status_of, unanswered_outcomes};
pub use fidelity::{punctuality, settling, shadow};
pub use generator::{generator, ticks};
pub use headline::{decision, state_of_check};
pub use kept_headers::{header_groups, header_heads, header_rows};
pub use labelled::LabelledText;
pub use ledger::{ledger_heads, ledger_parts, ledger_rows, ledger_sentences};
pub use load::{headline, load_details, measured};
pub use marks::{MARK_HEADS, mark_rows, mark_sentences};
pub use modes::{MODE_HEADS, mode_rows, mode_sentences};
pub use notes::{notes, stopped_early};
pub use scrapes::{SCRAPE_HEADS, scrape_messages, scrape_rows, scrape_sentences, scrape_text};
pub use sessions::{
    further_requests, session_times, session_times_heads, sessions, step_quantile_names, step_quantiles,
};
pub use slowest::{link, slowest_heads, slowest_rows};
pub use streams::{goodput, stream_times, stream_times_heads, streams};
pub use tail::{TIMES_HEADS, capacity, times, times_by_status, times_by_status_heads, times_footnotes};
pub use targets::{target_heads, target_rows};
pub use time_spent::{start_delay, time_spent};
pub use uncertainty::uncertainty;

use truetail_analysis::verdict::code;
use truetail_run::{Findings, Run};

use crate::style::Style;
use labelled::labelled_texts;

/// Options of a summary.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SummaryOptions<'a> {
    /// Folder of the saved run, if it was saved.
    pub saved: Option<&'a str>,
    /// Always show the uncertainty, the start delay, the generator, the punctuality of the arrivals and the closed-loop
    /// shadow. Otherwise, they are shown only if they are the reason for a doubt.
    pub details: bool,
}

/// Returns the summary of a run.
pub fn summary(run: &Run, findings: &Findings, options: SummaryOptions<'_>, style: Style) -> String {
    let sections = [
        headline::lines(run, findings, style),
        sessions::table(findings, style),
        quantiles(findings, style),
        tail::by_status(run, findings, style),
        streams::table(run, findings, style),
        sessions::steps(run, findings, style),
        if run.facts.sessions.is_some() { Vec::new() } else { targets::table(run, findings, style) },
        ledger::table(run, findings, style),
        kept_headers::tables(run, findings, style),
        scrapes::lines(run, findings, style),
        marks::lines(run, findings, style),
        modes::lines(findings, style),
        slowest::table(run, findings, options.details, style),
        explanations(run, findings, options, style),
        timeline::lines(run, findings, style),
        shards::lines(run, style),
        notes::lines(run, options.saved, style),
    ];
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in section {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Returns the response times, or the capacity if the run is saturated: its times mainly reflect its length.
fn quantiles(findings: &Findings, style: Style) -> Vec<String> {
    if is_saturated(findings) { labelled_texts(capacity(findings), style) } else { tail::table(findings, style) }
}

/// Returns the time spent by cause, and explanations of the times or of doubts.
fn explanations(run: &Run, findings: &Findings, options: SummaryOptions<'_>, style: Style) -> Vec<String> {
    let shown = |detail: Detail| options.details || detail.explains_a_doubt(findings);
    let mut lines = labelled_texts(time_spent(findings).into_iter().chain(ticks(run)), style);
    if options.details {
        lines.extend(labelled_texts(load_details(run, findings), style));
        let [planned, issued] = books(run, findings);
        lines.extend(labelled_texts([("Arrivals", planned), ("", issued)], style));
    }
    let saturated = is_saturated(findings);
    let more = [
        uncertainty(findings).filter(|_| options.details && !saturated),
        start_delay(findings).filter(|_| shown(Detail::StartDelay)),
        generator(run, findings).filter(|_| shown(Detail::Generator)),
        punctuality(run, findings).filter(|_| shown(Detail::Arrivals)),
        settling(findings).filter(|_| !saturated),
        shadow(findings).filter(|_| options.details && !saturated),
    ];
    lines.extend(labelled_texts(more.into_iter().flatten(), style));
    lines
}

/// Lines that are shown on request, or if they explain a reason of the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Detail {
    StartDelay,
    Generator,
    Arrivals,
}

impl Detail {
    /// Returns the codes of the reasons that this detail explains.
    const fn codes(self) -> &'static [&'static str] {
        match self {
            Detail::StartDelay => {
                &[code::GENERATOR_LAG, code::GENERATOR_PAUSED, code::CONNECTION_WAIT, code::SATURATED]
            }
            Detail::Generator => &[
                code::GENERATOR_LAG,
                code::GENERATOR_PAUSED,
                code::GENERATOR_BUSY,
                code::GENERATOR_LIMIT,
                code::CPU_THROTTLED,
            ],
            Detail::Arrivals => &[code::ARRIVALS_OFF_SCHEDULE, code::RATE_NOT_REACHED],
        }
    }

    fn explains_a_doubt(self, findings: &Findings) -> bool {
        findings.verdict.reasons.iter().any(|reason| self.codes().contains(&reason.code.as_str()))
    }
}

fn is_saturated(findings: &Findings) -> bool {
    findings.verdict.has(code::SATURATED)
}
