//! Increase of a histogram or summary from page to page, as PromQL's `increase` counts it.

use crate::times::Times;

/// Increase since the first page, in the units of the service.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Increase {
    last: Times,
    /// Upper bound and cumulative increase of each bucket.
    pub buckets: Vec<(f64, f64)>,
    pub count: f64,
    pub sum: Option<f64>,
    /// Count before the first page.
    pub earlier: f64,
    pub restarts: u64,
}

impl Increase {
    /// Begins at the counts of this page.
    pub(crate) fn from(first: &Times) -> Increase {
        let buckets = first.buckets.iter().map(|(bound, _)| (*bound, 0.0)).collect();
        let sum = first.sum.map(|_| 0.0);
        Increase { last: first.clone(), buckets, count: 0.0, sum, earlier: first.count, restarts: 0 }
    }

    /// Begins before a series existed: all that it counts was counted since.
    pub(crate) fn from_nothing(first: &Times) -> Increase {
        let nothing = Times {
            buckets: first.buckets.iter().map(|(bound, _)| (*bound, 0.0)).collect(),
            sum: first.sum.map(|_| 0.0),
            ..Times::default()
        };
        let mut increase = Increase::from(&nothing);
        increase.add(first);
        increase
    }

    /// Adds a later page. If a count fell, the service began again from 0, and what it counted between the page before
    /// and its end is lost.
    pub(crate) fn add(&mut self, next: &Times) {
        let bounds = |times: &Times| times.buckets.iter().map(|(bound, _)| *bound).collect::<Vec<_>>();
        let has_other_bounds = bounds(next) != bounds(&self.last);
        let began_again = next.count < self.last.count || has_other_bounds;
        if has_other_bounds {
            self.buckets = next.buckets.iter().map(|(bound, _)| (*bound, 0.0)).collect();
            (self.count, self.sum) = (0.0, next.sum.map(|_| 0.0));
        }
        self.restarts += u64::from(began_again);
        let nothing = Times::default();
        let before = if began_again { &nothing } else { &self.last };
        for (place, (_, increase)) in self.buckets.iter_mut().enumerate() {
            let was = before.buckets.get(place).map_or(0.0, |(_, count)| *count);
            *increase += (next.buckets[place].1 - was).max(0.0);
        }
        self.count += (next.count - before.count).max(0.0);
        let grown = next.sum.map(|sum| sum - before.sum.unwrap_or(0.0));
        self.sum = self.sum.zip(grown).map(|(sum, grown)| sum + grown);
        self.last = next.clone();
    }

    /// Returns the percentiles of the last page that the service computed.
    pub(crate) fn stated(&self) -> &[(f64, f64)] {
        &self.last.stated
    }

    /// Returns the same, beginning at the last page.
    pub(crate) fn begun_again(&self) -> Increase {
        Increase::from(&self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(small: f64, all: f64, sum: f64) -> Times {
        Times { buckets: vec![(0.1, small), (f64::INFINITY, all)], count: all, sum: Some(sum), ..Times::default() }
    }

    #[test]
    fn the_increase_is_the_difference_of_two_pages() {
        let mut increase = Increase::from(&page(10.0, 20.0, 5.0));
        increase.add(&page(12.0, 25.0, 6.0));
        increase.add(&page(15.0, 30.0, 9.0));
        assert_eq!(increase.buckets, [(0.1, 5.0), (f64::INFINITY, 10.0)]);
        assert_eq!((increase.count, increase.sum, increase.earlier, increase.restarts), (10.0, Some(4.0), 20.0, 0));
    }

    #[test]
    fn a_count_that_falls_is_a_restart() {
        let mut increase = Increase::from(&page(10.0, 20.0, 5.0));
        increase.add(&page(12.0, 24.0, 6.0));
        increase.add(&page(1.0, 3.0, 0.5));
        increase.add(&page(2.0, 5.0, 0.75));
        assert_eq!((increase.buckets[0].1, increase.count), (4.0, 9.0));
        assert_eq!((increase.sum, increase.restarts), (Some(1.75), 1));
        assert_eq!(Increase::from_nothing(&page(1.0, 3.0, 0.5)).count, 3.0);
        assert_eq!(increase.begun_again().count, 0.0);
    }

    #[test]
    fn other_buckets_begin_from_nothing() {
        let mut increase = Increase::from(&page(10.0, 20.0, 5.0));
        let other = Times { buckets: vec![(f64::INFINITY, 7.0)], count: 7.0, sum: None, ..Times::default() };
        increase.add(&other);
        assert_eq!((increase.buckets, increase.count, increase.sum), (vec![(f64::INFINITY, 7.0)], 7.0, None));
    }
}
