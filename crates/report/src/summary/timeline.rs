//! How it went over time, in two lines that fit any terminal.

use truetail_model::record::{Metric, Second};
use truetail_run::Run;

use super::{MARGIN, labelled, number};
use crate::spark::{self, Fold};
use crate::style::Style;

/// Fewer seconds make no line.
const FEWEST_SECONDS: usize = 3;
/// Room for the text behind a line.
const CAPTION: usize = 28;

/// p99 of the response time by intended start, and requests sent by actual start.
pub(super) fn lines(run: &Run, style: Style) -> Vec<String> {
    let from = run.snapshot.measure_from.second();
    let rows = run.snapshot.seconds.get(from..).unwrap_or(&[]);
    let rows = &rows[..rows.iter().rposition(|row| row.planned + row.sent > 0).map_or(0, |last| last + 1)];
    if rows.len() < FEWEST_SECONDS {
        return Vec::new();
    }
    let columns = style.columns().saturating_sub(MARGIN + CAPTION);
    let p99: Vec<Option<f64>> = rows.iter().map(p99_ns).collect();
    let sent: Vec<Option<f64>> = rows.iter().map(|row| Some(row.sent as f64)).collect();
    let mut lines = Vec::new();
    if let Some(caption) = caption(&p99, |ns| number::time(ns as u64)) {
        lines.push(line("p99", &spark::resample(&p99, columns, Fold::Largest), &caption, style));
    }
    // The last second is rarely a whole one: it is drawn, and not counted as the lowest.
    if let Some(caption) = caption(&sent[..sent.len() - 1], number::rate) {
        lines.push(line("sent", &spark::resample(&sent, columns, Fold::Smallest), &caption, style));
    }
    lines
}

fn line(label: &str, values: &[Option<f64>], caption: &str, style: Style) -> String {
    labelled(label, &format!("{}  {}", spark::line(values, style), style.spell(caption)), style)
}

fn caption(values: &[Option<f64>], text: impl Fn(f64) -> String) -> Option<String> {
    let known = || values.iter().flatten().copied();
    let (low, high) = (known().reduce(f64::min)?, known().reduce(f64::max)?);
    let (low, high) = (text(low), text(high));
    Some(if low == high { low } else { format!("{low} … {high}") })
}

/// p99 over the arrivals intended in this second, the unanswered with what was waited for them.
fn p99_ns(row: &Second) -> Option<f64> {
    let mut all = row.metric(Metric::ResponseTime).clone();
    all.merge(row.metric(Metric::Censored));
    all.merge(row.metric(Metric::Failed));
    all.quantile(0.99).map(|value| value.0 as f64)
}
