//! How many arrivals were beyond a value, stretch by stretch of the run, for any value and at once.

use truetail_model::record::{Distributions, Metric};

use crate::spectrum::Cosines;

/// At most this many stretches: four for each cosine that is used.
const MOST_BINS: usize = 120;
/// At least this many arrivals in a stretch, where arrivals are cut into them one by one.
const SMALLEST_BIN: usize = 4;
/// The counts by stretch are kept for every so many entries; what lies between is counted when it is asked for.
const STRIDE: usize = 1024;

/// Arrivals of equal value in one stretch.
#[derive(Clone, Copy, Debug)]
struct Entry {
    value: u64,
    bin: u32,
    count: u64,
}

/// The values of a run by size, each with the stretch that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Ascending by value.
    entries: Vec<Entry>,
    /// Arrivals of each stretch.
    sizes: Vec<u64>,
    /// After every [`STRIDE`]-th entry, from none on: how many arrivals of each stretch came before.
    before: Vec<Vec<u64>>,
    cosines: Cosines,
    total: u64,
}

impl Order {
    /// Of every single value, in the order of the intended starts; [`u64::MAX`] for an arrival without an answer. `None`
    /// where there are too few to tell how they depend on each other.
    pub(crate) fn of_values(values: &[u64]) -> Option<Order> {
        let bins = (values.len() / SMALLEST_BIN).min(MOST_BINS);
        let cosines = Cosines::over(bins)?;
        let bin_of = |i: usize| (i * bins / values.len()) as u32;
        let entries = values.iter().enumerate().map(|(i, value)| Entry { value: *value, bin: bin_of(i), count: 1 });
        Some(Order::new(entries.collect(), bins, cosines))
    }

    /// Of `metrics` by interval; those after the first are of arrivals without an answer. `None` where there are too few
    /// intervals, or where they do not hold all `total` arrivals.
    pub(crate) fn of_intervals(rows: &[Distributions], metrics: &[Metric], total: u64) -> Option<Order> {
        let in_row = |row: &Distributions| metrics.iter().map(|metric| row.metric(*metric).count()).sum::<u64>();
        let rows: Vec<&Distributions> = rows.iter().filter(|row| in_row(row) > 0).collect();
        let bins = rows.len().min(MOST_BINS);
        let cosines = Cosines::over(bins)?;
        let entries =
            rows.iter().enumerate().flat_map(|(i, row)| entries_of(row, (i * bins / rows.len()) as u32, metrics));
        let order = Order::new(entries.collect(), bins, cosines);
        (order.total == total).then_some(order)
    }

    fn new(mut entries: Vec<Entry>, bins: usize, cosines: Cosines) -> Order {
        entries.sort_unstable_by_key(|entry| entry.value);
        let mut sizes = vec![0; bins];
        let mut before = Vec::with_capacity(entries.len() / STRIDE + 1);
        for stride in entries.chunks(STRIDE) {
            before.push(sizes.clone());
            count(stride, &mut sizes);
        }
        let total = sizes.iter().sum();
        Order { entries, sizes, before, cosines, total }
    }

    /// By how much more the number of arrivals with a value of at least `from` varies than among independent ones, and
    /// from how many cosines that was estimated. `None` where no arrival is, or all are.
    pub(crate) fn design_effect(&self, from: u64) -> Option<(f64, usize)> {
        let below = self.below(from);
        let share = below.iter().sum::<u64>() as f64 / self.total as f64;
        if share <= 0.0 || share >= 1.0 {
            return None;
        }
        let deviation = |(below, size): (&u64, &u64)| *below as f64 - share * *size as f64;
        let deviations: Vec<f64> = below.iter().zip(&self.sizes).map(deviation).collect();
        let long_run = self.cosines.long_run(&deviations);
        Some((long_run.variance / (self.total as f64 * share * (1.0 - share)), long_run.cosines))
    }

    /// Arrivals of each stretch with a value below `from`.
    fn below(&self, from: u64) -> Vec<u64> {
        let end = self.entries.partition_point(|entry| entry.value < from);
        let Some(last) = self.before.len().checked_sub(1) else { return self.sizes.clone() };
        let stride = (end / STRIDE).min(last);
        let mut below = self.before[stride].clone();
        count(&self.entries[stride * STRIDE..end], &mut below);
        below
    }
}

fn count(entries: &[Entry], sizes: &mut [u64]) {
    for entry in entries {
        sizes[entry.bin as usize] += entry.count;
    }
}

/// The entries of one interval, in the stretch `bin`.
fn entries_of<'a>(row: &'a Distributions, bin: u32, metrics: &'a [Metric]) -> impl Iterator<Item = Entry> + 'a {
    metrics.iter().enumerate().flat_map(move |(i, metric)| {
        let value_of = move |lowest: u64| if i == 0 { lowest } else { u64::MAX };
        row.metric(*metric).buckets().map(move |(low, count)| Entry { value: value_of(low.0), bin, count })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_burst_is_one_event() {
        // 40 of 4 000 arrivals are slow. One in a hundred, evenly: they vary less than independent ones. All at once:
        // as one event of 40.
        let evenly: Vec<u64> = (0..4_000).map(|i| u64::from(i % 100 == 50)).collect();
        let at_once: Vec<u64> = (0..4_000).map(|i| u64::from((1_000..1_040).contains(&i))).collect();
        let effect = |values: &[u64]| Order::of_values(values).unwrap().design_effect(1).unwrap().0;
        assert!(effect(&evenly) < 0.1, "{}", effect(&evenly));
        assert!((25.0..80.0).contains(&effect(&at_once)), "{}", effect(&at_once));
    }

    #[test]
    fn nothing_beyond_and_all_beyond_say_nothing() {
        let order = Order::of_values(&(0..100).collect::<Vec<_>>()).unwrap();
        assert_eq!((order.design_effect(0), order.design_effect(100)), (None, None));
        assert!(order.design_effect(50).is_some());
        assert!(Order::of_values(&[1; 19]).is_none() && Order::of_values(&[1; 20]).is_some());
        assert!(Order::of_intervals(&[], &[Metric::ResponseTime], 0).is_none());
    }

    proptest! {
        #[test]
        fn below_is_counted_one_by_one(values in proptest::collection::vec(0u64..3_000, 20..4_000), from in 0u64..3_001) {
            let order = Order::of_values(&values).unwrap();
            let mut below = vec![0; order.sizes.len()];
            for (i, value) in values.iter().enumerate() {
                below[i * order.sizes.len() / values.len()] += u64::from(*value < from);
            }
            prop_assert_eq!(order.below(from), below);
        }
    }
}
