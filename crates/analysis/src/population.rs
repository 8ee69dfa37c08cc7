//! All arrivals of one distribution: those with a value, those whose value is only known from below, and those that
//! will never have one.
//!
//! # What a quantile is when answers are missing
//!
//! With A answers, C censored arrivals and F failed ones, the quantile q is the arrival of rank r = ceil(q·n) among
//! n = A + C + F. A failed arrival is slower than everything: its answer never comes. A censored one is *at least* as
//! slow as what was waited for it. So two things are certain about the value at rank r:
//!
//! - it is never below the r-th smallest of answers and waited times together ([`Population::provable`]), because the
//!   true times are, one by one, not below these;
//! - it is never above the r-th smallest answer, where r ≤ A, because the missing ones can only come in before it or
//!   after it.
//!
//! Where both agree (to the 0.1 % of a histogram bucket), the quantile is known and printed as a number; that is so
//! whenever what was waited for the unanswered is not shorter than the answers in question, as with timeouts. Else it is
//! printed as "≥", with the first of the two, and among the failed as "no answer". The first of the two is monotone in r
//! and it is what is printed in either case, so the printed column never falls.

use truetail_model::record::{Histogram, Metric, RequestRecord, Second, rank_of};

use crate::interval::{self, Batch};
use crate::values::{Known, Values};

/// Two values that differ by less than this share are the same bucket of a histogram, or its neighbour.
const RESOLUTION: f64 = 1.0 / 1024.0;

/// The arrivals of one distribution.
pub(crate) struct Population<'a> {
    answered: Values,
    censored: Values,
    failed: Values,
    /// Answers and waited times of the censored; `None` when nothing is censored, so that it would be `answered`.
    provable: Option<Values>,
    order: Order<'a>,
}

/// The values in the order of their intended start.
enum Order<'a> {
    /// Each; [`u64::MAX`] for the unanswered.
    Each(Vec<u64>),
    /// Only second by second.
    Seconds { rows: &'a [Second], answered: Metric, unanswered: &'static [Metric] },
    /// Not known.
    Unknown,
}

/// A quantile of a population.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Estimate {
    pub(crate) value: u64,
    pub(crate) at_least: bool,
    pub(crate) no_answer: bool,
}

impl<'a> Population<'a> {
    fn new(answered: Values, censored: Values, failed: Values, order: Order<'a>) -> Population<'a> {
        let provable = (censored.count() > 0).then(|| answered.with(&censored));
        Population { answered, censored, failed, provable, order }
    }

    /// Response times of `records`, which are all arrivals in the order of their intended start.
    pub(crate) fn of_arrivals(records: &[RequestRecord]) -> Population<'static> {
        let of = |keep: fn(&RequestRecord) -> bool| {
            Values::each(records.iter().filter(|r| keep(r)).map(|r| r.response_time().0).collect())
        };
        let in_order = |r: &RequestRecord| if r.outcome.is_response() { r.response_time().0 } else { u64::MAX };
        Population::new(
            of(|r| r.outcome.is_response()),
            of(|r| r.outcome.is_censored()),
            of(|r| r.outcome.is_failed()),
            Order::Each(records.iter().map(in_order).collect()),
        )
    }

    /// A value that each arrival of the population has, in the order of the intended starts.
    pub(crate) fn of_known(values: Vec<u64>) -> Population<'static> {
        let none = || Values::Each(Vec::new());
        Population::new(Values::each(values.clone()), none(), none(), Order::Each(values))
    }

    /// Response times by bucket, of the whole run and second by second.
    pub(crate) fn of_arrival_histograms(
        answered: &Histogram,
        censored: &Histogram,
        failed: &Histogram,
        rows: &'a [Second],
    ) -> Population<'a> {
        let unanswered = &[Metric::Censored, Metric::Failed];
        let order = Order::Seconds { rows, answered: Metric::ResponseTime, unanswered };
        let buckets = |histogram: &Histogram| Values::Buckets(histogram.clone());
        Population::new(buckets(answered), buckets(censored), buckets(failed), order)
    }

    /// A value that each arrival of the population has, by bucket; `rows` hold `metric` second by second.
    pub(crate) fn of_known_histogram(values: Histogram, rows: Option<(&'a [Second], Metric)>) -> Population<'a> {
        let order = rows.map_or(Order::Unknown, |(rows, answered)| Order::Seconds { rows, answered, unanswered: &[] });
        let none = || Values::Buckets(Histogram::new());
        Population::new(Values::Buckets(values), none(), none(), order)
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

    pub(crate) fn answered(&self) -> &Values {
        &self.answered
    }

    fn provable(&self) -> &Values {
        self.provable.as_ref().unwrap_or(&self.answered)
    }

    /// The value at `rank`, from 1 to the count. See the head of this file.
    pub(crate) fn at(&self, rank: u64) -> Estimate {
        let provable = self.provable();
        if rank > provable.count() {
            return self.among_failed(rank);
        }
        let bound = provable.at(rank);
        let at_most = (rank <= self.answered.count()).then(|| self.answered.at(rank).high);
        match at_most.filter(|at_most| agree(bound.high, *at_most)) {
            Some(at_most) => Estimate { value: bound.high.min(at_most), at_least: false, no_answer: false },
            None => Estimate { value: bound.low, at_least: true, no_answer: false },
        }
    }

    /// A failed arrival is slower than all that was waited for, and than what it waited itself.
    fn among_failed(&self, rank: u64) -> Estimate {
        let provable = self.provable();
        let waited = self.failed.at(rank - provable.count()).low;
        let value = provable.max().map_or(waited, |slowest| slowest.max(waited));
        Estimate { value, at_least: true, no_answer: true }
    }

    /// The 95 % confidence interval of quantile q in (0, 1): each end `None` where it cannot be told.
    pub(crate) fn interval(&self, q: f64) -> (Option<u64>, Option<u64>) {
        let n = self.count();
        let rank = rank_of(q, n);
        let Some((low, high)) = interval::ranks(q, n, rank, |rank| self.effective_size(rank)) else {
            return (None, None);
        };
        let low = low.filter(|rank| *rank <= self.provable().count()).map(|rank| self.provable().at(rank).low);
        let high = high.filter(|rank| *rank <= self.answered.count()).map(|rank| self.answered.at(rank).high);
        (low, high)
    }

    /// The effective sample size for the share beyond the value at `rank`. Where values are equal, "beyond" may or may
    /// not include them: the reading that knows less counts.
    fn effective_size(&self, rank: u64) -> Option<f64> {
        let within = rank <= self.answered.count();
        let value = if within { self.answered.at(rank) } else { Known { low: u64::MAX, high: u64::MAX } };
        let beyond = self.batches(value.high.saturating_add(1))?;
        let from = self.batches(value.low)?;
        let effect = interval::design_effect(&beyond)?.max(interval::design_effect(&from)?);
        Some(interval::effective_size(self.count(), effect, beyond.len()))
    }

    /// Contiguous batches, with the arrivals whose value is at least `from`; the unanswered are beyond everything.
    fn batches(&self, from: u64) -> Option<Vec<Batch>> {
        match &self.order {
            Order::Each(values) => {
                let k = interval::batches_for(values.len())?;
                let cut = |i: usize| values.len() * i / k;
                Some((0..k).map(|i| batch(&values[cut(i)..cut(i + 1)], from)).collect())
            }
            Order::Seconds { rows, answered, unanswered } => {
                let rows = rows.iter().map(|row| second(row, *answered, unanswered, from));
                let rows: Vec<Batch> = rows.filter(|row| row.count > 0).collect();
                let k = rows.len().clamp(1, interval::MOST_BATCHES);
                let cut = |i: usize| rows.len() * i / k;
                let covered: u64 = rows.iter().map(|row| row.count).sum();
                (covered == self.count()).then(|| (0..k).map(|i| sum(&rows[cut(i)..cut(i + 1)])).collect())
            }
            Order::Unknown => None,
        }
    }
}

/// Is a value between `bound` and `at_most` known well enough to be printed as a number?
fn agree(bound: u64, at_most: u64) -> bool {
    at_most as f64 <= bound as f64 * (1.0 + RESOLUTION)
}

fn batch(values: &[u64], from: u64) -> Batch {
    Batch { count: values.len() as u64, beyond: values.iter().filter(|value| **value >= from).count() as u64 }
}

fn second(row: &Second, answered: Metric, unanswered: &[Metric], from: u64) -> Batch {
    let missing: u64 = unanswered.iter().map(|metric| row.metric(*metric).count()).sum();
    let slow = row.metric(answered).buckets().filter(|(low, _)| low.0 >= from).map(|(_, count)| u64::from(count));
    Batch { count: row.metric(answered).count() + missing, beyond: slow.sum::<u64>() + missing }
}

fn sum(batches: &[Batch]) -> Batch {
    Batch {
        count: batches.iter().map(|batch| batch.count).sum(),
        beyond: batches.iter().map(|batch| batch.beyond).sum(),
    }
}

#[cfg(test)]
mod tests;
