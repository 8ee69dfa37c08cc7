//! What `--json` prints.

use serde::Serialize;
use truetail_model::record::Tally;
use truetail_model::workload::LoadModelKind;
use truetail_run::{Distribution, Run, Verdict};

use super::lab::{Lab, Line};

#[derive(Serialize)]
struct Simulated<'a> {
    scenario: &'a str,
    series: Vec<Series<'a>>,
    /// Of a lab in real time: what virtual time says of the same options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    truth: Vec<Series<'a>>,
}

/// One way of asking the service.
#[derive(Serialize)]
struct Series<'a> {
    name: &'a str,
    model: LoadModelKind,
    tally: Tally,
    response_time: Distribution,
    /// How many requests took longer than a limit, where a lab asks that.
    #[serde(skip_serializing_if = "Option::is_none")]
    slower_than: Option<SlowerThan>,
    /// Of what was measured in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
}

#[derive(Serialize)]
struct SlowerThan {
    limit_ns: u64,
    requests: u64,
}

impl<'a> Series<'a> {
    fn of(name: &'a str, run: &Run, response_time: Distribution) -> Series<'a> {
        let (model, tally) = (run.facts.offered.model, run.snapshot.tally);
        Series { name, model, tally, response_time, slower_than: None, verdict: None }
    }
}

impl<'a> From<&'a Line> for Series<'a> {
    fn from(line: &'a Line) -> Series<'a> {
        let slower_than = line.slow.map(|slow| SlowerThan { limit_ns: slow.limit.0, requests: slow.requests });
        let verdict = line.measured.then_some(&line.findings.verdict);
        let response_time = line.findings.response_time.clone();
        Series { slower_than, verdict, ..Series::of(line.name, &line.run, response_time) }
    }
}

/// A scenario, which is one series.
pub fn of_scenario(scenario: &str, name: &str, run: &Run, response_time: Distribution) -> String {
    written(&Simulated { scenario, series: vec![Series::of(name, run, response_time)], truth: Vec::new() })
}

/// A lab with all its series.
pub fn of_lab(lab: &Lab) -> String {
    let series = lab.lines.iter().map(Series::from).collect();
    let truth = lab.truth.iter().map(Series::from).collect();
    written(&Simulated { scenario: lab.name, series, truth })
}

fn written(simulated: &Simulated<'_>) -> String {
    let text = serde_json::to_string_pretty(simulated).expect("every key is a text and every value has a JSON form");
    format!("{text}\n")
}
