//! One tool in the tables of streams.

use serde::Serialize;
use truetail_model::record::rank_of;
use truetail_run::{GapMeaning, StreamClaims};

use super::{LeagueRow, ToolState};
use crate::truth::StreamTruth;

/// The quantiles of the tables.
pub const STREAM_QUANTILES: [f64; 2] = [0.5, 0.99];

/// The streams of one tool as the server saw them. Times are ascending.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StreamView {
    /// From the arrival of each request to the departure of its first content event, nanoseconds.
    pub first: Vec<u64>,
    /// From each content event to the next, nanoseconds.
    pub gaps: Vec<u64>,
    /// Number of requests, answered or not.
    pub requests: u64,
}

impl StreamView {
    /// Takes requests as (arrival, departure of each content event, ascending), nanoseconds on one clock.
    pub fn new<'a>(requests: impl IntoIterator<Item = (u64, &'a [u64])>) -> StreamView {
        let mut view = StreamView::default();
        for (arrived, events) in requests {
            view.requests += 1;
            view.first.extend(events.first().map(|first| first.saturating_sub(arrived)));
            view.gaps.extend(events.windows(2).map(|pair| pair[1].saturating_sub(pair[0])));
        }
        view.first.sort_unstable();
        view.gaps.sort_unstable();
        view
    }
}

/// One tool in the tables of streams. `None` means not known.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamRow {
    /// Name of the tool.
    pub tool: String,
    /// State of the tool.
    pub state: ToolState,
    /// The times that the tool reported.
    pub claims: Option<StreamClaims>,
    /// Requests that the server saw while it could not answer.
    pub arrivals_in_fault: Option<u64>,
    /// Requests that were planned for that time.
    pub planned_in_fault: u64,
    /// Requests that the server saw.
    pub sent: Option<u64>,
    /// Requests of the schedule that the server never saw.
    pub not_sent: Option<u64>,
    /// Requests that the server saw and that are in none of the tool's times to the first token.
    pub left_out: Option<i64>,
    /// From arrival to first content at [`STREAM_QUANTILES`], by the server's log of this run.
    pub served_first_ns: [Option<u64>; 2],
    /// The gaps between content events at [`STREAM_QUANTILES`], by the server's log of this run.
    pub served_gap_ns: [Option<u64>; 2],
    /// (reported / truth − 1) in per cent, of the time to the first token at p99.
    pub error_first_p99_pct: Option<f64>,
    /// (reported / truth − 1) in per cent, of the gaps at p99. `None` for a tool that reports means of whole answers.
    pub error_gap_p99_pct: Option<f64>,
}

/// Builds the row of a tool from its row `whole` in the table of whole answers, its claims, and what the server saw.
pub fn stream_row(
    whole: &LeagueRow,
    claims: Option<&StreamClaims>,
    view: Option<&StreamView>,
    truth: &StreamTruth,
) -> StreamRow {
    let sent = view.map(|view| view.requests);
    let measured = claims.and_then(|claims| claims.measured);
    let served = |of: fn(&StreamView) -> &[u64]| STREAM_QUANTILES.map(|q| quantile_ns(of(view?), q));
    let first = claims.and_then(|claims| claims.first_at(0.99));
    let gap = claims.filter(|claims| claims.gap_of == GapMeaning::Event).and_then(|claims| claims.gap_at(0.99));
    StreamRow {
        tool: whole.tool.clone(),
        state: whole.state,
        claims: claims.cloned(),
        arrivals_in_fault: whole.arrivals_in_fault,
        planned_in_fault: whole.planned_in_fault,
        sent,
        not_sent: whole.not_sent,
        left_out: sent.zip(measured).map(|(sent, measured)| sent as i64 - measured as i64),
        served_first_ns: served(|view| &view.first),
        served_gap_ns: served(|view| &view.gaps),
        error_first_p99_pct: first.and_then(|said| error_pct(said.value_ns, truth.first_at(0.99)?)),
        error_gap_p99_pct: gap.and_then(|said| error_pct(said.value_ns, truth.gap_at(0.99)?)),
    }
}

/// Sorts rows as [`super::rank`] does, but by the error of the time to the first token.
pub fn rank_streams(rows: &mut [StreamRow]) {
    let class = |row: &StreamRow| (row.state, row.error_first_p99_pct.is_none());
    let hundredths = |row: &StreamRow| row.error_first_p99_pct.map_or(0, |error| (error.abs() * 100.0).round() as u64);
    rows.sort_by_key(|row| (class(row), hundredths(row), row.tool.clone()));
}

fn error_pct(reported_ns: u64, truth_ns: u64) -> Option<f64> {
    (truth_ns > 0).then(|| (reported_ns as f64 / truth_ns as f64 - 1.0) * 100.0)
}

/// Returns the smallest of ascending values whose cumulative count reaches ⌈q·n⌉.
pub(crate) fn quantile_ns(ascending: &[u64], q: f64) -> Option<u64> {
    let rank = rank_of(q, ascending.len() as u64).checked_sub(1)?;
    ascending.get(rank as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_events_count_from_the_arrival_and_gaps_from_each_event() {
        let view = StreamView::new([(100, &[150, 170, 400][..]), (200, &[]), (300, &[310][..])]);
        assert_eq!((view.requests, view.first, view.gaps), (3, vec![10, 50], vec![20, 230]));
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values: Vec<u64> = (1..=200).collect();
        assert_eq!([0.5, 0.99, 1.0].map(|q| quantile_ns(&values, q)), [Some(100), Some(198), Some(200)]);
        assert_eq!(quantile_ns(&[], 0.5), None);
    }
}
