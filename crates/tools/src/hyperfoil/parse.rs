//! Parser of Hyperfoil's counters and histogram, which our own `RunBenchmark.java` writes at the end.

use serde::Deserialize;
use truetail_model::record::Histogram;
use truetail_model::time::Nanos;
use truetail_run::{Claims, LatencyFrom};

use crate::output_reader::OutputReader;
use crate::{LoadSpec, ParseError, ToolOutput, ToolReport};

pub(super) const NAME: &str = "hyperfoil";
pub(super) const TESTED: &str = "0.25.2";
pub(super) const RESULT: &str = "result.json";
const LOG_FILE: OutputReader = OutputReader::stdout(NAME, TESTED).file(RESULT);
const FORMAT: &str = "truetail.hyperfoil/1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    format: String,
    hyperfoil: String,
    requests: u64,
    responses: u64,
    invalid: u64,
    connection_errors: u64,
    timeouts: u64,
    internal_errors: u64,
    blocked_ns: u64,
    mean_ns: u64,
    /// Highest value and count of each bucket, ascending.
    buckets_ns: Vec<(u64, u64)>,
}

/// Parses the result, which has no single requests. Fails if it is missing or has another format.
pub(super) fn parse(output: &ToolOutput, load: &LoadSpec) -> Result<ToolReport, ParseError> {
    let bytes = output.file(RESULT).ok_or_else(|| LOG_FILE.no_result(output, "result of Hyperfoil"))?;
    result_file(bytes, Some(load))
}

/// Parses the result file. Without the requested `load`, it makes no note about requests that were due and not sent.
pub(crate) fn result_file(bytes: &[u8], load: Option<&LoadSpec>) -> Result<ToolReport, ParseError> {
    let counts: Counts = LOG_FILE.json(bytes)?;
    if counts.format != FORMAT {
        return Err(LOG_FILE.error(1, format!("the format '{}' is not {FORMAT}", counts.format)));
    }
    let histogram = histogram(&counts.buckets_ns);
    let any = |value: u64| (!histogram.is_empty()).then_some(value);
    let claims = Claims {
        mean_ns: any(counts.mean_ns),
        max_ns: counts.buckets_ns.last().map(|(highest, _)| *highest),
        measured: Some(histogram.count()),
        requests: Some(counts.requests),
        failed: Some(counts.invalid),
        ..Claims::silent(LatencyFrom::Send)
    };
    let version = Some(counts.hyperfoil.clone());
    let notes = counts.notes(load);
    let report = ToolReport { version, notes, histogram: Some(histogram), ..ToolReport::from_claims(claims) };
    Ok(report.with_computed_quantiles())
}

fn histogram(buckets: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::new();
    for (highest, count) in buckets {
        histogram.record_n(Nanos(*highest), *count);
    }
    histogram
}

impl Counts {
    fn notes(&self, load: Option<&LoadSpec>) -> Vec<String> {
        let Counts { requests, responses, connection_errors, timeouts, internal_errors, .. } = self;
        let mut notes: Vec<_> = load.and_then(|load| load.shortfall("Hyperfoil", *requests)).into_iter().collect();
        if responses < requests {
            notes.push(format!(
                "{responses} answers to {requests} requests ({connection_errors} connection errors, including {timeouts} \
                 timeouts, and {internal_errors} internal errors); its latencies leave out the rest"
            ));
        }
        if self.blocked_ns > 0 {
            let seconds = Nanos(self.blocked_ns).as_secs_f64();
            notes.push(format!("requests waited {seconds:.3} s in total for a connection; its latencies include this"));
        }
        notes
    }
}
