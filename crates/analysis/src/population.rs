//! All arrivals of one distribution: with a value, with a lower bound of a value, or without any.
//!
//! # Quantiles when answers are missing
//!
//! With A answers, C censored arrivals and F failed ones, the quantile q is the arrival of rank r = ceil(q·n) among all
//! n. A failed arrival is slower than everything: its answer never comes. A censored arrival is *at least* as slow as
//! the time waited for it. So two things are certain about the value at rank r:
//!
//! - It is never below the r-th smallest of answers and waited times together ([`Population::lower_bounds`]), because
//!   no arrival takes less than its time in this list.
//! - It is never above the r-th smallest answer, if r ≤ A, because missing answers can only come before or after it.
//!
//! If both agree (to the 0.1 % of a histogram bucket), the quantile is known and printed as a number. They always agree
//! if the unanswered were waited for longer than the answers around rank r took, as with timeouts. Otherwise the lower
//! bound is printed, as "≥"; a quantile among the failed is printed as "no answer". The lower bound is monotone in r
//! and printed in either case, so the printed column never falls.

use truetail_model::record::{Distributions, Histogram, Metric, RequestRecord, rank_of};

use crate::confidence_interval::{self, Ranks};
use crate::exceedance::ExceedanceCounts;
use crate::sorted_values::{SortedValues, ValueRange};

/// Two values that differ by less than this share are in the same or in neighbouring buckets of a histogram.
const RESOLUTION: f64 = 1.0 / 1024.0;

pub(crate) struct Population {
    answered: SortedValues,
    censored: SortedValues,
    failed: SortedValues,
    /// Answers and waited times of the censored. `None` if nothing is censored, because `answered` is then the same.
    lower_bounds: Option<SortedValues>,
    /// `None` if the order of the arrivals is not known, or says nothing.
    exceedance: Option<ExceedanceCounts>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct ConfidenceInterval {
    /// Lower end. `None` if the interval is open below, or if nothing is known.
    pub(crate) low: Option<u64>,
    /// Upper end. `None` if the interval is open above, or if nothing is known.
    pub(crate) high: Option<u64>,
    /// Effective sample size; `None` if nothing is known.
    pub(crate) effective_n: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Estimate {
    pub(crate) value: u64,
    pub(crate) at_least: bool,
    pub(crate) no_answer: bool,
}

impl Population {
    fn new(
        answered: SortedValues,
        censored: SortedValues,
        failed: SortedValues,
        exceedance: Option<ExceedanceCounts>,
    ) -> Population {
        let lower_bounds = (censored.count() > 0).then(|| answered.with(&censored));
        Population { answered, censored, failed, lower_bounds, exceedance }
    }

    /// Response times of `records`, which are all arrivals in the order of their intended start.
    pub(crate) fn from_arrivals(records: &[RequestRecord]) -> Population {
        let of = |metric: Metric| records.iter().filter_map(metric.reader()).map(|time| time.0).collect::<Vec<u64>>();
        let in_order = |r: &RequestRecord| if r.outcome.is_response() { r.response_time().0 } else { u64::MAX };
        let exceedance = ExceedanceCounts::from_values(&records.iter().map(in_order).collect::<Vec<_>>());
        let answered = by_size(exceedance.as_ref(), of(Metric::ResponseTime));
        let censored = of(Metric::Censored);
        let failed = of(Metric::Failed);
        Population::new(answered, SortedValues::each(censored), SortedValues::each(failed), exceedance)
    }

    /// Response times of `records` in any order, without intervals.
    pub(crate) fn unordered(records: &[RequestRecord]) -> Population {
        let of = |metric: Metric| SortedValues::each(records.iter().filter_map(metric.reader()).map(|t| t.0).collect());
        Population::new(of(Metric::ResponseTime), of(Metric::Censored), of(Metric::Failed), None)
    }

    /// Response times of `records` less what the generator added, without intervals.
    pub(crate) fn without_generator(records: &[RequestRecord]) -> Population {
        let of = |metric: Metric| SortedValues::each(records.iter().filter_map(metric.reader()).map(|t| t.0).collect());
        Population::new(of(Metric::WithoutGenerator), of(Metric::Censored), of(Metric::Failed), None)
    }

    /// Values in the order of the intended starts, one for each arrival of the population.
    pub(crate) fn from_values(values: Vec<u64>) -> Population {
        let none = || SortedValues::Each(Vec::new());
        let exceedance = ExceedanceCounts::from_values(&values);
        Population::new(by_size(exceedance.as_ref(), values), none(), none(), exceedance)
    }

    /// Response times by bucket, of the whole run and by interval.
    pub(crate) fn from_arrival_histograms(
        answered: &Histogram,
        censored: &Histogram,
        failed: &Histogram,
        rows: &[Distributions],
    ) -> Population {
        let metrics = [Metric::ResponseTime, Metric::Censored, Metric::Failed];
        let exceedance =
            ExceedanceCounts::from_intervals(rows, &metrics, answered.count() + censored.count() + failed.count());
        let buckets = |histogram: &Histogram| SortedValues::buckets(histogram.clone());
        Population::new(buckets(answered), buckets(censored), buckets(failed), exceedance)
    }

    /// Values by bucket, of arrivals in unknown order.
    pub(crate) fn without_order(answered: Histogram, censored: Histogram, failed: Histogram) -> Population {
        let [answered, censored, failed] = [answered, censored, failed].map(SortedValues::buckets);
        Population::new(answered, censored, failed, None)
    }

    /// Returns the same population with intervals. `rows` hold its values by interval, as
    /// [`ExceedanceCounts::from_buckets`] takes them.
    pub(crate) fn in_order(self, rows: &[Vec<(u64, u64)>]) -> Population {
        let exceedance = ExceedanceCounts::from_buckets(rows, self.count());
        Population { exceedance, ..self }
    }

    /// Values by bucket, one for each arrival of the population. `rows` hold `metric` by interval.
    pub(crate) fn from_histogram(values: Histogram, rows: Option<(&[Distributions], Metric)>) -> Population {
        let exceedance =
            rows.and_then(|(rows, metric)| ExceedanceCounts::from_intervals(rows, &[metric], values.count()));
        let none = || SortedValues::buckets(Histogram::new());
        Population::new(SortedValues::buckets(values), none(), none(), exceedance)
    }

    pub(crate) fn count(&self) -> u64 {
        self.answered.count() + self.censored.count() + self.failed.count()
    }

    pub(crate) fn censored(&self) -> u64 {
        self.censored.count()
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failed.count()
    }

    pub(crate) fn answered(&self) -> &SortedValues {
        &self.answered
    }

    fn lower_bounds(&self) -> &SortedValues {
        self.lower_bounds.as_ref().unwrap_or(&self.answered)
    }

    /// Returns the value at `rank`, from 1 to the count. See the module documentation.
    pub(crate) fn at(&self, rank: u64) -> Estimate {
        let lower_bounds = self.lower_bounds();
        if rank > lower_bounds.count() {
            return self.among_failed(rank);
        }
        let bound = lower_bounds.at(rank);
        let at_most = (rank <= self.answered.count()).then(|| self.answered.at(rank).high);
        match at_most.filter(|at_most| agree(bound.high, *at_most)) {
            Some(at_most) => Estimate { value: bound.high.min(at_most), at_least: false, no_answer: false },
            None => Estimate { value: bound.low, at_least: true, no_answer: false },
        }
    }

    /// Returns the lower bound of the value at `rank`.
    pub(crate) fn bound_at(&self, rank: u64) -> u64 {
        let lower_bounds = self.lower_bounds();
        if rank > lower_bounds.count() { self.among_failed(rank).value } else { lower_bounds.at(rank).low }
    }

    /// Returns the estimate of a failed arrival. It counts as at least as slow as every answer and every waited time.
    fn among_failed(&self, rank: u64) -> Estimate {
        let lower_bounds = self.lower_bounds();
        let waited = self.failed.at(rank - lower_bounds.count()).low;
        let value = lower_bounds.max().map_or(waited, |slowest| slowest.max(waited));
        Estimate { value, at_least: true, no_answer: true }
    }

    /// Returns the 95 % confidence interval of quantile q in (0, 1).
    pub(crate) fn interval(&self, q: f64) -> ConfidenceInterval {
        let Some(exceedance) = &self.exceedance else { return ConfidenceInterval::default() };
        let n = self.count();
        let rank = rank_of(q, self.count());
        let effective = |design_effect_bound: f64| n as f64 / design_effect_bound;
        let less_rare = self.design_effect_bound(exceedance, rank_of(confidence_interval::less_rare(q), n));
        let most = effective(self.design_effect_bound(exceedance, rank).most).min(effective(less_rare.least));
        let Ranks { low, high } = confidence_interval::ranks(q, n, rank, |r| {
            effective(self.design_effect_bound(exceedance, r).most).min(most)
        });
        ConfidenceInterval {
            low: low.filter(|rank| *rank <= self.lower_bounds().count()).map(|rank| self.lower_bounds().at(rank).low),
            high: high.filter(|rank| *rank <= self.answered.count()).map(|rank| self.answered.at(rank).high),
            effective_n: Some(most as u64),
        }
    }

    /// Returns the design effect of the share beyond the value at `rank`, with and without values equal to it.
    fn design_effect_bound(&self, exceedance: &ExceedanceCounts, rank: u64) -> DesignEffectBounds {
        let within = rank <= self.answered.count();
        let value = if within { self.answered.at(rank) } else { ValueRange { low: u64::MAX, high: u64::MAX } };
        let reading = |from: u64| exceedance.design_effect(from).map_or(1.0, confidence_interval::design_effect_bound);
        let with = reading(value.low);
        let without = reading(value.high.saturating_add(1));
        DesignEffectBounds { least: with.min(without), most: with.max(without) }
    }
}

/// Sorts `values`. If `exceedance` has sorted them already, they are its smallest values.
fn by_size(exceedance: Option<&ExceedanceCounts>, values: Vec<u64>) -> SortedValues {
    match exceedance.and_then(|exceedance| exceedance.smallest(values.len())) {
        Some(sorted) => SortedValues::Each(sorted),
        None => SortedValues::each(values),
    }
}

struct DesignEffectBounds {
    least: f64,
    most: f64,
}

/// Returns true if a value between `bound` and `at_most` is known well enough to be printed as a number.
fn agree(bound: u64, at_most: u64) -> bool {
    at_most as f64 <= bound as f64 * (1.0 + RESOLUTION)
}

#[cfg(test)]
mod tests;
