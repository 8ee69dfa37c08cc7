//! `truetail simulate`: a scenario, or a laboratory, in virtual time.

mod lab;

use serde::Serialize;
use truetail_model::record::Tally;
use truetail_model::workload::LoadModelKind;
use truetail_run::{Distribution, Run};
use truetail_sim::SimOptions;

use crate::args::simulate::SimulateArgs;
use crate::outcome::{Exit, Result, could_not};
use crate::output;
use crate::resolve::scenario::scenario;
use crate::target_folder::{Place, TargetFolder};

/// Simulates, saves where asked, and prints.
///
/// # Errors
/// When there is no such scenario or lab, it has no end, or the run cannot be saved.
pub fn simulate(args: SimulateArgs) -> Result<Exit> {
    if let Some(lab) = lab::find(&args.scenario) {
        return lab::show(&lab?, &args);
    }
    let scenario = scenario(&args.scenario)?;
    let place = args.out.map_or(Place::Nowhere, Place::Chosen);
    let folder = TargetFolder::prepare(&place, &scenario.name)?;
    let run = truetail_sim::simulate(&scenario, SimOptions::default()).map_err(could_not)?;
    let findings = truetail_analysis::findings(&run);
    let saved = folder.map(|folder| folder.save(&run, &findings)).transpose()?;
    let text = if args.json {
        let name = format!("{}-loop", run.facts.offered.model.name());
        in_json(&scenario.name, [(name.as_str(), &run)])
    } else {
        super::run::result(&run, &findings, saved.as_deref(), false)
    };
    output::print(&text)?;
    Ok(Exit::Done)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Simulated<'a> {
    scenario: &'a str,
    series: Vec<Series<'a>>,
}

/// One way of asking the service.
#[derive(Serialize)]
struct Series<'a> {
    name: &'a str,
    model: LoadModelKind,
    tally: Tally,
    response_time: Distribution,
}

fn in_json<'a>(scenario: &str, runs: impl IntoIterator<Item = (&'a str, &'a Run)>) -> String {
    let series = runs.into_iter().map(|(name, run)| Series {
        name,
        model: run.facts.offered.model,
        tally: run.snapshot.tally,
        response_time: truetail_analysis::findings(run).response_time,
    });
    let simulated = Simulated { scenario, series: series.collect() };
    let text = serde_json::to_string_pretty(&simulated).expect("every key is a text and every value has a JSON form");
    format!("{text}\n")
}
