//! The bracket of a quantile of the response time: the measured value, and the value without what the generator added.
//!
//! Each record holds the most that the generator may have added: its own lag, and what earlier late requests passed on
//! ([`truetail_model::record::KnockOn`]). Subtracting this amount from each response time gives the response times
//! without the generator. The lower partner of the quantile q is their quantile q, over the same arrivals and by the
//! same rules. `docs/honesty.md` says what this proves.

use truetail_model::record::{Histogram, Metric, RequestRecord, Snapshot, rank_of};
use truetail_run::Quantile;

use crate::population::Population;
use crate::verdict::thresholds::UNRESOLVED_SHARE;

/// Response times without what the generator added.
pub(crate) enum WithoutGenerator {
    /// The generator added nothing to any response time.
    Same,
    /// Response times less what the generator added, over all planned arrivals, and the smallest service time.
    Less { population: Box<Population>, fastest: u64 },
    /// Early versions did not record what the generator added.
    Unknown,
}

impl WithoutGenerator {
    /// The response times of a run without what the generator added. `every` holds all arrivals, if kept.
    pub(crate) fn new(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> WithoutGenerator {
        match every {
            Some(records) => WithoutGenerator::from_records(records),
            None => WithoutGenerator::from_snapshot(snapshot),
        }
    }

    /// The response times of these requests without what the generator added.
    pub(crate) fn from_records(records: &[RequestRecord]) -> WithoutGenerator {
        let added = |record: &RequestRecord| !record.delay.generator_lag.is_zero() || !record.knock_on.is_zero();
        if !records.iter().any(|record| record.outcome.is_response() && added(record)) {
            return WithoutGenerator::Same;
        }
        let answers = || records.iter().filter(|record| record.outcome.is_response());
        let fastest = answers().map(|record| record.service_time().0).min().unwrap_or(0);
        WithoutGenerator::Less { population: Box::new(Population::without_generator(records)), fastest }
    }

    fn from_snapshot(snapshot: &Snapshot) -> WithoutGenerator {
        WithoutGenerator::from_distributions(|metric| snapshot.metric(metric).clone())
    }

    /// The response times of a run, or a part of it, without what the generator added. `of` returns its distributions.
    pub(crate) fn from_distributions(of: impl Fn(Metric) -> Histogram) -> WithoutGenerator {
        let without = of(Metric::WithoutGenerator);
        if without.count() != of(Metric::ResponseTime).count() {
            return WithoutGenerator::Unknown;
        }
        WithoutGenerator::Less {
            population: Box::new(Population::from_arrival_histograms(
                &without,
                &of(Metric::Censored),
                &of(Metric::Failed),
                &[],
            )),
            fastest: of(Metric::ServiceTime).min().map_or(0, |fastest| fastest.0),
        }
    }

    /// Sets the lower partner of a quantile of the response time. Marks the quantile as unresolved if the two differ by
    /// more than [`UNRESOLVED_SHARE`] of it. Leaves a quantile unchanged if no answer ever came.
    pub(crate) fn set_lower_partner(&self, quantile: &mut Quantile) {
        let Some(value) = quantile.value_ns.filter(|_| !quantile.no_answer) else { return };
        let without = match self {
            WithoutGenerator::Same => value,
            WithoutGenerator::Less { population, fastest } => {
                let bound = population.bound_at(rank_of(quantile.q, population.count()));
                bound.max(*fastest).min(value)
            }
            WithoutGenerator::Unknown => return,
        };
        quantile.without_generator_ns = Some(without);
        quantile.unresolved = (value - without) as f64 > value as f64 * UNRESOLVED_SHARE;
    }
}
