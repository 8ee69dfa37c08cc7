//! The tables of streams: time to the first token, gaps between tokens, and books.

use truetail_analysis::league::{StreamRow, ToolState};
use truetail_analysis::truth::StreamTruth;
use truetail_run::{ClaimedQuantile, GapMeaning};

use super::grid::{Grid, millis, signed, signed_count};
use crate::number;
use crate::table::Align;

const LEFT: Align = Align::Left;
const RIGHT: Align = Align::Right;
const UNKNOWN: &str = "–";

pub(super) fn grids(truth: &StreamTruth, rows: &[StreamRow]) -> Vec<Grid> {
    vec![first_grid(truth, rows), gap_grid(truth, rows), books_grid(truth, rows)]
}

fn first_grid(truth: &StreamTruth, rows: &[StreamRow]) -> Grid {
    let planned = rows.first().map_or(0, |row| row.planned_in_fault);
    let truth = (number::count(planned), [0.5, 0.99, 1.0].map(|q| truth.first_at(q)));
    let lines = rows.iter().map(|row| {
        let claims = row.claims.as_ref();
        let seen = match row.state {
            ToolState::Ok => row.arrivals_in_fault.map_or(UNKNOWN.to_owned(), number::count),
            state => state.name().to_owned(),
        };
        vec![
            row.tool.clone(),
            seen,
            said(claims.and_then(|claims| claims.first_at(0.5))),
            said(claims.and_then(|claims| claims.first_at(0.99))),
            milliseconds(claims.and_then(|claims| claims.first_max_ns)),
            row.error_first_p99_pct.map_or(UNKNOWN.to_owned(), signed),
            milliseconds(row.served_first_ns[1]),
            off(claims.and_then(|claims| claims.first_at(0.99)), row.served_first_ns[1]),
        ]
    });
    let caption = "Time to first token as each tool reports it, in ms; seen: requests that arrived during the stalls";
    times_grid(caption, ("seen", RIGHT), truth, lines)
}

fn gap_grid(truth: &StreamTruth, rows: &[StreamRow]) -> Grid {
    let truth = ("gap".to_owned(), [0.5, 0.99, 1.0].map(|q| truth.gap_at(q)));
    let lines = rows.iter().map(|row| {
        let claims = row.claims.as_ref().filter(|claims| !claims.gaps.is_empty());
        let single = claims.filter(|claims| claims.gap_of == GapMeaning::Event);
        vec![
            row.tool.clone(),
            claims.map_or(UNKNOWN, |claims| words(claims.gap_of)).to_owned(),
            said(claims.and_then(|claims| claims.gap_at(0.5))),
            said(claims.and_then(|claims| claims.gap_at(0.99))),
            milliseconds(claims.and_then(|claims| claims.gap_max_ns)),
            row.error_gap_p99_pct.map_or(UNKNOWN.to_owned(), signed),
            milliseconds(row.served_gap_ns[1]),
            off(single.and_then(|claims| claims.gap_at(0.99)), row.served_gap_ns[1]),
        ]
    });
    let caption = "Gaps between tokens as each tool reports them, in ms; a mean of an answer hides its longest gap";
    times_grid(caption, ("a value is", LEFT), truth, lines)
}

/// Returns a table of reported times below the truth: `says` in the second column, then p50, p99 and the largest.
fn times_grid(
    caption: &'static str,
    second: (&'static str, Align),
    (says, truth_ns): (String, [Option<u64>; 3]),
    rows: impl Iterator<Item = Vec<String>>,
) -> Grid {
    let times = ["p50", "p99", "max", "error %", "served p99", "off %"].map(|head| (head, RIGHT));
    let truth = ["(the truth)".to_owned(), says].into_iter().chain(truth_ns.map(milliseconds));
    let truth = truth.chain([String::new(), String::new(), String::new()]).collect();
    Grid {
        caption,
        heads: [("tool", LEFT), second].into_iter().chain(times).collect(),
        rows: std::iter::once(truth).chain(rows).collect(),
        least_important: &[4, 7, 6],
    }
}

const fn words(gap_of: GapMeaning) -> &'static str {
    match gap_of {
        GapMeaning::Event => "gap",
        GapMeaning::Answer => "mean of an answer",
    }
}

fn books_grid(truth: &StreamTruth, rows: &[StreamRow]) -> Grid {
    let count = |n: Option<u64>| n.map_or(UNKNOWN.to_owned(), number::count);
    let planned = truth.first_event.len() as u64 + truth.without_event;
    let first = ["(the plan)".to_owned(), number::count(planned), String::new(), String::new(), String::new()];
    let lines = rows.iter().map(|row| {
        let measured = row.claims.as_ref().and_then(|claims| claims.measured);
        let left_out = row.left_out.map_or(UNKNOWN.to_owned(), signed_count);
        vec![row.tool.clone(), count(row.sent), count(row.not_sent), count(measured), left_out]
    });
    Grid {
        caption: "Requests: how many the server saw, and how many are in the tool's time to first token",
        heads: vec![("tool", LEFT), ("sent", RIGHT), ("not sent", RIGHT), ("measured", RIGHT), ("left out", RIGHT)],
        rows: std::iter::once(first.to_vec()).chain(lines).collect(),
        least_important: &[],
    }
}

fn milliseconds(ns: Option<u64>) -> String {
    ns.map_or(UNKNOWN.to_owned(), millis)
}

/// Formats the difference of a reported time from the server's own time, in per cent.
fn off(said: Option<ClaimedQuantile>, served_ns: Option<u64>) -> String {
    let served = served_ns.filter(|served| *served > 0);
    let percent = said.zip(served).map(|(said, served)| (said.value_ns as f64 / served as f64 - 1.0) * 100.0);
    percent.map_or(UNKNOWN.to_owned(), signed)
}

/// A star marks a value that the tool does not print.
fn said(quantile: Option<ClaimedQuantile>) -> String {
    let star = |quantile: ClaimedQuantile| if quantile.printed { "" } else { "*" };
    quantile.map_or(UNKNOWN.to_owned(), |quantile| millis(quantile.value_ns) + star(quantile))
}
