//! A table in cells, and the format of its numbers.

use crate::number;
use crate::table::Align;

pub(super) struct Grid {
    pub(super) caption: &'static str,
    pub(super) heads: Vec<(&'static str, Align)>,
    pub(super) rows: Vec<Vec<String>>,
    /// Columns that a narrow terminal omits, in this order.
    pub(super) least_important: &'static [usize],
}

/// Formats a time in milliseconds to about four digits, without the unit.
pub(super) fn millis(ns: u64) -> String {
    match ns as f64 / 1e6 {
        ms if ms < 99.95 => format!("{ms:.2}"),
        ms if ms < 999.95 => format!("{ms:.1}"),
        ms => number::count(ms.round() as u64),
    }
}

/// Formats a percentage with sign: `-97.1`, `+4.0`, and `+0.0` for small values.
pub(super) fn signed(percent: f64) -> String {
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    if percent.abs() < 1_000.0 { format!("{percent:+.1}") } else { format!("{percent:+.0}") }
}

/// Formats a count, with a sign if it is negative.
pub(super) fn signed_count(n: i64) -> String {
    if n < 0 { format!("-{}", number::count(n.unsigned_abs())) } else { number::count(n.unsigned_abs()) }
}
