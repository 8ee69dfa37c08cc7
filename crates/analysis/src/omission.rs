//! The distance of a report from the truth: the omission factor is true quantile / reported quantile.

use truetail_model::record::{Outcome, Snapshot};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{Findings, Quantile, Run};

use crate::truth::Truth;

/// Returns truth / reported. 1 means that they agree; above 1, time was omitted. Returns `None` if 0 was reported.
pub fn factor(truth: Nanos, reported: Nanos) -> Option<f64> {
    (reported.0 > 0).then(|| truth.0 as f64 / reported.0 as f64)
}

/// One quantile in several measurements.
#[derive(Clone, PartialEq, Debug)]
pub struct OmissionRow {
    /// In [0, 1].
    pub q: f64,
    /// The quantile that the closed loop reports.
    pub closed: Quantile,
    /// The quantile that the open loop reports.
    pub open: Quantile,
    /// The true quantile; `None` if no answer ever comes.
    pub truth: Option<Nanos>,
    /// Truth / closed, if both are numbers.
    pub closed_factor: Option<f64>,
    /// Truth / open, if both are numbers.
    pub open_factor: Option<f64>,
}

/// A stall of the service, and the requests that began in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StallArrivals {
    /// Start of the stall.
    pub at: Timestamp,
    /// Length of the stall.
    pub length: Nanos,
    /// Requests that the closed loop began in it; `None` if single requests were not kept.
    pub closed: Option<u64>,
    /// Requests that the open loop began in it; `None` if single requests were not kept.
    pub open: Option<u64>,
    /// Requests that an ideal open-loop client begins in it.
    pub truth: u64,
}

/// The same service under a closed and an open loop, and the truth.
#[derive(Clone, PartialEq, Debug)]
pub struct OmissionComparison {
    /// Response time at each quantile of the table.
    pub rows: Vec<OmissionRow>,
    /// Number of arrivals of the closed loop, of the open loop, and of the truth.
    pub arrivals: [u64; 3],
    /// The stall that the comparison is about, if any.
    pub stall: Option<StallArrivals>,
}

/// Compares two runs with the truth. `stall` is the start and length of a stall, on the clock of the runs.
pub fn comparison(
    closed: (&Run, &Findings),
    open: (&Run, &Findings),
    truth: &Truth,
    stall: Option<(Timestamp, Nanos)>,
) -> OmissionComparison {
    let rows = closed.1.response_time.quantiles.iter().zip(&open.1.response_time.quantiles);
    OmissionComparison {
        rows: rows.map(|(closed, open)| row(closed, open, truth)).collect(),
        arrivals: [closed.1.response_time.count, open.1.response_time.count, truth.count()],
        stall: stall.map(|(at, length)| StallArrivals {
            at,
            length,
            closed: begun_between(&closed.0.snapshot, at, at + length),
            open: begun_between(&open.0.snapshot, at, at + length),
            truth: truth.planned_between(at, at + length),
        }),
    }
}

fn row(closed: &Quantile, open: &Quantile, truth: &Truth) -> OmissionRow {
    let truth = truth.quantile(closed.q);
    let factor_of = |quantile: &Quantile| {
        let reported = quantile.value_ns.filter(|_| !quantile.at_least)?;
        factor(truth?, Nanos(reported))
    };
    OmissionRow {
        q: closed.q,
        closed: *closed,
        open: *open,
        truth,
        closed_factor: factor_of(closed),
        open_factor: factor_of(open),
    }
}

/// Counts the requests with an actual start from `from` to before `to`. Returns `None` if not every request was kept.
pub fn begun_between(snapshot: &Snapshot, from: Timestamp, to: Timestamp) -> Option<u64> {
    let samples = &snapshot.samples;
    let begun = |record: &&truetail_model::record::RequestRecord| {
        record.outcome != Outcome::NeverIssued && record.actual_start >= from && record.actual_start < to
    };
    samples.is_complete().then(|| samples.even().iter().filter(begun).count() as u64)
}
