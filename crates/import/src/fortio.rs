//! fortio's result (`-json`) and its access log (`-access-log-file`).

use truetail_model::workload::LoadModelKind;
use truetail_run::{Claims, ForeignClock, ForeignLoad, ForeignRun, ForeignStarts, LatencyFrom, UnusedRows};
use truetail_tools::FailureClassifier;
use truetail_tools::files::{FortioCall, FortioResult, fortio_log_line, fortio_result};

use crate::whole::file::{WholeFile, leave_out, refused, request, run};
use crate::whole::json;
use crate::whole::rows::{Row, each_row};
use crate::{FormatInfo, ImportError, RequestSink};

pub(crate) static JSON: WholeFile = WholeFile {
    info: &FormatInfo { name: "fortio-json", about: "the result of 'fortio load -json'", tool: Some("fortio") },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| json::has_keys(excerpt, &["RunType", "RequestedQPS", "DurationHistogram", "NumThreads"]),
    parse: result,
};

pub(crate) static LOG: WholeFile = WholeFile {
    info: &FormatInfo { name: "fortio-log", about: "the file of 'fortio load -access-log-file'", tool: Some("fortio") },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| json::has_keys(excerpt, &["latency", "timestamp", "thread", "iter", "ok"]),
    parse: log,
};

fn result(bytes: &[u8], _sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    json::check(bytes)?;
    let result = fortio_result(bytes).map_err(|error| refused(bytes, &error))?;
    let FortioResult { claims, histogram, threads, rate_per_second, version, bucket_ns } = result;
    let load = ForeignLoad { users: Some(threads), rate_per_second, ..ForeignLoad::default() };
    let clock = ForeignClock { duration_resolution_ns: bucket_ns, ..ForeignClock::default() };
    Ok(ForeignRun { version, clock, load, histogram: histogram.map(Into::into), ..run(claims) })
}

fn log(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let mut damage = UnusedRows::default();
    let mut failures = FailureClassifier::default();
    let mut rows = 0;
    let mut failed = 0;
    let mut users = None;
    damage.truncated_at = each_row(bytes, |Row { place, line }| match fortio_log_line(line, &mut failures) {
        Ok(FortioCall { request: one, thread, ok }) => {
            rows += 1;
            failed += u64::from(!ok);
            users = users.max(Some(thread.saturating_add(1)));
            sink(&request(&one, Some(thread)));
        }
        Err(why) => leave_out(&mut damage, || (place, why)),
    });
    let claims = Claims {
        measured: Some(rows),
        requests: Some(rows),
        failed: Some(failed),
        ..Claims::silent(LatencyFrom::Send)
    };
    let clock = ForeignClock { starts: ForeignStarts::Unix, start_resolution_ns: 1, duration_resolution_ns: 1_000 };
    let load = ForeignLoad { users, ..ForeignLoad::default() };
    Ok(ForeignRun { clock, load, damage, notes: failures.notes(), ..run(claims) })
}
