//! Page of the demo: both loops side by side.

use std::path::{Path, PathBuf};

use truetail_analysis::omission::OmissionComparison;
use truetail_analysis::series::{RunSeries, series};
use truetail_page::{ComparedRun, ComparisonPage, comparison_page};
use truetail_report::words;
use truetail_run::folder::REPORT;

use super::setup::{DemoSetup, LoopResult};
use crate::error::Result;
use crate::output;

/// Writes the page in the folder of `--out` or beside the runs, and returns its path. `None` if no run was saved.
pub(super) fn write(
    setup: &DemoSetup,
    compared: &OmissionComparison,
    loops: [&LoopResult; 2],
    out: Option<&Path>,
) -> Result<Option<PathBuf>> {
    let [_, open] = loops;
    let Some(open_folder) = &open.saved else { return Ok(None) };
    let file = out.map_or_else(|| beside(open_folder), |folder| folder.join(REPORT));
    output::write_file(&file, html(setup, compared, loops))?;
    Ok(Some(file))
}

/// Returns `runs/STAMP-demo.html` for `runs/STAMP-demo-open`.
fn beside(open_folder: &Path) -> PathBuf {
    let name = open_folder.file_name().unwrap_or_default().to_string_lossy();
    open_folder.with_file_name(format!("{}.html", name.replacen("-open", "", 1)))
}

fn html(setup: &DemoSetup, compared: &OmissionComparison, loops: [&LoopResult; 2]) -> String {
    let drawn: [RunSeries; 2] = loops.map(|seen| series(&seen.run, &seen.findings));
    // The page always lies beside the folders of the runs.
    let link = |seen: &LoopResult| {
        let name = seen.saved.as_ref()?.file_name()?.to_string_lossy().into_owned();
        Some(format!("{name}/{REPORT}"))
    };
    let run = |(seen, series)| {
        let seen: &LoopResult = seen;
        let name = format!("{} loop", seen.name());
        ComparedRun { name, findings: &seen.findings, series, page: link(seen), measured: true }
    };
    comparison_page(&ComparisonPage {
        title: "A closed loop and an open loop, measuring the same stall",
        about: &setup.about(),
        result: &words::comparison_sentences(compared),
        heads: words::COMPARISON_HEADS.map(str::to_owned).into(),
        rows: words::comparison_rows(compared),
        further: None,
        remarks: Vec::new(),
        // The open loop comes first: the first series has the colour that response time has on every page.
        runs: loops.into_iter().zip(&drawn).map(run).rev().collect(),
        pictures: Vec::new(),
        side_by_side: false,
        command: Some(setup.command.clone()),
        site: None,
    })
}
