//! The order of the tools.

use std::cmp::Ordering;

use super::{LeagueRow, ToolState};

/// Sorts rows by honesty: the smallest absolute error at p99 first, then at p99.9 (to a hundredth of a per cent), then
/// by name. Tools without a number at p99 follow, then tools that failed, hung, or are missing.
pub fn rank(rows: &mut [LeagueRow]) {
    rows.sort_by(|a, b| {
        let class = class(a).cmp(&class(b));
        class.then_with(|| by_error(a, b)).then_with(|| a.tool.cmp(&b.tool))
    });
}

fn class(row: &LeagueRow) -> (ToolState, bool) {
    (row.state, row.error_p99_pct.is_none())
}

fn by_error(a: &LeagueRow, b: &LeagueRow) -> Ordering {
    let p99 = |row: &LeagueRow| hundredths(row.error_p99_pct);
    let p999 = |row: &LeagueRow| hundredths(row.error_p999_pct);
    p99(a).cmp(&p99(b)).then_with(|| p999(a).cmp(&p999(b)))
}

fn hundredths(error_pct: Option<f64>) -> u64 {
    error_pct.map_or(u64::MAX, |error| (error.abs() * 100.0).round() as u64)
}
