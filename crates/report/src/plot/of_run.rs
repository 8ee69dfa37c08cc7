//! All pictures of a run.

use truetail_analysis::series::RunSeries;
use truetail_run::{Findings, Run};

use super::{Picture, answers, books, by_rate, gaps, heat_map, lanes, percentiles, start_delay, targets};

/// The pictures that apply to a run, each with the name of its file without an ending. Response time against rate is there
/// where the rate moved, and targets where there are several.
pub fn pictures_of_run(run: &Run, findings: &Findings, series: &RunSeries) -> Vec<(&'static str, Picture)> {
    let mut pictures = vec![
        ("books", books(&run.snapshot.tally)),
        ("heat-map", heat_map(series)),
        ("over-time", lanes(series)),
        ("percentiles", percentiles(&[("", series)])),
        ("start-delay", start_delay(series)),
        ("gaps", gaps(series)),
        ("answers", answers(&run.snapshot)),
    ];
    if !series.by_rate.is_empty() {
        pictures.push(("by-rate", by_rate(series)));
    }
    if findings.targets.len() > 1 {
        pictures.push(("targets", targets(findings)));
    }
    pictures
}
