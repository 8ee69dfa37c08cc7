//! The report that ab prints, and the files of its options `-e` and `-g`.

use truetail_model::workload::LoadModelKind;
use truetail_run::{ClaimedQuantile, Claims, ForeignClock, ForeignLoad, ForeignRun, ForeignStarts, LatencyFrom};
use truetail_tools::files;

use crate::rows::Rows;
use crate::rows::number::Unit;
use crate::tables::SimpleTable;
use crate::whole::file::{WholeFile, all_marks, refused, run, run_of, text};
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) static REPORT: WholeFile = WholeFile {
    info: &FormatInfo { name: "ab-report", about: "the report that ab prints", tool: Some("ab") },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| all_marks(excerpt, &["This is ApacheBench", "Complete requests:"]),
    parse: report,
};

pub(crate) static PERCENTILES: WholeFile = WholeFile {
    info: &FormatInfo { name: "ab-percentiles", about: "the percentiles of 'ab -e'", tool: Some("ab") },
    model: Some(LoadModelKind::Closed),
    likeness: percentiles_likeness,
    parse: percentiles,
};

/// Table of `-g`: starts in whole seconds, sorted by latency, without status.
pub(crate) static REQUESTS: Rows<SimpleTable> = Rows(SimpleTable {
    in_order: false,
    notes: &[
        "ab's file has starts in whole seconds, is sorted by latency, and does not tell requests that failed from answers",
    ],
    ..SimpleTable::new(
        &FormatInfo { name: "ab-g", about: "ab's requests, written with -g", tool: Some("ab") },
        ("seconds", ForeignStarts::Unix),
        ("ttime", Unit::Millis),
        (1_000_000_000, 1_000_000),
    )
});

/// Reads the report, which is in whole milliseconds.
fn report(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let report = files::ab(bytes).map_err(|error| refused(bytes, &error))?;
    let clock = ForeignClock { duration_resolution_ns: 1_000_000, ..ForeignClock::default() };
    let load = ForeignLoad { users: concurrency(&text(bytes)), ..ForeignLoad::default() };
    Ok(ForeignRun { clock, load, ..run_of(report, sink) })
}

/// Reads `Concurrency Level:      10`.
fn concurrency(text: &str) -> Option<u32> {
    text.lines().find_map(|line| line.strip_prefix("Concurrency Level:")?.trim().parse().ok())
}

fn percentiles_likeness(excerpt: &Excerpt<'_>) -> Likeness {
    if excerpt.first_line().starts_with(b"Percentage served,Time in ms") { Likeness::Yes } else { Likeness::No }
}

/// Reads the times at 0 %, 1 %, … 100 %, in microseconds.
fn percentiles(bytes: &[u8], _sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let times = files::ab_percentiles(bytes).map_err(|error| refused(bytes, &error))?;
    let inner = times.iter().enumerate().take(100).skip(1);
    let quantiles =
        inner.map(|(percent, &value_ns)| ClaimedQuantile { q: percent as f64 / 100.0, value_ns, printed: true });
    let max_ns = times.last().copied();
    let claims = Claims { quantiles: quantiles.collect(), max_ns, ..Claims::silent(LatencyFrom::Send) };
    let clock = ForeignClock { duration_resolution_ns: 1_000, ..ForeignClock::default() };
    Ok(ForeignRun { clock, ..run(claims) })
}
