//! The pictures of a page, drawn by `truetail-report`. On a live page, the script draws some of them instead.

use truetail_analysis::series::{RunSeries, SessionSeries, StreamSeries};
use truetail_report::plot::{self, Picture};

use crate::run::RunPage;

pub(crate) fn books(page: &RunPage<'_>) -> Option<Picture> {
    Some(plot::books(&page.findings.tally))
}

pub(crate) fn heat_map(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::heat_map(page.series))
}

/// Draws load, backlog, percentiles and lag over time.
pub(crate) fn lanes(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::lanes(page.series))
}

/// Draws the percentile curves of the run and of its overlays.
pub(crate) fn percentiles(page: &RunPage<'_>) -> Option<Picture> {
    let own = if page.overlays.is_empty() { "" } else { page.name() };
    let others = page.overlays.iter().map(|other| (other.name, other.series));
    let curves: Vec<(&str, &RunSeries)> = std::iter::once((own, page.series)).chain(others).collect();
    (!page.live).then(|| plot::percentiles(&curves))
}

/// Draws the percentile curves of several equal runs.
pub(crate) fn percentiles_of(curves: &[(&str, &RunSeries)]) -> Option<Picture> {
    Some(plot::percentiles(curves))
}

pub(crate) fn start_delay(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::start_delay(page.series))
}

pub(crate) fn gaps(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::gaps(page.series))
}

pub(crate) fn by_rate(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::by_rate(page.series))
}

/// Draws the answers by status, and the failures by cause.
pub(crate) fn answers(page: &RunPage<'_>) -> Option<Picture> {
    Some(plot::answers(&page.run.snapshot))
}

/// Draws the targets side by side; `None` if the times of targets were not recorded.
pub(crate) fn targets(page: &RunPage<'_>) -> Option<Picture> {
    (page.findings.targets.len() > 1).then(|| plot::targets(page.findings))
}

/// Draws the gaps between the events of streams by time and size.
pub(crate) fn event_gaps(series: &StreamSeries) -> Option<Picture> {
    Some(plot::event_gaps(series))
}

/// Draws a few streams, event by event.
pub(crate) fn waterfall(series: &StreamSeries) -> Option<Picture> {
    Some(plot::waterfall(series))
}

/// Draws the early ends of sessions, with their reasons.
pub(crate) fn session_ends(series: &SessionSeries) -> Option<Picture> {
    Some(plot::session_ends(series))
}

pub(crate) fn session_waterfall(series: &SessionSeries) -> Option<Picture> {
    Some(plot::session_waterfall(series))
}

/// Draws the planned requests by objective.
pub(crate) fn goodput(series: &StreamSeries) -> Option<Picture> {
    Some(plot::goodput(series))
}
