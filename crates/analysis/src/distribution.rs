//! A population in the figures that a report shows.

use truetail_model::record::rank_of;
use truetail_run::{Distribution, Quantile};

use crate::population::{ConfidenceInterval, Population};
use crate::support::{QUANTILES, min_sample_size};

/// The whole tail of a population, with what can be said for each quantile.
pub(crate) fn distribution(population: &Population) -> Distribution {
    let answered = population.answered();
    Distribution {
        count: population.count(),
        censored: population.censored(),
        failed: population.failed(),
        mean_ns: answered.mean(),
        min_ns: answered.min(),
        max_ns: answered.max(),
        quantiles: QUANTILES.iter().map(|q| quantile_of(population, *q)).collect(),
        exact: answered.is_exact(),
    }
}

/// What can be said of one quantile of a population.
pub(crate) fn quantile_of(population: &Population, q: f64) -> Quantile {
    let (n, needs_n) = (population.count(), min_sample_size(q));
    if n < needs_n {
        return refused(q, needs_n);
    }
    let estimate = population.at(rank_of(q, n));
    // The extremes that were seen are no estimates of anything, so nothing surrounds them.
    let interval = if q > 0.0 && q < 1.0 { population.interval(q) } else { ConfidenceInterval::default() };
    Quantile {
        q,
        value_ns: Some(estimate.value),
        low_ns: interval.low,
        high_ns: interval.high,
        at_least: estimate.at_least,
        no_answer: estimate.no_answer,
        supported: true,
        needs_n: None,
        effective_n: interval.effective_n,
        without_generator_ns: None,
        unresolved: false,
    }
}

fn refused(q: f64, needs_n: u64) -> Quantile {
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
