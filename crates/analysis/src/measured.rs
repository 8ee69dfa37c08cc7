//! The distributions of a run: from every single request where they are all there, else from histograms.

use truetail_model::record::{Histogram, Metric, Outcome, RequestRecord, Snapshot};
use truetail_model::time::Nanos;
use truetail_run::Distribution;

use crate::distribution::distribution;
use crate::population::Population;

/// Every distribution that findings hold.
pub(crate) struct Measured {
    pub(crate) response_time: Distribution,
    /// Only where there are both kinds of answers.
    pub(crate) success: Option<Distribution>,
    /// Wherever there are any.
    pub(crate) error_status: Option<Distribution>,
    pub(crate) service_time: Distribution,
    pub(crate) start_delay: Distribution,
    pub(crate) generator_lag: Distribution,
    pub(crate) connection_wait: Distribution,
    pub(crate) connect_time: Distribution,
    pub(crate) read_lag: Distribution,
    pub(crate) tls_handshake_time: Distribution,
}

/// Every measured arrival in the order of its intended start, where each was kept.
pub(crate) fn every_arrival(snapshot: &Snapshot) -> Option<Vec<RequestRecord>> {
    let samples = &snapshot.samples;
    let all = samples.is_complete() && samples.even().len() as u64 == snapshot.tally.planned;
    all.then(|| {
        let mut records = samples.even().to_vec();
        records.sort_unstable_by_key(|record| (record.intended_start, record.index));
        records
    })
}

impl Measured {
    pub(crate) fn of(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Measured {
        match every {
            Some(records) => of_records(records),
            None => of_histograms(snapshot),
        }
    }
}

fn of_records(records: &[RequestRecord]) -> Measured {
    let of = |keep: fn(&RequestRecord) -> bool, value: fn(&RequestRecord) -> Nanos| {
        let values = records.iter().filter(|record| keep(record)).map(|record| value(record).0).collect();
        distribution(&Population::of_known(values))
    };
    let (of_success, of_errors) = (records.iter().any(is_success), records.iter().any(is_error));
    Measured {
        response_time: distribution(&Population::of_arrivals(records)),
        success: (of_success && of_errors).then(|| of(is_success, RequestRecord::response_time)),
        error_status: of_errors.then(|| of(is_error, RequestRecord::response_time)),
        service_time: of(|r| r.outcome.is_response(), RequestRecord::service_time),
        start_delay: of(was_issued, |r| r.delay.total()),
        generator_lag: of(was_issued, |r| r.delay.generator_lag),
        connection_wait: of(was_issued, |r| r.delay.connection_wait),
        connect_time: of(|r| was_issued(r) && r.connected, |r| r.delay.connect),
        read_lag: of(|r| r.read_lag.is_some(), |r| r.read_lag.unwrap_or_default()),
        tls_handshake_time: of(|r| r.tls_handshake.is_some(), |r| r.tls_handshake.unwrap_or_default()),
    }
}

fn is_success(record: &RequestRecord) -> bool {
    matches!(record.outcome, Outcome::Response { status } if status < 400)
}

fn is_error(record: &RequestRecord) -> bool {
    matches!(record.outcome, Outcome::Response { status } if status >= 400)
}

fn was_issued(record: &RequestRecord) -> bool {
    record.outcome != Outcome::NeverIssued
}

fn of_histograms(snapshot: &Snapshot) -> Measured {
    let rows = snapshot.intervals.rows();
    let of = |metric: Metric| {
        distribution(&Population::of_known_histogram(snapshot.metric(metric).clone(), Some((rows, metric))))
    };
    let unordered = |values: Histogram| distribution(&Population::of_known_histogram(values, None));
    let answered = snapshot.metric(Metric::ResponseTime);
    let (successes, errors) = (answered.without(&snapshot.error_status_time), &snapshot.error_status_time);
    let (of_success, of_errors) = (successes.count() > 0, errors.count() > 0);
    Measured {
        response_time: distribution(&Population::of_arrival_histograms(
            answered,
            snapshot.metric(Metric::Censored),
            snapshot.metric(Metric::Failed),
            rows,
        )),
        success: (of_success && of_errors).then(|| unordered(successes)),
        error_status: of_errors.then(|| unordered(errors.clone())),
        service_time: of(Metric::ServiceTime),
        start_delay: of(Metric::StartDelay),
        generator_lag: of(Metric::GeneratorLag),
        connection_wait: of(Metric::ConnectionWait),
        connect_time: of(Metric::ConnectTime),
        read_lag: of(Metric::ReadLag),
        tls_handshake_time: of(Metric::TlsHandshakeTime),
    }
}
