//! Any quantile of any distribution of a run, for whoever asks for others than those of every table.

use truetail_model::record::{Metric, RequestRecord, Snapshot};
use truetail_model::time::Nanos;
use truetail_run::{Quantile, Run};

use crate::distribution::quantile_of;
use crate::measured::every_arrival;
use crate::population::Population;
use crate::verdict::thresholds::UNRESOLVED_SHARE;

/// Quantile `q` in [0, 1] of `metric`, as [`findings`](crate::findings()) would have it in its table. That of
/// [`Metric::ResponseTime`] is over all planned arrivals, with and without an answer.
pub fn quantile(run: &Run, metric: Metric, q: f64) -> Quantile {
    let every = every_arrival(&run.snapshot);
    let of = |metric| quantile_of(&population(&run.snapshot, every.as_deref(), metric), q);
    let mut quantile = of(metric);
    if metric == Metric::ResponseTime
        && let (Some(value), Some(lag)) = (quantile.value_ns, of(Metric::GeneratorLag).value_ns)
    {
        quantile.unresolved = !quantile.no_answer && lag as f64 > value as f64 * UNRESOLVED_SHARE;
    }
    quantile
}

fn population(snapshot: &Snapshot, every: Option<&[RequestRecord]>, metric: Metric) -> Population {
    let rows = snapshot.intervals.rows();
    match (every, metric) {
        (Some(records), Metric::ResponseTime) => Population::of_arrivals(records),
        (Some(records), _) => Population::of_known(
            records.iter().filter_map(|record| value(record, metric)).map(|value| value.0).collect(),
        ),
        (None, Metric::ResponseTime) => Population::of_arrival_histograms(
            snapshot.metric(Metric::ResponseTime),
            snapshot.metric(Metric::Censored),
            snapshot.metric(Metric::Failed),
            rows,
        ),
        (None, _) => Population::of_known_histogram(snapshot.metric(metric).clone(), Some((rows, metric))),
    }
}

/// What `metric` says of an arrival; `None` where it says nothing.
fn value(record: &RequestRecord, metric: Metric) -> Option<Nanos> {
    let outcome = record.outcome;
    let was_issued = outcome != truetail_model::record::Outcome::NeverIssued;
    match metric {
        Metric::ResponseTime => outcome.is_response().then(|| record.response_time()),
        Metric::Censored => outcome.is_censored().then(|| record.response_time()),
        Metric::Failed => outcome.is_failed().then(|| record.response_time()),
        Metric::ServiceTime => outcome.is_response().then(|| record.service_time()),
        Metric::StartDelay => was_issued.then(|| record.delay.total()),
        Metric::GeneratorLag => was_issued.then_some(record.delay.generator_lag),
        Metric::ConnectionWait => was_issued.then_some(record.delay.connection_wait),
        Metric::ConnectTime => (was_issued && record.connected).then_some(record.delay.connect),
        Metric::ReadLag => record.read_lag,
        Metric::TlsHandshakeTime => record.tls_handshake,
    }
}
