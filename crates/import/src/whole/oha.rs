//! What oha prints: a summary, JSON, or CSV with a row for each answer.

use truetail_run::{ForeignClock, ForeignRun, ForeignStarts};
use truetail_tools::files;

use super::file::{WholeFile, all_marks, refused, run_of, text};
use super::json;
use crate::{FormatInfo, ImportError, Likeness, RequestSink, habits};

pub(super) static TEXT: WholeFile = WholeFile {
    info: &FormatInfo { name: "oha-text", about: "the summary that oha prints", tool: Some("oha") },
    habits: habits::OHA,
    model: None,
    likeness: text_likeness,
    // In milliseconds or seconds with four decimals.
    parse: |bytes, sink| read(bytes, sink, ForeignClock { duration_resolution_ns: 100_000, ..ForeignClock::default() }),
};

pub(super) static CSV: WholeFile = WholeFile {
    info: &FormatInfo {
        name: "oha-csv",
        about: "a row for each answer, from 'oha --output-format csv'",
        tool: Some("oha"),
    },
    habits: habits::OHA,
    model: None,
    likeness: csv_likeness,
    parse: |bytes, sink| {
        let clock = ForeignClock { starts: ForeignStarts::Run, start_resolution_ns: 1, duration_resolution_ns: 1 };
        read(bytes, sink, clock)
    },
};

pub(super) static JSON: WholeFile = WholeFile {
    info: &FormatInfo { name: "oha-json", about: "the result of 'oha --output-format json'", tool: Some("oha") },
    habits: habits::OHA,
    model: None,
    likeness: |head| json::has_keys(head, &["successRate", "responseTimeHistogram", "latencyPercentiles", "slowest"]),
    parse: |bytes, sink| {
        json::check(bytes)?;
        read(bytes, sink, ForeignClock { duration_resolution_ns: 1, ..ForeignClock::default() })
    },
};

fn text_likeness(head: &[u8]) -> Likeness {
    if !text(head).trim_start().starts_with("Summary:") {
        return Likeness::No;
    }
    all_marks(head, &["Success rate:", "Slowest:", "Requests/sec:"])
}

fn csv_likeness(head: &[u8]) -> Likeness {
    let head = text(head);
    match head.strip_prefix("request-start,") {
        Some(rest) if rest.lines().next().is_some_and(|columns| columns.contains("request-duration")) => Likeness::Yes,
        Some(_) => Likeness::Near("the column 'request-duration' is missing".to_owned()),
        None => Likeness::No,
    }
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>, clock: ForeignClock) -> Result<ForeignRun, ImportError> {
    let report = files::oha(bytes).map_err(|error| refused(bytes, &error))?;
    Ok(ForeignRun { clock, ..run_of(report, sink) })
}
