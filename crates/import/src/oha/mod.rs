//! oha's output: a summary, JSON, CSV with a row for each answer, or a database.

mod database;

use truetail_run::{ForeignClock, ForeignRun, ForeignStarts};
use truetail_tools::files;

use crate::rows::Rows;
use crate::rows::number::Unit;
use crate::tables::SimpleTable;
use crate::whole::file::{WholeFile, all_marks, refused, run_of};
use crate::whole::json;
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) use database::OhaTable;

pub(crate) static TEXT: WholeFile = WholeFile {
    info: &FormatInfo { name: "oha-text", about: "the summary that oha prints", tool: Some("oha") },
    model: None,
    likeness: text_likeness,
    // In milliseconds or seconds with four decimals.
    parse: |bytes, sink| read(bytes, sink, ForeignClock { duration_resolution_ns: 100_000, ..ForeignClock::default() }),
};

/// Table of `--output-format csv`, which has no rows for requests without an answer.
pub(crate) static CSV: Rows<SimpleTable> = Rows(SimpleTable {
    status: Some("status"),
    bytes: Some("bytes"),
    notes: &[
        "oha's CSV has no rows for failed and aborted requests",
        "oha's output does not say whether --latency-correction was on; read as not corrected, the default",
    ],
    model: None,
    has_all_requests: false,
    ..SimpleTable::new(
        &FormatInfo {
            name: "oha-csv",
            about: "a row for each answer, from 'oha --output-format csv'",
            tool: Some("oha"),
        },
        ("request-start", ForeignStarts::Run),
        ("request-duration", Unit::Seconds),
        (1, 1),
    )
});

pub(crate) static JSON: WholeFile = WholeFile {
    info: &FormatInfo { name: "oha-json", about: "the result of 'oha --output-format json'", tool: Some("oha") },
    model: None,
    likeness: |excerpt| {
        json::has_keys(excerpt, &["successRate", "responseTimeHistogram", "latencyPercentiles", "slowest"])
    },
    parse: |bytes, sink| {
        json::check(bytes)?;
        read(bytes, sink, ForeignClock { duration_resolution_ns: 1, ..ForeignClock::default() })
    },
};

fn text_likeness(excerpt: &Excerpt<'_>) -> Likeness {
    if !excerpt.text().trim_start().starts_with("Summary:") {
        return Likeness::No;
    }
    all_marks(excerpt, &["Success rate:", "Slowest:", "Requests/sec:"])
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>, clock: ForeignClock) -> Result<ForeignRun, ImportError> {
    let report = files::oha(bytes).map_err(|error| refused(bytes, &error))?;
    Ok(ForeignRun { clock, ..run_of(report, sink) })
}
