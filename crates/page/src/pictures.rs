//! The pictures of a page, as `truetail-report` draws them. A live page has none of those that its script draws.

use truetail_analysis::series::{RunSeries, SessionSeries, StreamSeries};
use truetail_report::plot::{self, Picture};

use crate::run::RunPage;

/// Planned requests by outcome.
pub(crate) fn books(page: &RunPage<'_>) -> Option<Picture> {
    Some(plot::books(&page.findings.tally))
}

/// Response times by time and size.
pub(crate) fn heat_map(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::heat_map(page.series))
}

/// Load, backlog, percentiles and lag over time.
pub(crate) fn lanes(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::lanes(page.series))
}

/// The percentile curves of the run, and those of others.
pub(crate) fn percentiles(page: &RunPage<'_>) -> Option<Picture> {
    let own = if page.overlays.is_empty() { "" } else { page.name() };
    let others = page.overlays.iter().map(|other| (other.name, other.series));
    let curves: Vec<(&str, &RunSeries)> = std::iter::once((own, page.series)).chain(others).collect();
    (!page.live).then(|| plot::percentiles(&curves))
}

/// The percentile curves of runs of which none is the main one.
pub(crate) fn percentiles_of(curves: &[(&str, &RunSeries)]) -> Option<Picture> {
    Some(plot::percentiles(curves))
}

/// Start delay by owner over time.
pub(crate) fn start_delay(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::start_delay(page.series))
}

/// Gaps between requests, planned and real.
pub(crate) fn gaps(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::gaps(page.series))
}

/// Response time by rate.
pub(crate) fn by_rate(page: &RunPage<'_>) -> Option<Picture> {
    (!page.live).then(|| plot::by_rate(page.series))
}

/// Answers by status, and failures by cause.
pub(crate) fn answers(page: &RunPage<'_>) -> Option<Picture> {
    Some(plot::answers(&page.run.snapshot))
}

/// Targets beside each other; `None` where the times of targets were not recorded.
pub(crate) fn targets(page: &RunPage<'_>) -> Option<Picture> {
    (page.findings.targets.len() > 1).then(|| plot::targets(page.findings))
}

/// Gaps between the events of streams by time and size.
pub(crate) fn event_gaps(series: &StreamSeries) -> Option<Picture> {
    Some(plot::event_gaps(series))
}

/// A few streams, event by event.
pub(crate) fn waterfall(series: &StreamSeries) -> Option<Picture> {
    Some(plot::waterfall(series))
}

/// Where sessions ended early, and why.
pub(crate) fn session_ends(series: &SessionSeries) -> Option<Picture> {
    Some(plot::session_ends(series))
}

/// A few sessions, request by request.
pub(crate) fn session_waterfall(series: &SessionSeries) -> Option<Picture> {
    Some(plot::session_waterfall(series))
}

/// Planned requests by objective.
pub(crate) fn goodput(series: &StreamSeries) -> Option<Picture> {
    Some(plot::goodput(series))
}
