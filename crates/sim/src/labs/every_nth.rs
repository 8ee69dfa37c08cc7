//! The every-n-th pause: one server with a queue does 1 ms of work, but pauses for 200 ms at every 500th request, at
//! 450 requests a second for 30 s. A closed loop sends the same number of requests one after the other.
//!
//! A pause delays some 156 requests until the server has caught up. The closed loop sees only the one that paused.

use truetail_model::arrival::Horizon;
use truetail_model::record::RequestRecord;
use truetail_model::service::{Fault, Service};
use truetail_model::time::{Nanos, Rate, Timestamp};

use super::error::{LabError, above_zero, requests_in};
use super::series::{LabSeries, closed, measure, open};
use crate::Sink;

/// Name of this lab.
pub const NAME: &str = "every-nth";
/// Names of its series.
pub const SERIES: [&str; 2] = ["closed-loop", "open-loop"];

/// Options of this lab.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EveryNthOptions {
    /// Rate of the open loop.
    pub rate: Rate,
    /// Duration of the open loop. The closed loop sends rate × duration requests, without a limit on time.
    pub duration: Nanos,
    /// The server pauses at requests n, 2n, 3n …
    pub pause_every: u64,
    /// Time that such a request takes.
    pub pause: Nanos,
    /// Time that every other request takes.
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
    /// Returns the service of this lab.
    pub fn service(&self) -> Service {
        Service {
            concurrency: Some(1),
            faults: vec![Fault::EveryNth { every: self.pause_every, pause: self.pause }],
            ..Service::healthy(self.work)
        }
    }

    /// Returns the utilisation of the server by the open loop; from 1 on the backlog grows without end.
    pub fn utilisation(&self) -> f64 {
        let every = self.pause_every as f64;
        let work = self.work.as_secs_f64();
        let pause = self.pause.as_secs_f64();
        self.rate.as_per_second() * ((every - 1.0) * work + pause) / every
    }

    /// Returns the time of both loops together in real time, in seconds, if nothing else slows them down. `requests` is
    /// the length of the closed loop.
    pub fn real_time_seconds(&self, requests: u64) -> f64 {
        let closed = self.utilisation() / self.rate.as_per_second() * requests as f64;
        closed + self.duration.as_secs_f64().max(closed)
    }

    /// Returns twice the work: a request that takes longer is slow.
    pub fn slow_from(&self) -> Nanos {
        self.work + self.work
    }

    /// Checks the options, and returns the number of requests of each series.
    fn check(&self) -> Result<u64, LabError> {
        above_zero("duration", self.duration.0)?;
        above_zero("pause-every", self.pause_every)?;
        above_zero("pause-ms", self.pause.0)?;
        above_zero("work", self.work.0)?;
        requests_in(self.duration, self.rate.as_per_second())
    }
}

/// Result of the two loops.
#[derive(Clone, Debug)]
pub struct EveryNthResult {
    /// Options of the lab.
    pub options: EveryNthOptions,
    /// Closed loop: one request after the other.
    pub closed: LabSeries,
    /// Open loop: on schedule, measured from the intended start.
    pub open: LabSeries,
    /// Requests of the closed loop that took longer than [`EveryNthOptions::slow_from`].
    pub closed_slow: u64,
    /// Requests of the open loop that took longer than [`EveryNthOptions::slow_from`].
    pub open_slow: u64,
}

/// Quantile of both loops.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QuantileRatio {
    /// Quantile, in [0, 1].
    pub q: f64,
    /// Response time in the closed loop.
    pub closed: Nanos,
    /// Response time in the open loop.
    pub open: Nanos,
}

impl QuantileRatio {
    /// Returns open / closed, from the unrounded values.
    pub fn ratio(&self) -> f64 {
        self.open.0 as f64 / self.closed.0 as f64
    }
}

impl EveryNthResult {
    /// Returns both loops, quantile by quantile.
    pub fn ratios(&self) -> impl Iterator<Item = QuantileRatio> + '_ {
        let both = self.closed.quantiles.iter().zip(&self.open.quantiles);
        both.map(|(closed, open)| QuantileRatio { q: closed.q, closed: closed.response_time, open: open.response_time })
    }
}

/// Runs the lab.
///
/// # Errors
/// [`LabError`] if an option is out of range.
pub fn run(options: &EveryNthOptions) -> Result<EveryNthResult, LabError> {
    let requests = options.check()?;
    let service = options.service();
    let slow_from = options.slow_from();
    let [closed_name, open_name] = SERIES;
    let horizon = Horizon { duration: None, requests: Some(requests) };
    let mut closed_slow = SlowCounter::above(slow_from);
    let mut open_slow = SlowCounter::above(slow_from);
    let (closed, _) = measure(NAME, closed_name, &service, &closed(1, horizon), &mut closed_slow)?;
    let open_workload = open(options.rate, options.duration);
    let (open, _) = measure(NAME, open_name, &service, &open_workload, &mut open_slow)?;
    let closed_slow = closed_slow.count;
    let open_slow = open_slow.count;
    Ok(EveryNthResult { options: *options, closed, open, closed_slow, open_slow })
}

struct SlowCounter {
    limit: Nanos,
    count: u64,
}

impl SlowCounter {
    fn above(limit: Nanos) -> SlowCounter {
        SlowCounter { limit, count: 0 }
    }
}

impl Sink for SlowCounter {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        self.count += u64::from(record.response_time() > self.limit);
    }
}
