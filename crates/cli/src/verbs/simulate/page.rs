//! The page of a lab: its series beside each other.

use truetail_analysis::series::{RunSeries, series};
use truetail_page::{ComparedRun, ComparisonPage, comparison_page};
use truetail_report::labs::{LabReport, SeriesReport};
use truetail_run::folder::REPORT;

/// The page, for the folder that holds a folder for each series.
pub fn of_lab(report: &LabReport<'_>, command: String) -> String {
    let (title, about) = report.heading();
    let [of_series, of_truth] = [&report.series, &report.truth].map(|all| drawn(all));
    let measured = report.series.iter().zip(&of_series).map(|(one, series)| ComparedRun {
        name: one.name.to_owned(),
        findings: &one.findings,
        series,
        page: Some(format!("{}/{REPORT}", one.name)),
        measured: one.measured,
    });
    // What virtual time says of a lab that was measured is not saved.
    let truth = report.truth.iter().zip(&of_truth).map(|(one, series)| ComparedRun {
        name: format!("{}, truth", one.name),
        findings: &one.findings,
        series,
        page: None,
        measured: false,
    });
    comparison_page(&ComparisonPage {
        title,
        about,
        result: "",
        heads: report.heads(),
        rows: report.rows(),
        remarks: report.figures().to_vec(),
        runs: measured.chain(truth).collect(),
        pictures: report.plots(),
        command: Some(command),
    })
}

fn drawn(all: &[SeriesReport<'_>]) -> Vec<RunSeries> {
    all.iter().map(|one| series(one.run, &one.findings)).collect()
}
