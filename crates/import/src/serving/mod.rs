//! Results of `vllm bench serve` and sglang's `bench_serving`: one document, or one per line if results were appended.

mod detailed;

use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::{
    Claims, FilePlace, ForeignClock, ForeignLoad, ForeignRequest, ForeignRun, ForeignStarts, LatencyFrom,
};
use truetail_tools::python::without_python_numbers;
use truetail_tools::units;

use self::detailed::{Detailed, Sum};
use crate::whole::file::{WholeFile, content, run};
use crate::whole::json;
use crate::{FormatInfo, ImportError, RequestSink};

pub(crate) static VLLM: WholeFile = WholeFile {
    info: &FormatInfo { name: "vllm", about: "the result of 'vllm bench serve --save-result'", tool: Some("vllm") },
    model: None,
    likeness: |excerpt| json::has_keys(excerpt, &["model_id", "num_prompts", "request_rate", "tokenizer_id"]),
    parse: |bytes, sink| read(bytes, sink, "e2el_ms"),
};

pub(crate) static SGLANG: WholeFile = WholeFile {
    info: &FormatInfo { name: "sglang", about: "the result of sglang's bench_serving", tool: Some("sglang") },
    model: None,
    likeness: |excerpt| json::has_keys(excerpt, &["backend", "request_rate", "completed", "mean_e2e_latency_ms"]),
    parse: |bytes, sink| read(bytes, sink, "e2e_latency_ms"),
};

/// Reads a file. `latency` is the end of the names of figures of whole requests.
fn read(bytes: &[u8], sink: &mut RequestSink<'_>, latency: &str) -> Result<ForeignRun, ImportError> {
    let bytes = without_python_numbers(bytes);
    let (document, others) = last_document(&bytes)?;
    let mut notes = Vec::new();
    if others > 0 {
        notes.push(format!("the file holds {} results; only the last was read", others + 1));
    }
    let claims = claims(&document, latency);
    if claims.quantiles.is_empty() && claims.mean_ns.is_none() {
        notes.push("the file has no figures of whole requests, only of tokens".to_owned());
    }
    let left_out = requests(&document, sink);
    if left_out > 0 {
        notes.push(format!("requests without a time in the file: {left_out}, which failed or had no token"));
    }
    let starts = if document.start_times.is_empty() { ForeignStarts::None } else { ForeignStarts::Run };
    let clock = ForeignClock { starts, start_resolution_ns: 1_000, duration_resolution_ns: 1_000 };
    Ok(ForeignRun { clock, load: load(&document), notes, ..run(claims) })
}

/// Returns the last document and the number of documents before it. A document may also span many lines.
fn last_document(bytes: &[u8]) -> Result<(Detailed, usize), ImportError> {
    let whole = json::read(bytes);
    let lines: Vec<_> = json::lines(bytes).collect();
    let Some((begins, last)) = lines.last().copied().filter(|_| lines.len() > 1 && whole.is_err()) else {
        return whole.map(|document| (document, 0));
    };
    // The first line of a document of many lines is not a document.
    if json::check(lines[0].1).is_err() {
        return whole.map(|document| (document, 0));
    }
    let read: Result<Detailed, _> = serde_json::from_slice(last);
    read.map(|document| (document, lines.len() - 1)).map_err(|error| {
        let place = FilePlace { byte: begins as u64, line: 1 + crate::whole::file::line_ends(&bytes[..begins]) };
        content(place, format!("the last result of the file, from byte {begins} on: {error}"))
    })
}

fn claims(document: &Detailed, latency: &str) -> Claims {
    let figure = |name: &str| document.figures.get(name).copied();
    let count = |name: &str| figure(name).filter(|count| *count >= 0.0).map(|count| count as u64);
    let completed = count("completed");
    let some = |name: String| json::time(figure(&name), 1e6).filter(|_| completed != Some(0));
    let of_latency = document.figures.keys().filter_map(|name| name.strip_suffix(latency)?.strip_suffix('_'));
    let printed = of_latency.map(|name| {
        let q = if name == "median" { Some(0.5) } else { name.strip_prefix('p').and_then(units::quantile) };
        (q, some(format!("{name}_{latency}")))
    });
    let failed = count("failed").or_else(|| count("num_prompts")?.checked_sub(completed?));
    Claims {
        quantiles: json::quantiles(printed),
        mean_ns: some(format!("mean_{latency}")),
        max_ns: some(format!("max_{latency}")),
        measured: completed,
        requests: completed.zip(failed).map(|(completed, failed)| completed.saturating_add(failed)),
        failed,
        rate_per_second: figure("request_throughput").filter(|rate| rate.is_finite()),
        ..Claims::silent(LatencyFrom::Send)
    }
}

/// Returns the load. A rate of `inf` means that all requests are due at once, so a limit on concurrency makes a closed
/// loop. With both a rate and a limit, the model depends on the server.
fn load(document: &Detailed) -> ForeignLoad {
    let figure = |name: &str| document.figures.get(name).copied().filter(|number| *number > 0.0);
    let users = figure("max_concurrency").filter(|users| *users <= f64::from(u32::MAX)).map(|users| users as u32);
    let rate_per_second = figure("request_rate");
    let model = match (users, rate_per_second) {
        (Some(_), None) => Some(LoadModelKind::Closed),
        (None, Some(_)) => Some(LoadModelKind::Open),
        (None, None) | (Some(_), Some(_)) => None,
    };
    ForeignLoad { users, rate_per_second, model }
}

/// Passes on the requests, each as long as its time to the first token plus its gaps. Returns the number without times.
fn requests(document: &Detailed, sink: &mut RequestSink<'_>) -> u64 {
    let first = document.start_times.iter().copied().fold(f64::INFINITY, f64::min);
    let mut left_out = 0;
    for (i, ttft) in document.ttfts.iter().enumerate() {
        let gaps = document.itls.get(i).map_or(0.0, |Sum(gaps)| *gaps);
        let failed = document.errors.get(i).is_some_and(|error| !error.is_empty());
        let duration = units::nanos(ttft + gaps, 1e9).filter(|duration| *duration > Nanos::ZERO && !failed);
        let Some(duration) = duration else {
            left_out += 1;
            continue;
        };
        let start = document.start_times.get(i).and_then(|start| units::nanos(start - first, 1e9));
        sink(&ForeignRequest {
            waited: document.queue_times.get(i).and_then(|wait| units::nanos(*wait, 1e9)).unwrap_or_default(),
            ..ForeignRequest::new(start.map(|start| start.0), duration, Outcome::ANSWERED)
        });
    }
    left_out
}
