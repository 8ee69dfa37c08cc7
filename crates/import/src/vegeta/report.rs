//! The report of `vegeta report -type=json`.

use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignClock, ForeignRun};
use truetail_tools::files;

use crate::whole::file::{WholeFile, refused, run};
use crate::whole::json;
use crate::{FormatInfo, ImportError, RequestSink};

pub(crate) static REPORT: WholeFile = WholeFile {
    info: &FormatInfo {
        name: "vegeta-report",
        about: "the result of 'vegeta report -type=json'",
        tool: Some("vegeta"),
    },
    model: Some(LoadModelKind::Open),
    likeness: |excerpt| json::has_keys(excerpt, &["latencies", "50th", "earliest", "success"]),
    parse: read,
};

fn read(bytes: &[u8], _sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    json::check(bytes)?;
    let claims = files::vegeta_report(bytes).map_err(|error| refused(bytes, &error))?;
    let clock = ForeignClock { duration_resolution_ns: 1, ..ForeignClock::default() };
    Ok(ForeignRun { clock, ..run(claims) })
}
