//! The time axis: a mapping from columns of the terminal to times of the run.

use truetail_analysis::series::TimeAxis;

/// A part of the run, divided into columns of the terminal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Span {
    /// Start in seconds since the origin.
    pub from_s: f64,
    /// End in seconds since the origin, after the start.
    pub to_s: f64,
    /// Number of columns of the terminal.
    pub columns: usize,
}

/// Minimum length of the axis, in seconds.
const SHORTEST_S: f64 = 10.0;
/// A run that ends late by at most this share of its planned length keeps its axis. Its last answers are then not
/// drawn.
const MAX_OVERRUN: f64 = 0.1;

impl Span {
    /// Returns the time from the end of the warm-up to now. The axis ends after ten seconds, twenty, forty and so on,
    /// or at the end of the run. Columns therefore rarely change, and little of the terminal is redrawn.
    pub(crate) fn for_run(from_s: f64, now_s: f64, end_s: Option<f64>, columns: usize) -> Span {
        let mut length = SHORTEST_S;
        while from_s + length < now_s {
            length *= 2.0;
        }
        let end = end_s.filter(|end| *end > from_s && now_s <= end + (end - from_s) * MAX_OVERRUN);
        let to_s = end.map_or(from_s + length, |end| end.min(from_s + length));
        Span { from_s, to_s, columns: columns.max(1) }
    }

    fn column_s(self) -> f64 {
        (self.to_s - self.from_s) / self.columns as f64
    }

    pub(crate) fn times(self, column: usize) -> (f64, f64) {
        let at = |column: usize| self.from_s + self.column_s() * column as f64;
        (at(column), at(column + 1))
    }

    /// Returns the columns of `axis` that a column of the terminal shows. If those are narrower, it shows each one with
    /// its middle inside, so that no arrival is drawn twice. If they are wider, it shows the one that holds its middle.
    pub(crate) fn sources(self, column: usize, axis: &TimeAxis) -> std::ops::Range<usize> {
        if axis.columns == 0 || axis.column_s <= 0.0 {
            return 0..0;
        }
        let (from, to) = self.times(column);
        let middle_from = |time: f64| ((time - axis.from_s) / axis.column_s - 0.5).ceil().max(0.0) as usize;
        let first = middle_from(from);
        let end = middle_from(to);
        if first < end {
            return first.min(axis.columns)..end.min(axis.columns);
        }
        let place = (((from + to) / 2.0 - axis.from_s) / axis.column_s).floor();
        let inside = place >= 0.0 && (place as usize) < axis.columns;
        if inside { place as usize..place as usize + 1 } else { 0..0 }
    }

    /// Returns the largest of the values that a column of the terminal shows.
    pub(crate) fn largest(self, column: usize, axis: &TimeAxis, values: &[Option<u64>]) -> Option<u64> {
        let range = self.sources(column, axis);
        values.get(range.start..range.end.min(values.len()))?.iter().flatten().copied().max()
    }

    /// Returns the column of a time, if it is inside.
    pub(crate) fn column_of(self, time_s: f64) -> Option<usize> {
        let place = ((time_s - self.from_s) / self.column_s()).floor();
        (place >= 0.0 && place < self.columns as f64).then_some(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_axis_grows_in_steps_and_ends_with_the_run() {
        let ends = |now| Span::for_run(0.0, now, Some(60.0), 80).to_s;
        assert_eq!([0.0, 10.0, 10.1, 25.0, 41.0, 61.0, 67.0].map(ends), [10.0, 10.0, 20.0, 40.0, 60.0, 60.0, 80.0]);
        assert_eq!(Span::for_run(5.0, 30.0, None, 80), Span { from_s: 5.0, to_s: 45.0, columns: 80 });
        assert_eq!(Span::for_run(0.0, 1.0, Some(3.0), 80).to_s, 3.0);
    }

    #[test]
    fn a_wide_column_is_stretched() {
        let axis = TimeAxis { column_s: 1.0, columns: 4, ..TimeAxis::default() };
        let span = Span { from_s: 0.0, to_s: 8.0, columns: 16 };
        let sources: Vec<_> = (0..16).map(|column| span.sources(column, &axis)).collect();
        assert!((0..8).all(|column| sources[column] == (column / 2..column / 2 + 1)), "{sources:?}");
        assert!(sources[8..].iter().all(|range| range.is_empty()), "{sources:?}");
        assert_eq!(span.column_of(3.99), Some(7));
        assert_eq!((span.column_of(-0.1), span.column_of(8.0)), (None, None));
    }

    proptest! {
        #[test]
        fn narrow_columns_are_shown_once_each(
            columns in 1usize..601,
            width in 1usize..250,
            from_s in 0.0..20.0f64,
            column_s in 0.01..100.0f64,
        ) {
            let axis = TimeAxis { from_s, column_s, columns, ..TimeAxis::default() };
            let length = column_s * columns as f64;
            let span = Span { from_s, to_s: from_s + length, columns: width };
            let sources: Vec<usize> = (0..width).flat_map(|column| span.sources(column, &axis)).collect();
            if columns >= width {
                prop_assert_eq!(sources, (0..columns).collect::<Vec<_>>());
            } else {
                prop_assert!(sources.is_sorted());
                prop_assert!(sources.iter().all(|source| *source < columns));
                prop_assert_eq!(sources.len(), width);
            }
        }
    }
}
