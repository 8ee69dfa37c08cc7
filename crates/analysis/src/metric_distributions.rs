//! The distributions and quantiles of a run: from every single request if each was kept, else from histograms.

use truetail_model::record::{Histogram, Metric, Outcome, RequestRecord, Snapshot};
use truetail_run::{Distribution, MetricDistributions, Quantile, Run};

use crate::bracket::WithoutGenerator;
use crate::distribution::{distribution, quantile_of};
use crate::population::Population;

/// Returns every measured arrival in the order of its intended start, if each was kept.
pub(crate) fn every_arrival(snapshot: &Snapshot) -> Option<Vec<RequestRecord>> {
    let samples = &snapshot.samples;
    let all = samples.is_complete() && samples.even().len() as u64 == snapshot.tally.planned;
    all.then(|| {
        let mut records = samples.even().to_vec();
        records.sort_unstable_by_key(|record| (record.intended_start, record.index));
        records
    })
}

/// Returns quantile `q` in [0, 1] of `metric`, computed like the tables of [`findings`](crate::findings()). The
/// quantile of [`Metric::ResponseTime`] is over all planned arrivals, with and without an answer.
pub fn quantile(run: &Run, metric: Metric, q: f64) -> Quantile {
    let every = every_arrival(&run.snapshot);
    let mut quantile = quantile_of(&population(&run.snapshot, every.as_deref(), metric), q);
    if metric == Metric::ResponseTime {
        WithoutGenerator::new(&run.snapshot, every.as_deref()).set_lower_partner(&mut quantile);
    }
    quantile
}

pub(crate) fn response_time(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Distribution {
    let mut response_time = distribution(&population(snapshot, every, Metric::ResponseTime));
    let without = WithoutGenerator::new(snapshot, every);
    response_time.quantiles.iter_mut().for_each(|quantile| without.set_lower_partner(quantile));
    response_time
}

pub(crate) fn metrics(
    snapshot: &Snapshot,
    every: Option<&[RequestRecord]>,
    response_time: &Distribution,
) -> MetricDistributions {
    let of = |metric| match metric {
        // The values equal the response times, so they need not be sorted again.
        Metric::FirstByteTime if every.is_some_and(came_at_once) => unbracketed(response_time),
        metric => distribution(&population(snapshot, every, metric)),
    };
    let standing_alone = Metric::ALL.into_iter().filter(|metric| metric.has_own_distribution());
    standing_alone.map(|metric| (metric, of(metric))).collect()
}

/// Copies the distribution for another metric, without the lower partners, which only response times have.
fn unbracketed(response_time: &Distribution) -> Distribution {
    let alone = |quantile: &Quantile| Quantile { without_generator_ns: None, unresolved: false, ..*quantile };
    Distribution { quantiles: response_time.quantiles.iter().map(alone).collect(), ..response_time.clone() }
}

/// Returns true if every arrival was answered and the first byte of each answer came with its last.
fn came_at_once(records: &[RequestRecord]) -> bool {
    records.iter().all(|record| record.outcome.is_response() && record.first_byte == Some(record.end))
}

/// Returns the response times of successes and of answers with an error status. The first is `None` unless there are
/// both kinds of answers, the second unless there are errors.
pub(crate) fn by_status(
    snapshot: &Snapshot,
    every: Option<&[RequestRecord]>,
) -> (Option<Distribution>, Option<Distribution>) {
    let [successes, errors] = match every {
        Some(records) => [false, true].map(|error| Population::from_values(times_by_status(records, error))),
        None => {
            let errors = snapshot.error_status_time.clone();
            let unordered = |values: Histogram| Population::from_histogram(values, None);
            [snapshot.metric(Metric::ResponseTime).without(&errors), errors].map(unordered)
        }
    };
    let of_success = successes.count() > 0;
    let of_errors = errors.count() > 0;
    ((of_success && of_errors).then(|| distribution(&successes)), of_errors.then(|| distribution(&errors)))
}

fn times_by_status(records: &[RequestRecord], error: bool) -> Vec<u64> {
    let is_wanted = if error { Outcome::has_error_status } else { Outcome::is_success };
    records.iter().filter(|record| is_wanted(record.outcome)).map(|record| record.response_time().0).collect()
}

pub(crate) fn response_time_population(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Population {
    population(snapshot, every, Metric::ResponseTime)
}

/// Returns the arrivals that `metric` is about; for [`Metric::ResponseTime`], all planned arrivals.
fn population(snapshot: &Snapshot, every: Option<&[RequestRecord]>, metric: Metric) -> Population {
    let rows = snapshot.intervals.rows();
    match (every, metric) {
        (Some(records), Metric::ResponseTime) => Population::from_arrivals(records),
        (Some(records), metric) if !has_others(snapshot, records, metric) => {
            Population::from_values(records.iter().filter_map(metric.reader()).map(|time| time.0).collect())
        }
        (None, Metric::ResponseTime) => Population::from_arrival_histograms(
            snapshot.metric(Metric::ResponseTime),
            snapshot.metric(Metric::Censored),
            snapshot.metric(Metric::Failed),
            rows,
        ),
        (_, metric) => Population::from_histogram(snapshot.metric(metric).clone(), Some((rows, metric))),
    }
}

/// Returns true if a distribution has values of no arrival: of channels that were opened before the load.
fn has_others(snapshot: &Snapshot, records: &[RequestRecord], metric: Metric) -> bool {
    let values = || records.iter().filter_map(metric.reader()).count() as u64;
    metric.has_openings() && snapshot.metric(metric).count() > values()
}
