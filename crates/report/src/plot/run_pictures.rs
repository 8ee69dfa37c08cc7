//! All pictures of a run.

use truetail_analysis::series::RunSeries;
use truetail_run::{Findings, Run};

use super::{
    Picture, answers, books, by_rate, event_gaps, gaps, goodput, heat_map, lanes, percentiles, service_lanes,
    session_ends, session_waterfall, start_delay, targets, waterfall,
};

/// Returns the pictures that apply to a run, each with its file name without extension. Response time against rate
/// needs a changing rate, targets need several targets, and pictures of streams and sessions need their detail.
pub fn pictures_of_run(run: &Run, findings: &Findings, series: &RunSeries) -> Vec<(&'static str, Picture)> {
    let mut pictures = vec![
        ("books", books(&run.snapshot.tally, &run.facts.source)),
        ("heat-map", heat_map(series)),
        ("over-time", lanes(series)),
        ("percentiles", percentiles(&[("", series)])),
        ("start-delay", start_delay(series)),
        ("gaps", gaps(series)),
        ("answers", answers(run)),
    ];
    if !series.by_rate.is_empty() {
        pictures.push(("by-rate", by_rate(series)));
    }
    if findings.targets.len() > 1 {
        pictures.push(("targets", targets(findings)));
    }
    if let Some(streams) = series.streams.as_ref().filter(|streams| streams.time.columns > 0) {
        pictures.push(("event-gaps", event_gaps(streams, &series.pauses)));
    }
    if let Some(streams) = series.streams.as_ref().filter(|streams| !streams.sampled.is_empty()) {
        pictures.push(("streams", waterfall(streams)));
    }
    if let Some(streams) = series.streams.as_ref().filter(|streams| !streams.objectives.is_empty()) {
        pictures.push(("goodput", goodput(streams)));
    }
    if let Some(sessions) = series.sessions.as_ref().filter(|sessions| !sessions.early_ends.is_empty()) {
        pictures.push(("session-ends", session_ends(sessions)));
    }
    if let Some(sessions) = series.sessions.as_ref().filter(|sessions| !sessions.sampled.is_empty()) {
        pictures.push(("sessions", session_waterfall(sessions)));
    }
    let lanes = truetail_analysis::series::service_lanes(run, &series.time);
    if !lanes.is_empty() {
        pictures.push(("service", service_lanes(&lanes, series)));
    }
    pictures
}
