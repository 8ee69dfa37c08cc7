//! Parser of oha's output in one of three formats: a CSV row for each answer, JSON, or text.

mod common;
mod csv;
mod json;
mod page;

use truetail_run::LatencyFrom;

use self::common::STDOUT;
use crate::{ParseError, ToolOutput, ToolReport};

pub(super) use self::common::{NAME, TESTED};

/// Presence of `--latency-correction`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Correction {
    /// The command line has it.
    On,
    /// The command line does not have it.
    Off,
    /// The command line is unknown, but probably the laboratory's.
    Unknown,
    /// The command line is unknown and could be any.
    Unstated,
}

/// Parses any of the three formats. No format says whether `--latency-correction` was on. If it is
/// [`Correction::Unknown`], CSV counts as corrected, as the laboratory requests it, and JSON and text do not, by oha's
/// default.
pub(crate) fn parse(output: &ToolOutput, correction: Correction) -> Result<ToolReport, ParseError> {
    let text = output.text();
    let (mut report, usual) = match text.trim_start() {
        start if start.starts_with("request-start,") => (csv::parse(&output.stdout)?, true),
        start if start.starts_with('{') => (json::parse(&output.stdout)?, false),
        start if start.starts_with("Summary:") => (page::parse(&text)?, false),
        _ => return Err(STDOUT.no_result(output, "CSV, JSON or summary of oha")),
    };
    let corrected = match correction {
        Correction::On => true,
        Correction::Off | Correction::Unstated => false,
        Correction::Unknown => usual,
    };
    report.claims.latency_from = if corrected { LatencyFrom::Intended } else { LatencyFrom::Send };
    report.notes.push(note(correction, corrected).to_owned());
    Ok(report)
}

fn note(correction: Correction, corrected: bool) -> &'static str {
    match (correction, corrected) {
        (Correction::On, _) => "read as corrected, because its command has --latency-correction and a rate",
        (Correction::Off, _) => {
            "read as not corrected, because its command does not have --latency-correction with a rate (-q, or a burst)"
        }
        (Correction::Unknown, true) => {
            "oha's output does not say whether --latency-correction was on; read as corrected, which is how the laboratory runs it"
        }
        (Correction::Unstated, _) | (Correction::Unknown, false) => {
            "oha's output does not say whether --latency-correction was on; read as not corrected, the default"
        }
    }
}
