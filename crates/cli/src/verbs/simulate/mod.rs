//! `truetail simulate`: a scenario, or a laboratory, in virtual time; one laboratory in real time too.
//!
//! | module | what is at home there |
//! |---|---|
//! | `experiment` | which lab with which options |
//! | `freeze`, `every_nth`, `order_router` | what each lab finds, in words, tables and pictures |
//! | `real_time`, `spin` | every-nth on the wall clock |
//! | `lab` | a lab that was run: saved and printed |
//! | `json`, `pictures` | how it is written |

mod every_nth;
mod experiment;
mod freeze;
mod json;
mod lab;
mod order_router;
mod pictures;
mod real_time;
mod spin;

use std::path::Path;

use truetail_model::scenario::Scenario;
use truetail_report::plot;
use truetail_sim::SimOptions;

use crate::args::simulate::SimulateArgs;
use crate::outcome::{Exit, Result, could_not, usage};
use crate::output;
use crate::resolve::scenario::scenario;
use crate::target_folder::{Place, TargetFolder};

/// Simulates, saves where asked, and prints.
///
/// # Errors
/// When there is no such scenario or lab, it has no end, or the run cannot be saved.
pub fn simulate(args: SimulateArgs) -> Result<Exit> {
    match experiment::find(&args.scenario, &args.lab)? {
        Some(experiment) => lab::perform(experiment, args.out.as_deref(), args.json),
        None => simulate_scenario(args),
    }
}

fn simulate_scenario(args: SimulateArgs) -> Result<Exit> {
    let scenario = known_scenario(&args.scenario)?;
    let place = args.out.map_or(Place::Nowhere, Place::Chosen);
    let folder = TargetFolder::prepare(&place, &scenario.name)?;
    let run = truetail_sim::simulate(&scenario, SimOptions::default()).map_err(could_not)?;
    let findings = truetail_analysis::findings(&run);
    let saved = folder.map(|folder| folder.save(&run, &findings)).transpose()?;
    if let Some(folder) = &saved {
        pictures::write(folder, &pictures::drawn(pictures::SPECTRUM, &plot::run_spectrum(&run))?)?;
    }
    let text = if args.json {
        let name = format!("{}-loop", run.facts.offered.model.name());
        json::of_scenario(&scenario.name, &name, &run, findings.response_time)
    } else {
        super::run::result(&run, &findings, saved.as_deref(), false)
    };
    output::print(&text)?;
    Ok(Exit::Done)
}

/// The scenario of that name or file; a name that is none might have been meant for a lab.
fn known_scenario(given: &str) -> Result<Scenario> {
    let is_name = !given.ends_with(".toml") && !Path::new(given).is_file();
    scenario(given).map_err(|failure| {
        let labs = experiment::NAMES.join(", ");
        if is_name { usage(format!("{}; labs are {labs}", failure.message())) } else { failure }
    })
}
