//! Series of a lab: one way of measuring a service, and its result.

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::{Metric, rank_of};
use truetail_model::service::Service;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{Facts, Run};

use crate::run::facts;
use crate::{FaultClockStart, SimOptions, Simulation, SimulationEnd, Sink};

use super::error::LabError;

/// Limit on the drain of a backlog, in virtual time.
const DRAIN: Nanos = Nanos::from_secs(24 * 60 * 60);

/// Quantiles in the tables of a lab; the last one is the largest value.
pub const QUANTILES: [f64; 7] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

/// Measurement of a service in one way.
#[derive(Clone, Debug)]
pub struct LabSeries {
    /// Name, such as `open-loop`.
    pub name: &'static str,
    /// Everything that was recorded.
    pub run: Run,
    /// Response time at each of [`QUANTILES`]: exact for up to 262,144 requests, else to 0.1 %. Empty without answers.
    pub quantiles: Vec<LabQuantile>,
}

/// Quantile of a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LabQuantile {
    /// Quantile, in [0, 1].
    pub q: f64,
    /// Response time at the quantile.
    pub response_time: Nanos,
}

impl LabSeries {
    pub(super) fn new(name: &'static str, run: Run) -> LabSeries {
        let quantiles = quantiles(&run);
        LabSeries { name, run, quantiles }
    }

    /// Returns the response time at `q`, one of [`QUANTILES`].
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        self.quantiles.iter().find(|quantile| quantile.q == q).map(|quantile| quantile.response_time)
    }

    /// Returns the number of answered requests.
    pub fn count(&self) -> u64 {
        self.run.snapshot.tally.responses
    }
}

fn quantiles(run: &Run) -> Vec<LabQuantile> {
    let samples = &run.snapshot.samples;
    let buckets = run.snapshot.metric(Metric::ResponseTime);
    let every = samples.is_complete() && samples.even().len() as u64 == buckets.count();
    let mut times: Vec<Nanos> = Vec::new();
    if every {
        times.extend(samples.even().iter().map(|record| record.response_time()));
        times.sort_unstable();
    }
    let at = |q| if every { exact(&times, q) } else { buckets.quantile(q) };
    QUANTILES.into_iter().filter_map(|q| at(q).map(|response_time| LabQuantile { q, response_time })).collect()
}

fn exact(sorted: &[Nanos], q: f64) -> Option<Nanos> {
    let rank = rank_of(q, sorted.len() as u64).checked_sub(1)?;
    sorted.get(rank as usize).copied()
}

/// Returns the naive loop: `users` without think time until `horizon`.
pub(super) fn closed(users: u32, horizon: Horizon) -> Workload {
    unlimited(LoadModel::Closed { users: users.into(), think_time: Nanos::ZERO, horizon })
}

/// Returns the open loop: evenly spaced arrivals at `rate` for `duration`.
pub(super) fn open(rate: Rate, duration: Nanos) -> Workload {
    unlimited(LoadModel::Open(Schedule {
        profile: Profile::constant(rate),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(duration), requests: None },
    }))
}

fn unlimited(model: LoadModel) -> Workload {
    Workload { model, limits: Limits { timeout: None, drain: DRAIN, ..Limits::default() }, warmup: Nanos::ZERO }
}

/// Measures `service` under `workload`. `besides` also receives every request.
///
/// # Errors
/// [`LabError::Unanswered`] if a request is unanswered a day after the last one was sent: quantiles would be too low.
pub(super) fn measure(
    lab: &str,
    name: &'static str,
    service: &Service,
    workload: &Workload,
    besides: &mut impl Sink,
) -> Result<(LabSeries, SimulationEnd), LabError> {
    let mut sink = (SimOptions::default().recorder(workload), besides);
    let end = Simulation::new(service, workload, FaultClockStart::Origin)?.run(&mut sink)?;
    let run = Run { facts: series_facts(lab, name, workload, end), snapshot: sink.0.finish(end.schedule_hash) };
    match run.snapshot.tally.unanswered() {
        0 => {}
        requests => return Err(LabError::Unanswered { requests }),
    }
    Ok((LabSeries::new(name, run), end))
}

pub(super) fn series_facts(lab: &str, name: &str, workload: &Workload, end: SimulationEnd) -> Facts {
    facts(&format!("{lab}/{name}"), workload, end)
}
