//! `truetail simulate`: a scenario in virtual time.

use serde::Serialize;
use truetail_model::record::Tally;
use truetail_model::workload::LoadModelKind;
use truetail_run::{Distribution, Findings, Run};
use truetail_sim::SimOptions;

use crate::args::simulate::SimulateArgs;
use crate::outcome::{Exit, Result, could_not};
use crate::output;
use crate::resolve::scenario::scenario;
use crate::target_folder::{Place, TargetFolder};

/// What `--json` prints.
#[derive(Serialize)]
struct Simulated<'a> {
    scenario: &'a str,
    series: Vec<Series<'a>>,
}

/// One way of asking the service.
#[derive(Serialize)]
struct Series<'a> {
    name: String,
    model: LoadModelKind,
    tally: &'a Tally,
    response_time: &'a Distribution,
}

/// Simulates, saves where asked, and prints.
///
/// # Errors
/// When there is no such scenario, it has no end, or the run cannot be saved.
pub fn simulate(args: SimulateArgs) -> Result<Exit> {
    let scenario = scenario(&args.scenario)?;
    let place = args.out.map_or(Place::Nowhere, Place::Chosen);
    let folder = TargetFolder::prepare(&place, &scenario.name)?;
    let run = truetail_sim::simulate(&scenario, SimOptions::default()).map_err(could_not)?;
    let findings = truetail_analysis::findings(&run);
    let saved = folder.map(|folder| folder.save(&run, &findings)).transpose()?;
    let text = if args.json {
        in_json(&scenario.name, &run, &findings)
    } else {
        super::run::result(&run, &findings, saved.as_deref(), false)
    };
    output::print(&text)?;
    Ok(Exit::Done)
}

fn in_json(scenario: &str, run: &Run, findings: &Findings) -> String {
    let model = run.facts.offered.model;
    let series = Series {
        name: format!("{}-loop", model.name()),
        model,
        tally: &findings.tally,
        response_time: &findings.response_time,
    };
    let simulated = Simulated { scenario, series: vec![series] };
    let text = serde_json::to_string_pretty(&simulated).expect("every key is a text and every value has a JSON form");
    format!("{text}\n")
}
