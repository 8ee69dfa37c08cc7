//! The response time of each of several targets, without intervals, because the order of their arrivals is not kept.

use truetail_model::record::{Histogram, Metric};
use truetail_run::{Distribution, Quantile, Run, TargetFindings};

use crate::bracket::WithoutGenerator;
use crate::distribution::{distribution, quantile_of};
use crate::population::Population;

/// Returns the findings of each target, in the order of the targets. Empty if the run does not keep their times.
pub(crate) fn targets(run: &Run) -> Vec<TargetFindings> {
    let books = &run.facts.by_target;
    if run.snapshot.targets.len() != books.len() {
        return Vec::new();
    }
    let names = run.facts.offered.target_names();
    let of = |(number, name): (usize, String)| TargetFindings {
        name,
        tally: books[number].tally,
        response_time: response_time(run, number),
    };
    names.into_iter().take(books.len()).enumerate().map(of).collect()
}

fn response_time(run: &Run, number: usize) -> Distribution {
    let mut response_time = distribution(&population(run, number, Metric::ResponseTime));
    let without = without_generator(run, number);
    response_time.quantiles.iter_mut().for_each(|quantile| without.set_lower_partner(quantile));
    response_time
}

fn without_generator(run: &Run, number: usize) -> WithoutGenerator {
    WithoutGenerator::from_distributions(|metric| histogram(run, number, metric))
}

/// Returns quantile `q` in [0, 1] of `metric` over the arrivals of target `number`. The quantile of
/// [`Metric::ResponseTime`] is over all planned arrivals.
pub(crate) fn quantile(run: &Run, number: usize, metric: Metric, q: f64) -> Quantile {
    let mut quantile = quantile_of(&population(run, number, metric), q);
    if metric == Metric::ResponseTime {
        without_generator(run, number).set_lower_partner(&mut quantile);
    }
    quantile
}

/// Counts the arrivals of a target that have the metric; for [`Metric::ResponseTime`], all planned arrivals.
pub(crate) fn count(run: &Run, number: usize, metric: Metric) -> u64 {
    match metric {
        Metric::ResponseTime => run.facts.by_target.get(number).map_or(0, |books| books.tally.planned),
        metric => count_and_sum(run, number, metric).0,
    }
}

/// Returns the number of values of `metric` of a target, and their sum in nanoseconds.
pub(crate) fn count_and_sum(run: &Run, number: usize, metric: Metric) -> (u64, u128) {
    let times = run.snapshot.targets.get(number).and_then(|times| times.metric(metric));
    times.map_or((0, 0), |times| (times.count(), times.sum_ns()))
}

fn population(run: &Run, number: usize, metric: Metric) -> Population {
    let of = |metric| histogram(run, number, metric);
    match metric {
        Metric::ResponseTime => {
            Population::from_arrival_histograms(&of(metric), &of(Metric::Censored), &of(Metric::Failed), &[])
        }
        metric => Population::from_histogram(of(metric), None),
    }
}

fn histogram(run: &Run, number: usize, metric: Metric) -> Histogram {
    let times = run.snapshot.targets.get(number).and_then(|times| times.metric(metric));
    times.map_or_else(Histogram::new, |times| times.to_histogram())
}
