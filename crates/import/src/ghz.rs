//! ghz's result as JSON and its table of calls as CSV.

use truetail_model::record::Outcome;
use truetail_model::workload::LoadModelKind;
use truetail_run::{Claims, ForeignClock, ForeignLoad, ForeignRun, ForeignStarts, LatencyFrom, UnusedRows};
use truetail_tools::FailureClassifier;
use truetail_tools::files::{GhzResult, ghz_csv_row, ghz_json};

use crate::whole::file::{WholeFile, leave_out, refused, request, run, run_of};
use crate::whole::json;
use crate::whole::rows::{Row, each_row};
use crate::{FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) static JSON: WholeFile = WholeFile {
    info: &FormatInfo { name: "ghz-json", about: "the result of 'ghz -O json' or 'ghz -O pretty'", tool: Some("ghz") },
    model: None,
    likeness: |excerpt| {
        json::has_keys(excerpt, &["endReason", "statusCodeDistribution", "errorDistribution", "average", "fastest"])
    },
    parse: result,
};

pub(crate) static CSV: WholeFile = WholeFile {
    info: &FormatInfo { name: "ghz-csv", about: "a row for each call, from 'ghz -O csv'", tool: Some("ghz") },
    model: None,
    likeness: |excerpt| if excerpt.first_line() == HEADER { Likeness::Yes } else { Likeness::No },
    parse: table,
};

const HEADER: &[u8] = b"duration (ms),status,error";
/// Number of calls that ghz keeps.
const KEPT: u64 = 1_000_000;

/// Reads the JSON. Time stamps are in nanoseconds.
fn result(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    json::check(bytes)?;
    let GhzResult { report, workers, rate_per_second } = ghz_json(bytes).map_err(|error| refused(bytes, &error))?;
    let model = if workers.is_some() { LoadModelKind::Closed } else { LoadModelKind::Open };
    let load = ForeignLoad { users: workers, rate_per_second, model: Some(model) };
    let has_calls = !report.requests.is_empty();
    let starts = if has_calls { ForeignStarts::Unix } else { ForeignStarts::None };
    let clock = ForeignClock { starts, start_resolution_ns: u64::from(has_calls), duration_resolution_ns: 1 };
    Ok(ForeignRun { clock, load, ..run_of(report, sink) })
}

/// Reads the table, which has neither starts nor the load, in hundredths of a millisecond.
fn table(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let mut damage = UnusedRows::default();
    let mut failures = FailureClassifier::default();
    let mut rows = 0;
    let mut failed = 0;
    damage.truncated_at = each_row(bytes, |Row { place, line }| {
        if line.as_bytes() == HEADER {
            return;
        }
        match ghz_csv_row(line, &mut failures) {
            Some(one) => {
                rows += 1;
                failed += u64::from(one.outcome != Outcome::response(200));
                sink(&request(&one, None));
            }
            None => leave_out(&mut damage, || (place, "not a duration, a status and an error".to_owned())),
        }
    });
    let claims = Claims {
        measured: Some(rows),
        requests: Some(rows).filter(|rows| *rows < KEPT),
        failed: Some(failed),
        ..Claims::silent(LatencyFrom::Send)
    };
    let clock = ForeignClock { duration_resolution_ns: 10_000, ..ForeignClock::default() };
    let kept = (rows >= KEPT).then(|| format!("ghz keeps only its first {KEPT} results"));
    let notes = kept.into_iter().chain(failures.notes()).collect();
    Ok(ForeignRun { clock, damage, notes, ..run(claims) })
}
