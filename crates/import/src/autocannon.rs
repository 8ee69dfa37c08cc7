//! The JSON of `autocannon -j`.

use serde::Deserialize;
use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignClock, ForeignLoad, ForeignRun, LatencyFrom};
use truetail_tools::files;

use crate::whole::file::{WholeFile, refused, run_of};
use crate::whole::json;
use crate::{FormatInfo, ImportError, RequestSink};

pub(crate) static JSON: WholeFile = WholeFile {
    info: &FormatInfo { name: "autocannon", about: "the result of 'autocannon -j'", tool: Some("autocannon") },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| json::has_keys(excerpt, &["latency", "non2xx", "pipelining", "totalCount"]),
    parse: read,
};

/// Fields that the laboratory's parser does not use.
#[derive(Deserialize)]
struct Document {
    connections: Option<u32>,
    pipelining: Option<u32>,
    latency: Latency,
    requests: Requests,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Latency {
    total_count: u64,
}

#[derive(Deserialize)]
struct Requests {
    total: u64,
}

/// Reads a result, which is in whole milliseconds.
fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let document: Document = json::read(bytes)?;
    let report = files::autocannon(bytes).map_err(|error| refused(bytes, &error))?;
    let clock = ForeignClock { duration_resolution_ns: 1_000_000, ..ForeignClock::default() };
    // Each connection has `pipelining` requests in flight.
    let users = document.connections.and_then(|connections| connections.checked_mul(document.pipelining.unwrap_or(1)));
    let mut run = ForeignRun { clock, load: ForeignLoad { users, ..ForeignLoad::default() }, ..run_of(report, sink) };
    if run.claims.latency_from == LatencyFrom::BackFilled {
        let latencies = document.latency.total_count;
        let answers = document.requests.total;
        run.notes.push(format!("{latencies} latencies for {answers} answers: autocannon added the rest"));
    }
    Ok(run)
}
