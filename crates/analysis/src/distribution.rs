//! A population as the figures that a report shows.

use truetail_model::record::rank_of;
use truetail_run::{Distribution, Quantile};

use crate::population::{ConfidenceInterval, Population};
use crate::support::{QUANTILES, min_sample_size};

pub(crate) fn distribution(population: &Population) -> Distribution {
    let answered = population.answered();
    Distribution {
        count: population.count(),
        censored: population.censored(),
        failed: population.failed(),
        mean_ns: answered.mean(),
        min_ns: answered.min(),
        max_ns: answered.max(),
        quantiles: table(population, &QUANTILES),
        exact: answered.is_exact(),
    }
}

/// Computes one quantile of a population. If the table contains it, the result is the same as in the table.
pub(crate) fn quantile_of(population: &Population, q: f64) -> Quantile {
    let mut all = QUANTILES.to_vec();
    let place = QUANTILES.partition_point(|other| *other < q);
    if QUANTILES.get(place) != Some(&q) {
        all.insert(place, q);
    }
    table(population, &all).swap_remove(place)
}

/// Computes one quantile as [`quantile_of`] does, for a population whose `table` is known.
pub(crate) fn quantile_beside_table(population: &Population, q: f64, table: &[Quantile]) -> Quantile {
    let place = table.partition_point(|other| other.q < q);
    if let Some(known) = table.get(place).filter(|known| known.q == q) {
        return *known;
    }
    let mut all = table.to_vec();
    all.insert(place, independent_quantile(population, q));
    uncross(&mut all);
    all[place]
}

/// Returns one quantile of a population without an interval.
pub(crate) fn estimate_of(population: &Population, q: f64) -> Quantile {
    let n = population.count();
    let needs_n = min_sample_size(q);
    if n < needs_n {
        return unsupported(q, needs_n);
    }
    let estimate = population.at(rank_of(q, n));
    Quantile {
        value_ns: Some(estimate.value),
        at_least: estimate.at_least,
        no_answer: estimate.no_answer,
        supported: true,
        needs_n: None,
        ..unsupported(q, needs_n)
    }
}

fn table(population: &Population, quantiles: &[f64]) -> Vec<Quantile> {
    let mut quantiles: Vec<Quantile> = quantiles.iter().map(|q| independent_quantile(population, *q)).collect();
    uncross(&mut quantiles);
    quantiles
}

/// Widens intervals, and narrows none, until neither end of an interval lies beyond the same end of a higher
/// quantile's. Each interval is computed separately and contains its truth as often as it says. The truths are in
/// order, so the ends may be put in order too. An interval that is open above opens all higher ones.
fn uncross(quantiles: &mut [Quantile]) {
    let has_interval = |quantile: &&mut Quantile| quantile.effective_n.is_some();
    let mut highest = Some(0);
    for quantile in quantiles.iter_mut().filter(has_interval) {
        highest = highest.zip(quantile.high_ns).map(|(a, b)| a.max(b));
        quantile.high_ns = highest;
    }
    let mut lowest = u64::MAX;
    for quantile in quantiles.iter_mut().rev().filter(has_interval) {
        quantile.low_ns = quantile.low_ns.map(|low| low.min(lowest));
        lowest = quantile.low_ns.unwrap_or(lowest);
    }
}

fn independent_quantile(population: &Population, q: f64) -> Quantile {
    let estimate = estimate_of(population, q);
    // The smallest and the largest value seen estimate nothing, so they have no interval.
    let has_interval = estimate.supported && q > 0.0 && q < 1.0;
    let interval = if has_interval { population.interval(q) } else { ConfidenceInterval::default() };
    Quantile { low_ns: interval.low, high_ns: interval.high, effective_n: interval.effective_n, ..estimate }
}

fn unsupported(q: f64, needs_n: u64) -> Quantile {
    Quantile {
        q,
        value_ns: None,
        low_ns: None,
        high_ns: None,
        at_least: false,
        no_answer: false,
        supported: false,
        needs_n: Some(needs_n),
        effective_n: None,
        without_generator_ns: None,
        unresolved: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(q: f64, low_ns: Option<u64>, high_ns: Option<u64>) -> Quantile {
        Quantile { low_ns, high_ns, effective_n: Some(1_000), value_ns: Some(5), ..unsupported(q, 1) }
    }

    #[test]
    fn ends_are_put_in_order_by_widening() {
        let mut crossing =
            [interval(0.5, Some(7), Some(9)), interval(0.9, None, Some(43)), interval(0.95, Some(5), Some(14))];
        uncross(&mut crossing);
        assert_eq!(crossing.map(|quantile| quantile.high_ns), [Some(9), Some(43), Some(43)]);
        assert_eq!(crossing.map(|quantile| quantile.low_ns), [Some(5), None, Some(5)]);
        let mut open = [interval(0.9, Some(1), None), interval(0.99, Some(2), Some(3)), unsupported(0.999, 3_688)];
        uncross(&mut open);
        assert_eq!(open.map(|quantile| quantile.high_ns), [None, None, None]);
    }

    proptest! {
        #[test]
        fn no_interval_is_narrowed_and_none_cross(
            ends in proptest::collection::vec((proptest::option::of(0u64..100), proptest::option::of(0u64..100)), 1..8),
        ) {
            let of = |(i, (low, high)): (usize, &(Option<u64>, Option<u64>))| interval(i as f64 / 10.0, *low, *high);
            let before: Vec<Quantile> = ends.iter().enumerate().map(of).collect();
            let mut after = before.clone();
            uncross(&mut after);
            for (before, after) in before.iter().zip(&after) {
                prop_assert!(after.low_ns.unwrap_or(0) <= before.low_ns.unwrap_or(0));
                prop_assert!(after.high_ns.unwrap_or(u64::MAX) >= before.high_ns.unwrap_or(u64::MAX));
            }
            prop_assert!(after.is_sorted_by_key(|quantile| quantile.high_ns.unwrap_or(u64::MAX)));
            let lows: Vec<u64> = after.iter().filter_map(|quantile| quantile.low_ns).collect();
            prop_assert!(lows.is_sorted());
        }
    }
}
