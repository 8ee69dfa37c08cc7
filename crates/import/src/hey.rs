//! The summary that hey prints, and its CSV.

use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignClock, ForeignRun, ForeignStarts};
use truetail_tools::files;

use crate::rows::Rows;
use crate::rows::number::Unit;
use crate::tables::SimpleTable;
use crate::whole::file::{WholeFile, all_marks, refused, run_of};
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) static SUMMARY: WholeFile = WholeFile {
    info: &FormatInfo { name: "hey-summary", about: "the summary that hey prints", tool: Some("hey") },
    model: Some(LoadModelKind::Closed),
    likeness,
    parse: read,
};

/// Table of `-o csv`: requests without an answer have no row, and only the first million are kept.
pub(crate) static CSV: Rows<SimpleTable> = Rows(SimpleTable {
    status: Some("status-code"),
    notes: &["hey's CSV has no rows for requests without an answer"],
    keeps: Some(1_000_000),
    has_all_requests: false,
    ..SimpleTable::new(
        &FormatInfo { name: "hey-csv", about: "hey's requests as CSV", tool: Some("hey") },
        ("offset", ForeignStarts::Run),
        ("response-time", Unit::Seconds),
        (100_000, 100_000),
    )
});

fn likeness(excerpt: &Excerpt<'_>) -> Likeness {
    // oha's summary has these words too.
    if !excerpt.text().trim_start().starts_with("Summary:") || excerpt.text().contains("Success rate:") {
        return Likeness::No;
    }
    all_marks(excerpt, &["Summary:", "Slowest:", "Fastest:", "Requests/sec:"])
}

/// Reads the summary, in seconds with four decimals.
fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let report = files::hey(bytes).map_err(|error| refused(bytes, &error))?;
    let clock = ForeignClock { duration_resolution_ns: 100_000, ..ForeignClock::default() };
    Ok(ForeignRun { clock, ..run_of(report, sink) })
}
