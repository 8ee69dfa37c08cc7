//! `truetail demo`: measures one stall with a closed and an open loop, and compares both with the truth.

mod page;
mod setup;

use truetail_analysis::omission::{self, OmissionComparison};
use truetail_analysis::truth::{Truth, truth};
use truetail_engine::host;
use truetail_report::{comparison_explanation, comparison_table};

use crate::after_load::AfterLoad;
use crate::args::demo::DemoArgs;
use crate::command_line;
use crate::error::{ExitCode, Result, runtime_error, usage_error};
use crate::output;
use crate::output_folder::{OutputFolder, SaveTo};
use setup::{DemoSetup, LoopResult};

/// Runs a closed and then an open loop against a server that freezes for a second, and compares them.
///
/// # Errors
/// If no server can be started; or, after printing the result, if a run cannot be saved.
pub(super) fn demo(args: DemoArgs) -> Result<ExitCode> {
    let setup = DemoSetup::new(args.quiet, command_line::from_words(&args.typed.words));
    let truth = truth(&setup.scenario).expect("the scenario of the demo is an open one, with an end");
    host::raise_open_file_limit();
    let [closed_folder, open_folder] = folders(&args)?;
    output::print(&setup.introduction(output::stdout_style()))?;
    let mut steps = AfterLoad::default();
    let closed = setup.measure(setup.closed_loop(), closed_folder, &mut steps)?;
    let open = match closed.was_interrupted() {
        true => None,
        false => Some(setup.measure(setup.open_loop(), open_folder, &mut steps)?),
    };
    let Some(open) = open.filter(|open| !open.was_interrupted()) else {
        return steps.end_with(Err(runtime_error(
            "the demo was stopped before both loops had finished, so there is nothing to compare",
        )));
    };
    let compared = compare(&setup, &truth, &closed, &open);
    steps.tried(output::print(&result_text(&compared, &closed, &open)));
    let page = steps.tried(page::write(&setup, &compared, [&closed, &open], args.out.as_deref()));
    if let Some(file) = page.flatten() {
        steps.tried(output::print(&format!("  Page: {}\n", file.display())));
    }
    steps.end(ExitCode::from_verdicts([&closed, &open].map(|seen| &seen.findings.verdict)))
}

/// Prepares the folders for the runs of the closed and the open loop.
fn folders(args: &DemoArgs) -> Result<[Option<OutputFolder>; 2]> {
    let prepare = |name: &str| {
        let save_to = match (&args.out, args.no_save) {
            (Some(_), true) => return Err(usage_error("--out and --no-save contradict each other; give one of them")),
            (Some(folder), false) => SaveTo::folder(folder.join(name), args.force),
            (None, true) => SaveTo::Nowhere,
            (None, false) => SaveTo::NewFolder,
        };
        OutputFolder::prepare(&save_to, &format!("demo-{name}"))
    };
    Ok([prepare("closed")?, prepare("open")?])
}

fn result_text(compared: &OmissionComparison, closed: &LoopResult, open: &LoopResult) -> String {
    let style = output::stdout_style();
    let saved = [closed, open].iter().filter_map(|seen| seen.saved_line()).collect::<String>();
    let doubts = [closed, open].iter().filter_map(|seen| seen.doubts()).collect::<String>();
    let table = comparison_table(compared, style);
    let sentences = comparison_explanation(compared, style);
    format!("\n{table}\n{sentences}\n{doubts}{saved}")
}

/// Compares the loops. The server counts the requests that arrived in the stall, which favours neither loop.
fn compare(setup: &DemoSetup, truth: &Truth, closed: &LoopResult, open: &LoopResult) -> OmissionComparison {
    let runs = [closed, open].map(|seen| (&seen.run, &seen.findings));
    let mut compared = omission::comparison(runs[0], runs[1], truth, Some(setup.stall));
    if let Some(stall) = &mut compared.stall {
        stall.closed = Some(closed.arrived_in_stall);
        stall.open = Some(open.arrived_in_stall);
    }
    compared
}
