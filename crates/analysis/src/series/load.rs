//! Planned, sent and completed requests over time.

use truetail_model::record::{Outcome, RequestRecord, SecondCounts};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_run::Run;

use super::data::LoadSeries;
use super::time_axis::Grid;

/// Fewest arrivals that have a rate.
const FEWEST: u64 = 2;

/// Load by column, with the rules of `timeline.csv`: planned requests by intended start, sent ones by actual start,
/// completed and failed ones by end.
pub(super) fn load(run: &Run, every: Option<&[RequestRecord]>, grid: &Grid) -> LoadSeries {
    let columns = counts(run, every, grid);
    if columns.iter().map(|column| column.planned).sum::<u64>() < FEWEST {
        return LoadSeries::default();
    }
    let axis = grid.axis();
    let rates = |count: fn(&SecondCounts) -> u64| {
        let rate = |(i, column): (usize, &SecondCounts)| six_digits(count(column) as f64 / axis.length_s(i));
        columns.iter().enumerate().map(rate).collect()
    };
    LoadSeries {
        planned_per_s: rates(|column| column.planned),
        sent_per_s: rates(|column| column.sent),
        completed_per_s: rates(|column| column.completed),
        failed_per_s: rates(|column| column.failed),
        backlog: surplus(&columns, |column| column.planned, |column| column.sent),
        in_flight: surplus(&columns, |column| column.sent, |column| column.completed + column.failed),
    }
}

pub(super) fn counts(run: &Run, every: Option<&[RequestRecord]>, grid: &Grid) -> Vec<SecondCounts> {
    let mut columns = vec![SecondCounts::default(); grid.columns()];
    match every {
        Some(records) => records.iter().for_each(|record| count(record, &mut columns, grid)),
        None => {
            for (second, counts) in run.snapshot.seconds.iter().enumerate() {
                let begin = Timestamp((second as u64).saturating_mul(NANOS_PER_SECOND));
                add(&mut columns[grid.column_of(begin)], counts);
            }
        }
    }
    columns
}

fn count(record: &RequestRecord, columns: &mut [SecondCounts], grid: &Grid) {
    columns[grid.column_of(record.intended_start)].planned += 1;
    if record.outcome != Outcome::NeverIssued {
        columns[grid.column_of(record.actual_start)].sent += 1;
    }
    let ended = &mut columns[grid.column_of(record.end)];
    match record.outcome {
        Outcome::Response { .. } => ended.completed += 1,
        Outcome::InFlightAtEnd | Outcome::NeverIssued => {}
        Outcome::ConnectFailed(_) | Outcome::Reset(_) | Outcome::Malformed(_) | Outcome::TimedOut => ended.failed += 1,
    }
}

fn add(column: &mut SecondCounts, second: &SecondCounts) {
    column.planned += second.planned;
    column.sent += second.sent;
    column.completed += second.completed;
    column.failed += second.failed;
}

/// Difference between the running totals of `came` and `went` at the end of each column.
fn surplus(columns: &[SecondCounts], came: fn(&SecondCounts) -> u64, went: fn(&SecondCounts) -> u64) -> Vec<u64> {
    let mut all_came = 0u64;
    let mut all_went = 0u64;
    let after = |column: &SecondCounts| {
        all_came += came(column);
        all_went += went(column);
        all_came.saturating_sub(all_went)
    };
    columns.iter().map(after).collect()
}

/// Rounds to six significant digits, so that the text is short.
pub(super) fn six_digits(value: f64) -> f64 {
    if !value.is_normal() {
        return 0.0;
    }
    let digits = 5 - libm::floor(libm::log10(value.abs())) as i32;
    let scale = libm::pow(10.0, f64::from(digits.abs()));
    if digits >= 0 { (value * scale).round() / scale } else { (value / scale).round() * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_kept() {
        let rounded = [1_000.0 / 3.0, 1e9 / 3.0, 0.001 / 3.0, 0.0, 2.0].map(six_digits);
        assert_eq!(rounded, [333.333, 333_333_000.0, 0.000_333_333, 0.0, 2.0]);
        assert_eq!(six_digits(f64::NAN), 0.0);
    }
}
