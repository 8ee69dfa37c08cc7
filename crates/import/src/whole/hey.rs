//! The summary that hey prints.

use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignClock, ForeignRun};
use truetail_tools::files;

use super::file::{WholeFile, all_marks, refused, run_of, text};
use crate::{FormatInfo, ImportError, Likeness, RequestSink};

pub(super) static SUMMARY: WholeFile = WholeFile {
    info: &FormatInfo { name: "hey-summary", about: "the summary that hey prints", tool: Some("hey") },
    model: Some(LoadModelKind::Closed),
    likeness,
    parse: read,
};

fn likeness(head: &[u8]) -> Likeness {
    // oha's summary has these words too.
    if !text(head).trim_start().starts_with("Summary:") || text(head).contains("Success rate:") {
        return Likeness::No;
    }
    all_marks(head, &["Summary:", "Slowest:", "Fastest:", "Requests/sec:"])
}

/// Reads the summary, in seconds with four decimals.
fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let report = files::hey(bytes).map_err(|error| refused(bytes, &error))?;
    let clock = ForeignClock { duration_resolution_ns: 100_000, ..ForeignClock::default() };
    Ok(ForeignRun { clock, ..run_of(report, sink) })
}
