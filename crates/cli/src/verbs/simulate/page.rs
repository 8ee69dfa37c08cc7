//! Page of a lab: its series side by side.

use truetail_analysis::series::{RunSeries, series};
use truetail_page::{ComparedRun, ComparisonPage, comparison_page};
use truetail_report::labs::{LabReport, SeriesReport};
use truetail_report::plot::Role;
use truetail_run::folder::REPORT;

/// Returns the page for the folder that holds the folders of the series.
pub(super) fn for_lab(report: &LabReport<'_>, command: String) -> String {
    let (title, about) = report.heading();
    let [of_series, of_truth] = [&report.series, &report.truth].map(|all| drawn(all));
    let measured = report.series.iter().zip(&of_series).map(|(one, series)| ComparedRun {
        name: one.name.to_owned(),
        findings: &one.findings,
        series,
        page: Some(format!("{}/{REPORT}", one.name)),
        measured: one.measured,
    });
    // The simulated truth of a measured lab is not saved, so it has no page.
    let truth = report.truth.iter().zip(&of_truth).map(|(one, series)| ComparedRun {
        name: format!("{}, truth", one.name),
        findings: &one.findings,
        series,
        page: None,
        measured: false,
    });
    let mut runs: Vec<(bool, ComparedRun<'_>)> = report
        .series
        .iter()
        .map(|one| one.role != Role::Open)
        .zip(measured)
        .chain(truth.map(|one| (true, one)))
        .collect();
    // The open loop comes first: the first series has the colour that response time has on every page.
    runs.sort_by_key(|(is_other, _)| *is_other);
    comparison_page(&ComparisonPage {
        title,
        about,
        result: "",
        heads: report.heads(),
        rows: report.rows(),
        further: None,
        remarks: report.figures().to_vec(),
        runs: runs.into_iter().map(|(_, run)| run).collect(),
        pictures: report.plots(),
        side_by_side: false,
        command: Some(command),
        site: None,
    })
}

fn drawn(all: &[SeriesReport<'_>]) -> Vec<RunSeries> {
    all.iter().map(|one| series(one.run, &one.findings)).collect()
}
