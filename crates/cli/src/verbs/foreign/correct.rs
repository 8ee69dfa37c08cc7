//! `truetail correct`: HdrHistogram's correction, before and after.

use truetail_analysis::audit::{Corrector, corrected};
use truetail_model::record::Outcome;
use truetail_report::{CorrectReport, correct_json, correct_text};
use truetail_run::{ForeignRun, LatencyFrom};

use super::reading::{format_of, import_options, read};
use crate::args::correct::CorrectArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Corrects and prints.
///
/// # Errors
/// If the file cannot be read, holds neither requests nor a histogram, or needs no correction.
pub fn correct(args: CorrectArgs) -> Result<ExitCode> {
    let interval = args.expected_interval;
    let mut corrector = Corrector::new(interval);
    let options = import_options(&args.reading, Some(interval));
    let run = read(&args.file, format_of(&args.reading)?, &options, &mut |request| {
        if request.outcome != Outcome::NeverIssued {
            corrector.record(request.duration);
        }
    })?;
    let name = args.file.display().to_string();
    let objection = objection(run.claims.latency_from);
    if let Some(objection) = objection.filter(|_| !args.anyway) {
        return Err(runtime_error(format!(
            "'{name}' is not corrected: {objection}; --anyway corrects it all the same"
        )));
    }
    let (before, after, added) = of_requests_or_histogram(corrector, &run, args.expected_interval)
        .ok_or_else(|| runtime_error(nothing_to_correct(&name)))?;
    let report = CorrectReport {
        file: name,
        warnings: objection.map(str::to_owned).into_iter().collect(),
        damage: run.damage,
        notes: run.notes,
        before,
        after,
        added,
    };
    output::print(&if args.json { correct_json(&report) } else { correct_text(&report, output::stdout_style()) })?;
    Ok(ExitCode::Success)
}

type Corrected = (truetail_model::record::Histogram, truetail_model::record::Histogram, u64);

fn of_requests_or_histogram(
    corrector: Corrector,
    run: &ForeignRun,
    interval: truetail_model::time::Nanos,
) -> Option<Corrected> {
    let (before, after, added) = corrector.finish();
    if !before.is_empty() {
        return Some((before, after, added));
    }
    let before = run.histogram.as_ref().filter(|histogram| !histogram.is_empty())?;
    let (after, added) = corrected(before, interval);
    Some((before.clone(), after, added))
}

fn objection(latency_from: LatencyFrom) -> Option<&'static str> {
    match latency_from {
        LatencyFrom::Send => None,
        LatencyFrom::Intended => {
            Some("its latencies count from intended starts already, so that a correction counts the waiting twice")
        }
        LatencyFrom::BackFilled => {
            Some("its tool added missing requests already, so that a correction counts the waiting twice")
        }
    }
}

fn nothing_to_correct(name: &str) -> String {
    format!(
        "'{name}' holds neither single requests nor a histogram, and percentiles alone cannot be corrected; try 'truetail audit'"
    )
}
