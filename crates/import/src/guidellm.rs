//! GuideLLM's `benchmarks.json`.

use serde::Deserialize;
use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_model::workload::LoadModelKind;
use truetail_run::{FilePlace, ForeignClock, ForeignLoad, ForeignRequest, ForeignRun, ForeignStarts};
use truetail_tools::files::GuideLlmMetrics;
use truetail_tools::python::without_python_numbers;
use truetail_tools::{FailureClassifier, units};

use crate::whole::file::{WholeFile, content, run};
use crate::whole::json;
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) static GUIDELLM: WholeFile = WholeFile {
    info: &FormatInfo { name: "guidellm", about: "GuideLLM's benchmarks.json", tool: Some("guidellm") },
    model: None,
    likeness,
    parse: read,
};

fn likeness(excerpt: &Excerpt<'_>) -> Likeness {
    // The first version of the format names itself only in each benchmark.
    match json::has_keys(excerpt, &["benchmarks", "guidellm_version"]) {
        Likeness::Near(_) if json::has_keys(excerpt, &["benchmarks", "request_loader"]) == Likeness::Yes => {
            Likeness::Yes
        }
        likeness => likeness,
    }
}

#[derive(Deserialize)]
struct Document {
    metadata: Option<Metadata>,
    benchmarks: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Metadata {
    guidellm_version: Option<String>,
}

#[derive(Deserialize)]
struct Benchmark {
    #[serde(default)]
    config: Config,
    metrics: GuideLlmMetrics,
    #[serde(default)]
    requests: Requests,
}

#[derive(Default, Deserialize)]
struct Config {
    #[serde(default)]
    strategy: Strategy,
}

#[derive(Default, Deserialize)]
struct Strategy {
    type_: Option<String>,
    rate: Option<f64>,
    streams: Option<u32>,
    max_concurrency: Option<u32>,
}

#[derive(Default, Deserialize)]
struct Requests {
    #[serde(default)]
    successful: Vec<Request>,
    #[serde(default)]
    incomplete: Vec<Request>,
    #[serde(default)]
    errored: Vec<Request>,
}

impl Requests {
    /// Returns the number of requests that had begun and were cancelled.
    fn cancelled(&self) -> u64 {
        self.incomplete.iter().filter(|request| request.start().is_some()).count() as u64
    }
}

/// Times are in seconds since 1970.
#[derive(Deserialize)]
struct Request {
    request_start_time: Option<f64>,
    request_end_time: Option<f64>,
    /// Name in versions before 0.4.
    start_time: Option<f64>,
    /// Name in versions before 0.4.
    end_time: Option<f64>,
    info: Option<Info>,
}

impl Request {
    fn start(&self) -> Option<f64> {
        self.request_start_time.or(self.start_time)
    }
}

#[derive(Deserialize)]
struct Info {
    timings: Option<Timings>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Timings {
    targeted_start: Option<f64>,
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let mut document: Document = json::read(&without_python_numbers(bytes))?;
    let count = document.benchmarks.len();
    let nothing = || content(FilePlace { byte: 0, line: 1 }, "the list of benchmarks is empty");
    let benchmark = document.benchmarks.pop().ok_or_else(nothing)?;
    let mut handed = Handed::default();
    handed.all(&benchmark.requests, sink);
    let mut notes = handed.notes();
    if count > 1 {
        notes.push(format!("the file holds {count} benchmarks; only the last was read"));
    }
    let load = load(&benchmark.config.strategy);
    let starts = if handed.count > 0 { ForeignStarts::Unix } else { ForeignStarts::None };
    let clock = ForeignClock { starts, start_resolution_ns: 1_000, duration_resolution_ns: 1_000 };
    let version = document.metadata.and_then(|metadata| metadata.guidellm_version);
    Ok(ForeignRun { version, clock, load, notes, ..run(benchmark.metrics.claims(benchmark.requests.cancelled())) })
}

fn load(strategy: &Strategy) -> ForeignLoad {
    let Strategy { type_, rate, streams, max_concurrency } = strategy;
    let model = match type_.as_deref() {
        Some("synchronous" | "concurrent") => Some(LoadModelKind::Closed),
        Some("constant" | "poisson") => Some(LoadModelKind::Open),
        _ => None,
    };
    ForeignLoad { users: streams.or(*max_concurrency), rate_per_second: *rate, model }
}

fn seconds(seconds: f64) -> Option<Nanos> {
    units::nanos(seconds, 1e9)
}

/// Avoids the rounding of a product with the nanoseconds of a second.
fn since_1970(at: f64) -> Option<Nanos> {
    Some(Nanos(seconds(at.trunc())?.0.checked_add(seconds(at.fract())?.0)?))
}

/// Summary of the requests that were passed on.
#[derive(Default)]
struct Handed {
    count: u64,
    without_times: u64,
    latest_start: Nanos,
    failures: FailureClassifier,
}

impl Handed {
    fn all(&mut self, requests: &Requests, sink: &mut RequestSink<'_>) {
        for request in &requests.successful {
            self.one(request, Outcome::ANSWERED, sink);
        }
        for request in &requests.incomplete {
            self.one(request, Outcome::InFlightAtEnd, sink);
        }
        for request in &requests.errored {
            let said = request.info.as_ref().and_then(|info| info.error.as_deref());
            let outcome = self.failures.classify(said.unwrap_or("no reason given"));
            self.one(request, outcome, sink);
        }
    }

    fn one(&mut self, request: &Request, outcome: Outcome, sink: &mut RequestSink<'_>) {
        let start = request.start();
        let end = request.request_end_time.or(request.end_time);
        let taken = start.zip(end).and_then(|(start, end)| Some((start, since_1970(start)?, seconds(end - start)?)));
        let Some((began, start, duration)) = taken else {
            self.without_times += 1;
            return;
        };
        let target = request.info.as_ref().and_then(|info| info.timings.as_ref()?.targeted_start);
        let late = target.and_then(|target| seconds(began - target)).unwrap_or(Nanos::ZERO);
        self.latest_start = self.latest_start.max(late);
        self.count += 1;
        let start_ns = Some(start.0);
        sink(&ForeignRequest::new(start_ns, duration, outcome));
    }

    fn notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.failures).notes();
        if self.without_times > 0 {
            notes.push(format!("requests without a start or an end in the file: {}", self.without_times));
        }
        if self.latest_start > Nanos::ZERO {
            let seconds = self.latest_start.as_secs_f64();
            notes.push(format!("the latest request began {seconds:.3} s after it was due, which is in no latency"));
        }
        notes
    }
}
