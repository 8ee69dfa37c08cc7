//! The every-n-th pause: one server with a queue that does 1 ms of work, but pauses for 200 ms at every 500th request,
//! at 450 requests a second for 30 s. A closed loop asks the same number of requests one after the other.
//!
//! A pause delays every request behind it until the server has caught up, some 156 of them; the closed loop sends
//! nothing meanwhile and sees the one that paused.

use truetail_model::arrival::Horizon;
use truetail_model::record::RequestRecord;
use truetail_model::service::{Fault, Service};
use truetail_model::time::{Nanos, Rate, Timestamp};

use super::series::{closed, measure, open};
use super::{LabError, LabSeries, above_zero, requests_in};
use crate::Sink;

/// What may be chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EveryNthOptions {
    /// Requests a second of the open loop.
    pub rate: Rate,
    /// How long. The closed loop does rate × duration requests, however long that takes it.
    pub duration: Nanos,
    /// The server pauses at requests n, 2n, 3n …
    pub pause_every: u64,
    /// What such a request takes.
    pub pause: Nanos,
    /// What every other request takes.
    pub work: Nanos,
}

impl Default for EveryNthOptions {
    fn default() -> EveryNthOptions {
        EveryNthOptions {
            rate: Rate::per_second(450.0).expect("a rate"),
            duration: Nanos::from_secs(30),
            pause_every: 500,
            pause: Nanos::from_millis(200),
            work: Nanos::from_millis(1),
        }
    }
}

impl EveryNthOptions {
    /// The service of this lab.
    pub fn service(&self) -> Service {
        Service {
            concurrency: Some(1),
            faults: vec![Fault::EveryNth { every: self.pause_every, pause: self.pause }],
            ..Service::healthy(self.work)
        }
    }

    /// The share of the server's time that is asked for; from 1 on the backlog grows without end.
    pub fn utilisation(&self) -> f64 {
        let (every, work, pause) = (self.pause_every as f64, self.work.as_secs_f64(), self.pause.as_secs_f64());
        self.rate.as_per_second() * ((every - 1.0) * work + pause) / every
    }

    fn check(&self) -> Result<u64, LabError> {
        above_zero("duration", self.duration.0)?;
        above_zero("pause-every", self.pause_every)?;
        above_zero("pause-ms", self.pause.0)?;
        above_zero("work", self.work.0)?;
        requests_in(self.duration, self.rate.as_per_second())
    }
}

/// What the two loops saw.
#[derive(Clone, Debug)]
pub struct EveryNthResult {
    /// One request after the other.
    pub closed: LabSeries,
    /// On schedule, from the intended start.
    pub open: LabSeries,
    /// A request is slow when it takes longer than this: twice the work.
    pub slow_from: Nanos,
    /// Slow requests of the closed loop.
    pub closed_slow: u64,
    /// Slow requests of the open loop.
    pub open_slow: u64,
}

/// A line of the comparison.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QuantileRatio {
    /// In [0, 1].
    pub q: f64,
    /// The closed loop's response time.
    pub closed: Nanos,
    /// The open loop's response time.
    pub open: Nanos,
}

impl QuantileRatio {
    /// open / closed, from the unrounded values.
    pub fn ratio(&self) -> f64 {
        self.open.0 as f64 / self.closed.0 as f64
    }
}

impl EveryNthResult {
    /// The two loops, quantile by quantile.
    pub fn ratios(&self) -> impl Iterator<Item = QuantileRatio> + '_ {
        let both = self.closed.quantiles.iter().zip(&self.open.quantiles);
        both.map(|(closed, open)| QuantileRatio { q: closed.q, closed: closed.response_time, open: open.response_time })
    }
}

/// Runs the lab.
///
/// # Errors
/// [`LabError`] when an option is out of range.
pub fn run(options: &EveryNthOptions) -> Result<EveryNthResult, LabError> {
    let requests = options.check()?;
    let service = options.service();
    let slow_from = options.work + options.work;
    let horizon = Horizon { duration: None, requests: Some(requests) };
    let (mut closed_slow, mut open_slow) = (Slow::from(slow_from), Slow::from(slow_from));
    let (closed, _) = measure("every-nth", "closed-loop", &service, &closed(1, horizon), &mut closed_slow)?;
    let open_workload = open(options.rate, options.duration);
    let (open, _) = measure("every-nth", "open-loop", &service, &open_workload, &mut open_slow)?;
    Ok(EveryNthResult { closed, open, slow_from, closed_slow: closed_slow.count, open_slow: open_slow.count })
}

/// Counts what takes longer than a limit.
struct Slow {
    limit: Nanos,
    count: u64,
}

impl Slow {
    fn from(limit: Nanos) -> Slow {
        Slow { limit, count: 0 }
    }
}

impl Sink for Slow {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        self.count += u64::from(record.response_time() > self.limit);
    }
}
