//! Locust's own files, which have no single requests (the CSV of `--csv`, and the JSON of `--json`), and the rows of
//! our listener.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::{ClaimedQuantile, Claims, ForeignClock, ForeignLoad, ForeignRun, ForeignStarts, LatencyFrom};
use truetail_tools::{files, units};

use crate::rows::Rows;
use crate::rows::number::Unit;
use crate::tables::SimpleTable;
use crate::whole::file::{WholeFile, refused, run};
use crate::whole::table::{Table, TableRow};
use crate::whole::{json, table};
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) static STATS: WholeFile = WholeFile {
    info: &FormatInfo { name: "locust-stats", about: "the file _stats.csv of 'locust --csv'", tool: Some("locust") },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| table::likeness(excerpt, &["Request Count", "Failure Count", "Median Response Time"]),
    parse: |bytes, _| stats(bytes),
};

pub(crate) static HISTORY: WholeFile = WholeFile {
    info: &FormatInfo {
        name: "locust-history",
        about: "the file _stats_history.csv of 'locust --csv'",
        tool: Some("locust"),
    },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| table::likeness(excerpt, &["User Count", "Total Request Count", "Total Median Response Time"]),
    parse: |bytes, _| history(bytes),
};

pub(crate) static JSON: WholeFile = WholeFile {
    info: &FormatInfo { name: "locust-json", about: "the statistics of 'locust --json'", tool: Some("locust") },
    model: Some(LoadModelKind::Closed),
    likeness: json_likeness,
    parse: statistics,
};

/// Rows from truetail's listener.
pub(crate) static SAMPLES: Rows<SimpleTable> = Rows(SimpleTable {
    status: Some("status"),
    error: Some("exception"),
    bytes: Some("response_length"),
    ..SimpleTable::new(
        &FormatInfo {
            name: "locust-samples",
            about: "requests of Locust, written by the listener of 'truetail lab'",
            tool: Some("locust"),
        },
        ("start_time", ForeignStarts::Unix),
        ("response_time_ms", Unit::Millis),
        (1_000, 1_000),
    )
});

/// Locust rounds to whole milliseconds, and above 100 ms to two digits.
const CLOCK: ForeignClock =
    ForeignClock { starts: ForeignStarts::None, start_resolution_ns: 0, duration_resolution_ns: 1_000_000 };

/// The row with the totals.
const ALL: &str = "Aggregated";

/// Reads the row `Aggregated`, whose columns `50%`, `66%` … are the quantiles of the run.
fn stats(bytes: &[u8]) -> Result<ForeignRun, ImportError> {
    let table = Table::read(bytes);
    let row = table.rows.iter().rev().find(|row| row.text("Name") == Some(ALL)).ok_or_else(|| table.lacks(ALL))?;
    let some = |column| row.number(column).filter(|_| row.count("Request Count") > Some(0));
    let quantile = |(column, value): (&str, &str)| Some((percent(column)?, units::millis(value).map(|time| time.0)));
    let claims = Claims {
        quantiles: json::quantiles(row.cells().filter_map(quantile).map(|(q, value)| (Some(q), value))),
        mean_ns: json::time(some("Average Response Time"), 1e6),
        max_ns: json::time(some("Max Response Time"), 1e6),
        measured: row.count("Request Count"),
        requests: row.count("Request Count"),
        failed: row.count("Failure Count"),
        rate_per_second: row.number("Requests/s"),
        ..Claims::silent(LatencyFrom::Send)
    };
    Ok(ForeignRun { clock: CLOCK, damage: table.damage, ..run(claims) })
}

/// Reads `50%`, `99.9%`.
fn percent(column: &str) -> Option<f64> {
    column.strip_suffix('%').and_then(units::quantile)
}

/// Reads the last row `Aggregated`. Only its columns `Total …` are about the whole run.
fn history(bytes: &[u8]) -> Result<ForeignRun, ImportError> {
    let table = Table::read(bytes);
    let all: Vec<&TableRow> = table.rows.iter().filter(|row| row.text("Name") == Some(ALL)).collect();
    let last = all.last().ok_or_else(|| table.lacks(ALL))?;
    let made = last.count("Total Request Count");
    let some = |column| last.number(column).filter(|_| made > Some(0));
    let median = json::time(some("Total Median Response Time"), 1e6);
    let claims = Claims {
        quantiles: median.map(|value_ns| ClaimedQuantile { q: 0.5, value_ns, printed: true }).into_iter().collect(),
        mean_ns: json::time(some("Total Average Response Time"), 1e6),
        max_ns: json::time(some("Total Max Response Time"), 1e6),
        measured: made,
        requests: made,
        failed: last.count("Total Failure Count"),
        ..Claims::silent(LatencyFrom::Send)
    };
    let users = all.iter().filter_map(|row| row.count("User Count")).max().and_then(|users| users.try_into().ok());
    let notes = vec!["the percentiles of its rows are those of the 10 s before, and were not read".to_owned()];
    let load = ForeignLoad { users, ..ForeignLoad::default() };
    Ok(ForeignRun { clock: CLOCK, load, notes, damage: table.damage, ..run(claims) })
}

fn json_likeness(excerpt: &Excerpt<'_>) -> Likeness {
    json::has_keys(excerpt, &["num_requests", "num_failures", "response_times", "total_response_time"])
}

fn statistics(bytes: &[u8], _sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    json::check(bytes)?;
    let (claims, counts) = files::locust_statistics(bytes).map_err(|error| refused(bytes, &error))?;
    let mut histogram = Histogram::new();
    for (time, count) in counts {
        // Counts that no run can have are only in damaged files.
        if histogram.count().checked_add(count).is_some() {
            histogram.record_n(Nanos(time), count);
        }
    }
    let histogram = Some(histogram).filter(|histogram| !histogram.is_empty());
    Ok(ForeignRun { clock: CLOCK, histogram: histogram.map(Into::into), ..run(claims) })
}
