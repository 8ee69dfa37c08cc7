//! `truetail report`: prints the result of a saved run.

use std::path::{Path, PathBuf};

use truetail_run::Run;
use truetail_run::folder::{self, Loaded};

use crate::args::report::ReportArgs;
use crate::error::{ExitCode, Result, runtime_error};
use crate::export::Export;
use crate::gating::{self, Gating};
use crate::output;
use crate::page;
use crate::receiving::add_spans;
use crate::resolve::run::{Printed, RunFiles};
use crate::stages::{Delivered, Delivery, Judged};

/// Prints a saved run. Computes its findings again, and judges the gates of the command line or else the saved ones.
///
/// # Errors
/// If the folder is no run, or something cannot be written.
pub(super) fn report(args: ReportArgs) -> Result<ExitCode> {
    args.gates
        .refuse_per_request("give it to the run itself; write a figure of the run here, such as 'ttft p99 < 200ms'")?;
    let gating = Gating::resolve(args.gates)?;
    let export = Export::resolve(args.export, args.json)?;
    args.page.output.as_deref().map_or(Ok(()), |file| gating::check_place("--output", file))?;
    args.vllm.vllm_json.as_deref().map_or(Ok(()), |file| gating::check_place("--vllm-json", file))?;
    let Loaded { mut run, gates, .. } = load_all(&args.run)?;
    add_spans(&mut run, &args.spans)?;
    let judged = Judged::of(run, gating, &gates);
    let named = |path: &PathBuf| load(path).map(|run| (path.display().to_string(), run));
    let others = args.page.overlay.iter().map(named).collect::<Result<Vec<_>>>()?;
    let text = export.printed(&judged.run, &judged.findings);
    let printed = match (&text, args.json) {
        (Some(_), _) => Printed::Elsewhere,
        (None, true) => Printed::Json,
        (None, false) => Printed::Summary,
    };
    let files = RunFiles { html: None, vllm_json: args.vllm.vllm_json };
    let delivery = Delivery { printed, screen: args.screen, files };
    let Delivered { code, mut steps, result } = Judged { saved: Some(args.run), ..judged }.deliver(&delivery);
    steps.tried(text.map_or(Ok(()), |text| output::print(&text)));
    let Judged { run, findings, .. } = &result;
    export.write(run, findings, &mut steps);
    if let Some(file) = &args.page.output {
        steps.tried(output::write_file(file, page::page_beside(run, findings, &others)));
    }
    steps.end(code)
}

/// Loads the run in a folder, and prints a note on each optional file that is missing.
pub(super) fn load(path: &Path) -> Result<Run> {
    load_all(path).map(|loaded| loaded.run)
}

/// Loads the run in a folder with its saved verdict and gates, and prints a note on each optional file that is missing.
pub(super) fn load_all(path: &Path) -> Result<Loaded> {
    let loaded = folder::load(path).map_err(runtime_error)?;
    for lacking in &loaded.missing {
        output::note(&format!("{}: {lacking}", path.display()));
    }
    Ok(loaded)
}
