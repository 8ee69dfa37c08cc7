//! `truetail simulate --json`.

use serde::Serialize;
use truetail_model::record::Tally;
use truetail_model::workload::LoadModelKind;
use truetail_run::wire::SessionFile;
use truetail_run::{Distribution, Findings, GateFinding, Run, StreamFacts, StreamFindings, TargetFindings, Verdict};

use super::lab_report::{LabReport, SeriesReport};
use crate::json::pretty_json;

#[derive(Serialize)]
struct SimulationJson<'a> {
    scenario: &'a str,
    series: Vec<SeriesJson<'a>>,
    /// The same options in virtual time, for a lab in real time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    truth: Vec<SeriesJson<'a>>,
}

#[derive(Serialize)]
struct SeriesJson<'a> {
    name: &'a str,
    model: LoadModelKind,
    tally: Tally,
    response_time: &'a Distribution,
    /// Set if the service streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<StreamsJson<'a>>,
    /// Set if sessions follow a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<SessionFile>,
    /// The steps of a flow.
    #[serde(skip_serializing_if = "<[TargetFindings]>::is_empty")]
    targets: &'a [TargetFindings],
    /// Results of the gates.
    #[serde(skip_serializing_if = "<[GateFinding]>::is_empty")]
    gates: &'a [GateFinding],
    /// Set if the lab counts slow requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    slower_than: Option<SlowerThan>,
    /// Set if the series was measured in real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
}

/// Books and times of streams, as in run.json.
#[derive(Serialize)]
struct StreamsJson<'a> {
    #[serde(flatten)]
    facts: &'a StreamFacts,
    #[serde(flatten)]
    times: &'a StreamFindings,
}

#[derive(Serialize)]
struct SlowerThan {
    limit_ns: u64,
    requests: u64,
}

impl<'a> SeriesJson<'a> {
    fn from_run(name: &'a str, run: &'a Run, findings: &'a Findings) -> SeriesJson<'a> {
        SeriesJson {
            name,
            model: run.facts.offered.model,
            tally: run.snapshot.tally,
            response_time: &findings.response_time,
            stream: streams(run, findings),
            sessions: run.facts.sessions.as_ref().map(|sessions| SessionFile::new(sessions, findings)),
            targets: &findings.targets,
            gates: &findings.gates,
            slower_than: None,
            verdict: None,
        }
    }

    fn from_series(series: &'a SeriesReport<'_>) -> SeriesJson<'a> {
        let slower_than = series.slow.map(|slow| SlowerThan { limit_ns: slow.limit.0, requests: slow.requests });
        let verdict = series.measured.then_some(&series.findings.verdict);
        SeriesJson { slower_than, verdict, ..SeriesJson::from_run(series.name, series.run, &series.findings) }
    }
}

fn streams<'a>(run: &'a Run, findings: &'a Findings) -> Option<StreamsJson<'a>> {
    Some(StreamsJson { facts: run.facts.stream.as_ref()?, times: findings.stream.as_ref()? })
}

/// Returns a simulated scenario, which is one series.
pub fn scenario_json(scenario: &str, run: &Run, findings: &Findings) -> String {
    let name = format!("{}-loop", run.facts.offered.model.name());
    let series = vec![SeriesJson::from_run(&name, run, findings)];
    pretty_json(&SimulationJson { scenario, series, truth: Vec::new() })
}

impl LabReport<'_> {
    /// Returns all series as JSON.
    pub fn json(&self) -> String {
        let series = self.series.iter().map(SeriesJson::from_series).collect();
        let truth = self.truth.iter().map(SeriesJson::from_series).collect();
        pretty_json(&SimulationJson { scenario: self.name, series, truth })
    }
}
