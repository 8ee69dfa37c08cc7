//! The rows of tables over time. Each covers several columns of the pictures, to keep tables readable and pages small.

use std::ops::Range;

use truetail_analysis::series::RunSeries;
use truetail_report::number;

use super::wording::seconds;

const MAX_ROWS: usize = 60;

/// Returns the columns of each row.
pub(super) fn rows(series: &RunSeries) -> impl Iterator<Item = Range<usize>> + use<> {
    let columns = series.time.columns;
    let step = step(series);
    (0..columns).step_by(step).map(move |from| from..columns.min(from + step))
}

fn step(series: &RunSeries) -> usize {
    series.time.columns.div_ceil(MAX_ROWS).max(1)
}

pub(super) fn start(series: &RunSeries, row: &Range<usize>) -> String {
    seconds(series.time.begin_s(row.start))
}

/// Explains rows of several columns, for the caption of a table; empty if a row is one column.
pub(super) fn explained(series: &RunSeries, how: &str) -> String {
    match step(series) {
        1 => String::new(),
        step => {
            let length_ns = step as f64 * series.time.column_s * 1e9;
            format!("; a row is {}, {how}", number::round_time(length_ns.round() as u64))
        }
    }
}

/// Returns the mean of rates, weighted by the measured time of each column.
pub(super) fn mean_rate(series: &RunSeries, per_s: &[f64], row: &Range<usize>) -> String {
    let Some(rates) = per_s.get(row.clone()) else { return "–".to_owned() };
    let lengths = row.clone().map(|column| series.time.length_s(column));
    let (events, length) =
        rates.iter().zip(lengths).fold((0.0, 0.0), |(events, length), (rate, s)| (events + rate * s, length + s));
    if length > 0.0 { number::rate(events / length) } else { "–".to_owned() }
}

/// Returns the value at the end of a row.
pub(super) fn last(values: &[u64], row: &Range<usize>) -> String {
    row.clone()
        .next_back()
        .and_then(|column| values.get(column))
        .map_or("–".to_owned(), |value| number::count(*value))
}

/// Returns the highest time in a row, or a dash if it is unknown.
pub(super) fn highest(times_ns: &[Option<u64>], row: &Range<usize>) -> String {
    time(times_ns.get(row.clone()).and_then(|times| times.iter().flatten().max().copied()))
}

/// Formats a time, or a dash if it is unknown.
pub(super) fn time(ns: Option<u64>) -> String {
    ns.map_or("–".to_owned(), number::time)
}

#[cfg(test)]
mod tests {
    use truetail_analysis::series::TimeAxis;

    use super::*;

    #[test]
    fn rows_hold_every_column_once() {
        for columns in [0, 1, 59, 60, 61, 240, 599, 600] {
            let time = TimeAxis { columns, column_s: 0.25, to_s: columns as f64 / 4.0, ..TimeAxis::default() };
            let series = RunSeries { time, ..RunSeries::default() };
            let rows: Vec<_> = rows(&series).collect();
            assert!(rows.len() <= MAX_ROWS);
            assert_eq!(rows.iter().cloned().flatten().collect::<Vec<_>>(), (0..columns).collect::<Vec<_>>());
            let per_s = vec![8.0; columns];
            assert!(rows.iter().all(|row| mean_rate(&series, &per_s, row) == number::rate(8.0)));
            assert!(rows.iter().all(|row| mean_rate(&series, &[], row) == "–" && highest(&[], row) == "–"));
        }
    }
}
