//! The page of a lab: its series beside each other.

use truetail_analysis::series::{RunSeries, series};
use truetail_page::{ComparedRun, ComparisonPage, comparison_page};
use truetail_report::labs::{LabReport, SeriesReport};
use truetail_run::folder::REPORT;

/// The page, for the folder that holds a folder for each series.
pub fn of_lab(report: &LabReport<'_>, command: String) -> String {
    let (title, about) = report.heading();
    let all: Vec<&SeriesReport<'_>> = report.series.iter().chain(&report.truth).collect();
    let drawn: Vec<RunSeries> = all.iter().map(|one| series(one.run, &one.findings)).collect();
    let compared = |(at, one): (usize, &SeriesReport<'_>)| {
        // What virtual time says of a lab that was measured is not saved.
        let is_saved = at < report.series.len();
        ComparedRun {
            name: if is_saved { one.name.to_owned() } else { format!("{}, truth", one.name) },
            findings: &one.findings,
            series: &drawn[at],
            page: is_saved.then(|| format!("{}/{REPORT}", one.name)),
            measured: one.measured,
        }
    };
    comparison_page(&ComparisonPage {
        title,
        about,
        result: "",
        heads: report.heads(),
        rows: report.rows(),
        remarks: report.figures().to_vec(),
        runs: all.iter().copied().enumerate().map(compared).collect(),
        pictures: report.plots(),
        command: Some(command),
    })
}
