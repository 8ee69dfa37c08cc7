//! `truetail correct`: applies HdrHistogram's correction and shows the percentiles before and after.

use truetail_analysis::audit::{Correction, Corrector};
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_report::{CorrectReport, correct_json, correct_text, number};
use truetail_run::{ForeignRun, LatencyFrom};

use super::reading::{format_of, import_options, read};
use crate::args::correct::CorrectArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::output;

/// Corrects a file and prints the result.
///
/// # Errors
/// If the file cannot be read, holds neither requests nor a histogram, or needs no correction.
pub(crate) fn correct(args: CorrectArgs) -> Result<ExitCode> {
    let interval = args.expected_interval;
    let mut corrector = Corrector::new(interval);
    let options = import_options(&args.reading, Some(interval));
    let run = read(&args.file, format_of(&args.reading)?, &options, &mut |request| {
        if request.outcome != Outcome::NeverIssued {
            corrector.record(request.start_ns, request.duration);
        }
    })?;
    let name = args.file.display().to_string();
    let objection = objection(run.claims.latency_from);
    if let Some(objection) = objection.filter(|_| !args.anyway) {
        return Err(runtime_error(format!(
            "'{name}' is not corrected: {objection}; --anyway corrects it all the same"
        )));
    }
    let correction = correction(corrector, &run, interval).ok_or_else(|| runtime_error(nothing_to_correct(&name)))?;
    let warnings = objection.map(str::to_owned).into_iter().chain(too_short(&correction, interval)).collect();
    let report = CorrectReport { file: name, warnings, damage: run.damage, notes: run.notes, correction };
    output::print(&if args.json { correct_json(&report) } else { correct_text(&report, output::stdout_style()) })?;
    Ok(ExitCode::Success)
}

/// Corrects the single requests or, without any, the histogram.
fn correction(corrector: Corrector, run: &ForeignRun, interval: Nanos) -> Option<Correction> {
    let of_requests = corrector.finish();
    if !of_requests.whole.before.is_empty() {
        return Some(of_requests);
    }
    let histogram = run.histogram.as_ref().filter(|histogram| !histogram.is_empty())?;
    Some(Correction::from_histogram(histogram, interval))
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

/// Warns if the interval cannot be that of one user. A user who waits for answers cannot send faster than they come, so
/// most answers must take less than the interval.
fn too_short(correction: &Correction, interval: Nanos) -> Option<String> {
    let typical = correction.whole.before.quantile(0.5).filter(|typical| typical.0 as f64 > 1.1 * interval.0 as f64)?;
    Some(format!(
        "half of the requests took {} or longer, which is more than the expected interval of {interval}; is that the interval of all users \
         together? The correction needs that of one user",
        number::time(typical.0)
    ))
}

fn nothing_to_correct(name: &str) -> String {
    format!(
        "'{name}' holds neither single requests nor a histogram, and percentiles alone cannot be corrected; try 'truetail audit'"
    )
}
