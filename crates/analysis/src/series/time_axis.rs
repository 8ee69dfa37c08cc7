//! Columns shared by all series over time.

use serde::Serialize;
use truetail_model::record::{RequestRecord, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_run::Run;

/// Columns shared by all series over time.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct TimeAxis {
    /// Start of the first column, in seconds since the origin.
    pub from_s: f64,
    /// Width of a column, in seconds.
    pub column_s: f64,
    /// Number of columns, at most [`TimeAxis::MAX_COLUMNS`].
    pub columns: usize,
    /// End of the warm-up, in seconds since the origin. It lies in the first column, and mostly at its start.
    pub measured_from_s: f64,
    /// End of the run and of the last column, in seconds since the origin. The last column may be shorter than the
    /// others, or up to half a column longer.
    pub to_s: f64,
}

impl TimeAxis {
    /// Limit on the columns of a run of any length.
    pub const MAX_COLUMNS: usize = 600;

    /// Start of column `i`, in seconds since the origin. The first column starts at the end of the warm-up.
    pub fn begin_s(&self, i: usize) -> f64 {
        if i == 0 { self.measured_from_s } else { self.from_s + i as f64 * self.column_s }
    }

    /// End of column `i`, in seconds since the origin.
    pub fn end_s(&self, i: usize) -> f64 {
        if i + 1 >= self.columns { self.to_s } else { self.from_s + (i + 1) as f64 * self.column_s }
    }

    /// Measured length of column `i` in seconds, the divisor that turns counts into rates.
    pub fn length_s(&self, i: usize) -> f64 {
        self.end_s(i) - self.begin_s(i)
    }
}

/// Limit on the columns if every single request is known …
const MAX_FINE_COLUMNS: u64 = 240;
/// … and fewest mean arrivals in a column shorter than a second.
const ARRIVALS_IN_FINE_COLUMN: u64 = 10;
/// Fewest expected arrivals of a short last column. Fewer would give a random rate. Half a column or more is always
/// kept as a separate column, and less than a tenth never.
const ARRIVALS_IN_LAST_COLUMN: f64 = 5.0;

/// [`TimeAxis`] in nanoseconds since the origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Grid {
    from_ns: u64,
    width_ns: u64,
    columns: usize,
    measured_from_ns: u64,
    to_ns: u64,
}

impl Grid {
    /// Returns the columns of a run: round widths if `every` arrival is known, otherwise whole recorded intervals.
    /// Returns `None` if nothing was planned or nothing is known by time.
    pub(super) fn for_run(run: &Run, every: Option<&[RequestRecord]>) -> Option<Grid> {
        match every {
            Some(records) => Grid::from_records(run, records),
            None => Grid::from_intervals(run),
        }
    }

    fn from_records(run: &Run, records: &[RequestRecord]) -> Option<Grid> {
        let from_ns = run.snapshot.measure_from.min(records.first()?.intended_start).0;
        let last = |record: &RequestRecord| record.end.max(record.actual_start).max(record.intended_start).0;
        let last_ns = records.iter().map(last).max().unwrap_or(0);
        let to_ns = last_ns.max(schedule_end_ns(run, Some(records))).max(from_ns.saturating_add(1));
        let width_ns = nice_width_ns(to_ns - from_ns, records.len() as u64);
        Some(Grid::new(from_ns, width_ns, from_ns, to_ns, records.len() as u64))
    }

    fn from_intervals(run: &Run) -> Option<Grid> {
        let snapshot = &run.snapshot;
        let interval_ns = snapshot.intervals.width_s().saturating_mul(NANOS_PER_SECOND);
        let measure_from = snapshot.measure_from;
        let first = first_interval(snapshot)?.min(snapshot.intervals.interval_of(measure_from.second()));
        let from_ns = (first as u64).saturating_mul(interval_ns);
        let last_ns = snapshot.last_end.0.max(schedule_end_ns(run, None));
        let to_ns = [(snapshot.seconds.len(), NANOS_PER_SECOND), (snapshot.intervals.rows().len(), interval_ns)]
            .map(|(rows, row_ns)| end_of(rows as u64, row_ns, last_ns));
        let to_ns = to_ns[0].max(to_ns[1]).max(from_ns.saturating_add(1));
        let intervals = (to_ns - from_ns).div_ceil(interval_ns);
        let width_ns = interval_ns.saturating_mul(intervals.div_ceil(TimeAxis::MAX_COLUMNS as u64));
        let is_within = (from_ns..to_ns.min(from_ns.saturating_add(width_ns))).contains(&measure_from.0);
        let measured_from_ns = if is_within { measure_from.0 } else { from_ns };
        Some(Grid::new(from_ns, width_ns, measured_from_ns, to_ns, snapshot.tally.planned))
    }

    fn new(from_ns: u64, width_ns: u64, measured_from_ns: u64, to_ns: u64, arrivals: u64) -> Grid {
        let length_ns = to_ns - from_ns;
        let columns = length_ns.div_ceil(width_ns);
        let last_ns = length_ns - (columns - 1) * width_ns;
        let expected = arrivals as f64 * last_ns as f64 / length_ns as f64;
        let is_short = last_ns < width_ns / 10 || (last_ns < width_ns / 2 && expected < ARRIVALS_IN_LAST_COLUMN);
        let is_scrap = columns > 1 && is_short;
        let columns = (columns - u64::from(is_scrap)) as usize;
        Grid { from_ns, width_ns, columns, measured_from_ns, to_ns }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn measured_from_ns(&self) -> u64 {
        self.measured_from_ns
    }

    /// Column of an instant. Instants outside belong to the first or last column.
    pub(super) fn column_of(&self, instant: Timestamp) -> usize {
        let column = instant.0.saturating_sub(self.from_ns) / self.width_ns;
        usize::try_from(column).map_or(self.columns - 1, |column| column.min(self.columns - 1))
    }

    pub(super) fn begin(&self, i: usize) -> Timestamp {
        Timestamp(self.from_ns.saturating_add(self.width_ns.saturating_mul(i as u64)))
    }

    pub(super) fn axis(&self) -> TimeAxis {
        let seconds = |ns: u64| ns as f64 / NANOS_PER_SECOND as f64;
        TimeAxis {
            from_s: seconds(self.from_ns),
            column_s: seconds(self.width_ns),
            columns: self.columns,
            measured_from_s: seconds(self.measured_from_ns),
            to_s: seconds(self.to_ns),
        }
    }
}

/// End of the schedule: its chosen end if the run got that far, else one mean gap after its last arrival. 0 if unknown.
fn schedule_end_ns(run: &Run, every: Option<&[RequestRecord]>) -> u64 {
    let offered = &run.facts.offered;
    let complete = run.facts.is_complete() && offered.requests.is_none();
    match (offered.duration_ns.filter(|_| complete), every) {
        (Some(duration_ns), _) => duration_ns,
        (None, Some([first, .., last])) => {
            let gaps = every.map_or(1, |records| records.len() as u64 - 1);
            let mean_gap_ns = last.intended_start.since(first.intended_start).0 / gaps;
            last.intended_start.0.saturating_add(mean_gap_ns)
        }
        (None, _) => 0,
    }
}

/// Returns the smallest width of 1, 2 or 5 times a power of ten that gives few enough columns. Widths below a second
/// also need enough arrivals in each column.
fn nice_width_ns(length_ns: u64, arrivals: u64) -> u64 {
    let fits = |width_ns: u64| {
        let is_filled =
            u128::from(arrivals) * u128::from(width_ns) >= u128::from(ARRIVALS_IN_FINE_COLUMN) * u128::from(length_ns);
        length_ns.div_ceil(width_ns) <= MAX_FINE_COLUMNS && (is_filled || width_ns >= NANOS_PER_SECOND)
    };
    let powers = (0..19).map(|power| 10u64.pow(power));
    powers.flat_map(|power| [1, 2, 5].map(|by| by * power)).find(|width| fits(*width)).unwrap_or(u64::MAX)
}

/// First interval with arrivals. `None` if there are no arrivals, or nothing was recorded by time.
fn first_interval(snapshot: &Snapshot) -> Option<usize> {
    let busy = |second: &truetail_model::record::SecondCounts| second.planned > 0;
    let of_seconds = snapshot.seconds.iter().position(busy).map(|second| snapshot.intervals.interval_of(second));
    let of_rows = snapshot.intervals.rows().iter().position(|row| row.metrics.iter().any(|metric| !metric.is_empty()));
    [of_seconds, of_rows].into_iter().flatten().min()
}

/// End of the last row: `last_ns` if that lies in it or later, otherwise the end of the row.
fn end_of(rows: u64, row_ns: u64, last_ns: u64) -> u64 {
    match rows.checked_sub(1) {
        None => 0,
        Some(before) if last_ns > before.saturating_mul(row_ns) => last_ns,
        Some(_) => rows.saturating_mul(row_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = NANOS_PER_SECOND;

    #[test]
    fn widths_are_numbers_people_like() {
        assert_eq!(nice_width_ns(60 * S, 60_000), S / 2);
        assert_eq!(nice_width_ns(10 * S, 10_000), S / 20);
        assert_eq!(nice_width_ns(3_600 * S, 100_000), 20 * S);
        // 5 arrivals per second need columns of a second. Shorter columns would mostly be empty.
        assert_eq!(nice_width_ns(30 * S, 150), S);
        assert_eq!(nice_width_ns(S / 100, 1), S / 10, "all in one");
        assert_eq!(nice_width_ns(u64::MAX, 1), 100_000_000 * S);
    }

    #[test]
    fn a_scrap_at_the_end_belongs_to_the_last_column() {
        let columns = |to_ns: u64, arrivals: u64| Grid::new(0, S, 0, to_ns, arrivals).columns;
        assert_eq!(columns(10 * S, 10_000), 10);
        assert_eq!(columns(10 * S + S / 9, 10_000), 11, "111 arrivals can be expected in it");
        assert_eq!(columns(10 * S + S / 9, 400), 10, "4 arrivals");
        assert_eq!(columns(10 * S + S / 100, 10_000), 10);
        assert_eq!(columns(10 * S + S * 6 / 10, 10), 11, "more than half a column");
        assert_eq!(columns(S / 1_000, 10), 1);
    }

    proptest! {
        #[test]
        fn columns_cover_the_run_without_overlap(
            from in 0u64..100 * S, length in 1u64..10_000 * S, width in 1u64..600, arrivals in 0u64..1_000_000,
        ) {
            let width_ns = length.div_ceil(width);
            let grid = Grid::new(from, width_ns, from, from + length, arrivals);
            let axis = grid.axis();
            prop_assert!(axis.columns >= 1 && axis.columns <= TimeAxis::MAX_COLUMNS);
            prop_assert_eq!(grid.column_of(Timestamp(from + length)), axis.columns - 1);
            prop_assert_eq!(grid.column_of(Timestamp(0)), 0);
            for i in 0..axis.columns {
                prop_assert_eq!(grid.column_of(grid.begin(i)), i);
                prop_assert!(axis.length_s(i) > 0.0);
                prop_assert!(axis.length_s(i) < axis.column_s * 1.500001);
            }
            let whole: f64 = (0..axis.columns).map(|i| axis.length_s(i)).sum();
            prop_assert!((whole - length as f64 / S as f64).abs() < 1e-6 * whole.max(1.0));
        }
    }
}
