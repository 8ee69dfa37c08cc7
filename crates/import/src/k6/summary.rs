//! k6's summary as JSON, from `--summary-export` or a script's `handleSummary`.

use truetail_run::{ForeignClock, ForeignLoad, ForeignRun};
use truetail_tools::files;

use crate::whole::file::{WholeFile, refused, run};
use crate::whole::json;
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) static SUMMARY: WholeFile = WholeFile {
    info: &FormatInfo {
        name: "k6-summary",
        about: "k6's summary, from --summary-export or handleSummary",
        tool: Some("k6"),
    },
    model: None,
    likeness,
    parse: read,
};

fn likeness(excerpt: &Excerpt<'_>) -> Likeness {
    // Lines of samples name the same metrics.
    if excerpt.text().contains("\"type\":\"Metric\"") {
        return Likeness::No;
    }
    match json::has_keys(excerpt, &["metrics", "grpc_req_duration"]) {
        Likeness::Yes => Likeness::Yes,
        _ => json::has_keys(excerpt, &["metrics", "http_req_duration", "http_reqs"]),
    }
}

fn read(bytes: &[u8], _sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    json::check(bytes)?;
    let (claims, users) = files::k6_summary(bytes).map_err(|error| refused(bytes, &error))?;
    let clock = ForeignClock { duration_resolution_ns: 1, ..ForeignClock::default() };
    let users = users.and_then(|users| users.try_into().ok());
    let load = ForeignLoad { users, ..ForeignLoad::default() };
    Ok(ForeignRun { clock, load, ..run(claims) })
}
