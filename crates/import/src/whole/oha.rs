//! oha's output: a summary, JSON, or CSV with a row for each answer.

use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::{Claims, Damage, ForeignClock, ForeignRequest, ForeignRun, ForeignStarts, LatencyFrom};
use truetail_tools::{files, units};

use super::file::{WholeFile, all_marks, leave_out, refused, run, run_of, text};
use super::json;
use super::rows::{Row, each_row};
use crate::{FormatInfo, ImportError, Likeness, RequestSink};

pub(super) static TEXT: WholeFile = WholeFile {
    info: &FormatInfo { name: "oha-text", about: "the summary that oha prints", tool: Some("oha") },
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
    model: None,
    likeness: csv_likeness,
    parse: read_csv,
};

pub(super) static JSON: WholeFile = WholeFile {
    info: &FormatInfo { name: "oha-json", about: "the result of 'oha --output-format json'", tool: Some("oha") },
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

/// Positions of the cells in a row of the CSV.
struct Columns {
    start: usize,
    duration: usize,
    bytes: Option<usize>,
    status: usize,
}

impl Columns {
    fn read(header: &str) -> Option<Columns> {
        let at = |name: &str| header.split(',').position(|column| column.trim() == name);
        let (start, duration) = (at("request-start")?, at("request-duration")?);
        Some(Columns { start, duration, bytes: at("bytes"), status: at("status")? })
    }

    /// Reads a request. Times are seconds since the start of the run.
    fn request(&self, row: &str) -> Option<ForeignRequest> {
        let cells: Vec<_> = row.split(',').collect();
        Some(ForeignRequest {
            start_ns: Some(units::seconds(cells.get(self.start)?)?.0),
            duration: units::seconds(cells.get(self.duration)?)?,
            outcome: Outcome::Response { status: cells.get(self.status)?.trim().parse().ok()? },
            worker: None,
            bytes_in: self.bytes.and_then(|at| cells.get(at)?.trim().parse().ok()),
            waited: Nanos::ZERO,
        })
    }
}

/// Reads row by row instead of with the laboratory's parser, so that an invalid row does not spoil the rest.
fn read_csv(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let (mut columns, mut damage, mut rows) = (None, Damage::default(), 0);
    damage.truncated_at = each_row(bytes, |Row { place, line }| match &columns {
        None => columns = Some(Columns::read(line)),
        Some(columns) => match columns.as_ref().and_then(|columns| columns.request(line)) {
            Some(request) => {
                rows += 1;
                sink(&request);
            }
            None => leave_out(&mut damage, || (place, "not a start, a duration and a status".to_owned())),
        },
    });
    let claims = Claims { measured: Some(rows), ..Claims::silent(LatencyFrom::Send) };
    let clock = ForeignClock { starts: ForeignStarts::Run, start_resolution_ns: 1, duration_resolution_ns: 1 };
    let notes = vec![
        "oha's CSV has no rows for failed and aborted requests".to_owned(),
        "oha's output does not say whether --latency-correction was on; read as not corrected, the default".to_owned(),
    ];
    Ok(ForeignRun { clock, damage, notes, ..run(claims) })
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>, clock: ForeignClock) -> Result<ForeignRun, ImportError> {
    let report = files::oha(bytes).map_err(|error| refused(bytes, &error))?;
    Ok(ForeignRun { clock, ..run_of(report, sink) })
}
