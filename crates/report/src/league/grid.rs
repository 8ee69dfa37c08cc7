//! A table in cells, and how the numbers in it are written.

use crate::number;
use crate::table::Align;

/// A table in cells: heads with their alignment, and rows.
pub(super) struct Grid {
    /// What it shows, in a line.
    pub(super) caption: &'static str,
    pub(super) heads: Vec<(&'static str, Align)>,
    pub(super) rows: Vec<Vec<String>>,
    /// The columns that a terminal without room for all does without, in this order.
    pub(super) least_important: &'static [usize],
}

/// A time in milliseconds to about four digits, without the unit.
pub(super) fn millis(ns: u64) -> String {
    match ns as f64 / 1e6 {
        ms if ms < 99.95 => format!("{ms:.2}"),
        ms if ms < 999.95 => format!("{ms:.1}"),
        ms => number::count(ms.round() as u64),
    }
}

/// `-97.1`, `+4.0`, and `+0.0` for what rounds to it.
pub(super) fn signed(percent: f64) -> String {
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    if percent.abs() < 1_000.0 { format!("{percent:+.1}") } else { format!("{percent:+.0}") }
}

/// A count, with a sign if it is below zero.
pub(super) fn signed_count(n: i64) -> String {
    if n < 0 { format!("-{}", number::count(n.unsigned_abs())) } else { number::count(n.unsigned_abs()) }
}
