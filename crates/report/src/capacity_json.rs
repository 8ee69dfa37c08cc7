//! A search for capacity, as JSON.

use serde::Serialize;
use truetail_analysis::capacity::SearchState;

use crate::capacity::{CapacityReport, ProbeLine};
use crate::json::pretty_json;

const SCHEMA: &str = "truetail.capacity/1";

#[derive(Serialize)]
struct CapacityFile<'a> {
    schema: &'static str,
    slo: &'a [String],
    state: SearchState,
    stopped_by: Option<&'static str>,
    #[serde(flatten)]
    ends: Ends,
    resolution: f64,
    confidence: f64,
    requests: u64,
    notes: Vec<String>,
    probes: &'a [ProbeLine],
}

#[derive(Serialize)]
struct Ends {
    proven_rate: Option<f64>,
    refuted_rate: Option<f64>,
    met_rate: Option<f64>,
    missed_rate: Option<f64>,
    estimate_rate: Option<f64>,
    estimate_low: Option<f64>,
    estimate_high: Option<f64>,
}

fn probed_again(end: Option<(f64, bool)>) -> Option<f64> {
    end.filter(|(_, again)| *again).map(|(rate, _)| rate)
}

/// Returns JSON, version 1.
pub fn capacity_json(report: &CapacityReport) -> String {
    pretty_json(&CapacityFile {
        schema: SCHEMA,
        slo: &report.slo,
        state: report.state,
        stopped_by: report.stopped_by,
        ends: Ends {
            proven_rate: probed_again(report.proven),
            refuted_rate: probed_again(report.refuted),
            met_rate: report.proven.map(|(rate, _)| rate),
            missed_rate: report.refuted.map(|(rate, _)| rate),
            estimate_rate: report.estimate.map(|estimate| estimate.rate),
            estimate_low: report.estimate.map(|estimate| estimate.low),
            estimate_high: report.estimate.map(|estimate| estimate.high),
        },
        resolution: report.resolution,
        confidence: report.confidence,
        requests: report.requests(),
        notes: report.notes(),
        probes: &report.probes,
    })
}
