//! The run over time, as two lines that fit any terminal.

use truetail_analysis::verdict::code;
use truetail_model::record::{Distributions, Metric, rank_of};
use truetail_model::time::NANOS_PER_SECOND;
use truetail_run::{Findings, Run};

use super::labelled::{MARGIN, labelled};
use crate::number;
use crate::sparkline::{self, Downsample};
use crate::style::{Emphasis, Style};

/// Shortest run with a timeline.
const FEWEST_SECONDS: usize = 3;
/// Lowest number of columns of a line, even in a narrow terminal.
const FEWEST_COLUMNS: usize = 8;
const GAP: usize = 2;

/// Plots p99 of the response time by intended start, and sent requests by actual start.
pub(super) fn lines(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let from = run.snapshot.measure_from.second();
    let rows = run.snapshot.seconds.get(from..).unwrap_or(&[]);
    let rows = &rows[..rows.iter().rposition(|row| row.planned + row.sent > 0).map_or(0, |last| last + 1)];
    if rows.len() < FEWEST_SECONDS {
        return Vec::new();
    }
    // In a long run, several seconds share an interval, and so its quantile.
    let intervals = &run.snapshot.intervals;
    let by_interval: Vec<Option<f64>> = intervals.rows().iter().map(p99_ns).collect();
    let of_second = |second| by_interval.get(intervals.interval_of(second)).copied().flatten();
    let p99: Vec<Option<f64>> = (from..from + rows.len()).map(of_second).collect();
    let sent: Vec<Option<f64>> =
        (from..).zip(rows).map(|(second, row)| is_whole(run, second).then_some(row.sent as f64)).collect();
    let saturated = findings.verdict.has(code::SATURATED);
    let label = if saturated { "Trend waits" } else { "Trend p99" };
    let plots = [
        (label, &p99, Downsample::Max, caption(&p99, |ns| number::time(ns as u64))),
        ("Trend sent", &sent, Downsample::Min, caption(&sent, number::rate)),
    ];
    let behind = plots.iter().map(|(.., caption)| style.printable(caption).chars().count()).max().unwrap_or(0);
    let columns =
        style.columns().saturating_sub(MARGIN + GAP + behind).clamp(FEWEST_COLUMNS, rows.len().max(FEWEST_COLUMNS));
    let is_told = |values: &[Option<f64>]| values.iter().flatten().any(|value| value.is_finite());
    let drawn = plots.iter().filter(|(_, values, ..)| is_told(values));
    let mut lines: Vec<String> = drawn
        .map(|(label, values, fold, caption)| line(label, &sparkline::resample(values, columns, *fold), caption, style))
        .collect();
    lines.push(labelled(
        "",
        &style.emphasize(Emphasis::Faint, &axis(from, from + rows.len(), columns.min(rows.len()))),
        style,
    ));
    lines
}

/// Returns true if requests could be sent during the whole second, so that their count is a rate.
fn is_whole(run: &Run, second: usize) -> bool {
    let rows = &run.snapshot.seconds;
    let begins_ns = second as u64 * NANOS_PER_SECOND;
    if begins_ns < run.snapshot.measure_from.0 {
        return false;
    }
    if rows[second + 1..].iter().any(|row| row.sent > 0) {
        return true;
    }
    // A run that was cut short ends in the middle of a second. So does a backlog.
    if rows[second].planned == 0 || run.facts.cut_short.unwrap_or(run.facts.interrupted) {
        return false;
    }
    match run.facts.offered.duration_ns {
        Some(duration_ns) => begins_ns + NANOS_PER_SECOND <= duration_ns,
        // A number of requests, or a recording, also ends within a second, usually one with fewer requests.
        None => second.checked_sub(1).is_none_or(|before| rows[second].planned + 1 >= rows[before].planned),
    }
}

fn axis(from: usize, to: usize, columns: usize) -> String {
    let from = format!("{from}s");
    let to = format!("{to}s");
    let room = columns.saturating_sub(from.len()).max(to.len() + 1);
    format!("{from}{to:>room$}")
}

fn line(label: &str, values: &[Option<f64>], caption: &str, style: Style) -> String {
    labelled(label, &format!("{}  {}", sparkline::line(values, style), style.printable(caption)), style)
}

fn caption(values: &[Option<f64>], text: impl Fn(f64) -> String) -> String {
    let finite = || values.iter().flatten().copied().filter(|value| value.is_finite());
    let endless = values.iter().flatten().any(|value| value.is_infinite());
    let range = finite().reduce(f64::min).zip(finite().reduce(f64::max)).map(|(low, high)| {
        let low = text(low);
        let high = text(high);
        if low == high { low } else { format!("{low}…{high}") }
    });
    let endless = endless.then(|| "× no answer".to_owned());
    range.into_iter().chain(endless).collect::<Vec<_>>().join(" · ")
}

/// Returns p99 over the arrivals intended in this interval, ns. Censored arrivals count with their waiting time, and
/// failed ones as infinite.
fn p99_ns(row: &Distributions) -> Option<f64> {
    let mut waited = row.metric(Metric::ResponseTime).clone();
    waited.merge(row.metric(Metric::Censored));
    let all = waited.count() + row.metric(Metric::Failed).count();
    let value = waited.value_at_rank(rank_of(0.99, all));
    (all > 0).then(|| value.map_or(f64::INFINITY, |value| value.0 as f64))
}
