//! `truetail demo`: the same fault through a closed and an open loop, beside the truth.

mod stage;

use truetail_analysis::omission::{self, Comparison};
use truetail_analysis::truth::{Truth, truth};
use truetail_engine::host;
use truetail_report::{comparison_explanation, comparison_table};

use crate::args::demo::DemoArgs;
use crate::outcome::{Exit, Result, could_not, usage};
use crate::output;
use crate::target_folder::{Place, TargetFolder};
use stage::{Seen, Stage};

/// Asks a service that stands still for a second, first as users who wait, then on a schedule, and compares.
///
/// # Errors
/// When no server can be had on this machine, or a run cannot be saved.
pub fn demo(args: DemoArgs) -> Result<Exit> {
    let stage = Stage::new(args.quiet);
    let truth = truth(&stage.scenario).expect("the scenario of the demo is an open one, with an end");
    host::raise_open_files();
    let [closed_folder, open_folder] = folders(&args)?;
    output::print(&stage.introduction())?;
    let closed = stage.ask(stage.closed_loop(), closed_folder)?;
    let open = if closed.was_interrupted() { None } else { Some(stage.ask(stage.open_loop(), open_folder)?) };
    let Some(open) = open.filter(|open| !open.was_interrupted()) else {
        return Err(could_not("the demo was ended before both loops were through, so there is nothing to compare"));
    };
    output::print(&told(&stage, &truth, &closed, &open))?;
    Ok(Exit::of([&closed, &open].map(|seen| &seen.findings.verdict)))
}

/// Where the runs of the closed and of the open loop are saved.
fn folders(args: &DemoArgs) -> Result<[Option<TargetFolder>; 2]> {
    let prepare = |name: &str| {
        let place = match (&args.out, args.no_save) {
            (Some(_), true) => return Err(usage("--out and --no-save contradict each other; give one")),
            (Some(folder), false) => Place::Chosen(folder.join(name)),
            (None, true) => Place::Nowhere,
            (None, false) => Place::Fresh,
        };
        TargetFolder::prepare(&place, &format!("demo-{name}"))
    };
    Ok([prepare("closed")?, prepare("open")?])
}

fn told(stage: &Stage, truth: &Truth, closed: &Seen, open: &Seen) -> String {
    let style = output::stdout_style();
    let compared = compare(stage, truth, closed, open);
    let saved = [closed, open].iter().filter_map(|seen| seen.saved_line()).collect::<String>();
    let doubts = [closed, open].iter().filter_map(|seen| seen.doubts()).collect::<String>();
    let (table, sentences) = (comparison_table(&compared, style), comparison_explanation(&compared, style));
    format!("\n{table}\n{sentences}\n{doubts}{saved}")
}

/// What was begun in the stall is counted by the server, which has no reason to flatter either loop.
fn compare(stage: &Stage, truth: &Truth, closed: &Seen, open: &Seen) -> Comparison {
    let runs = [closed, open].map(|seen| (&seen.run, &seen.findings));
    let mut compared = omission::comparison(runs[0], runs[1], truth, Some(stage.stall));
    if let Some(stall) = &mut compared.stall {
        stall.closed = Some(closed.arrived_in_stall);
        stall.open = Some(open.arrived_in_stall);
    }
    compared
}
