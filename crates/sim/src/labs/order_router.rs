//! The order router: 50 µs of service, 20,000 requests a second, and pauses of the whole router for 10 ms, as a garbage
//! collector makes them. A pause holds up 200 arrivals; the naive loop has one request in flight and sees one.
//!
//! Pauses are a gate: arrivals during a pause begin their 50 µs when it is over. They come every 800 ms, so 200 of
//! 16,000 arrivals (1.25 %) meet one. This puts p99 of the truth at 2.05 ms; the published picture shows 2.1 ms.

use truetail_model::arrival::Horizon;
use truetail_model::service::{Fault, Gate, Service};
use truetail_model::time::{Nanos, Rate, Timestamp};

use super::correction::{SeriesNames, measure_both};
use super::error::{LabError, above_zero, requests_in};
use super::series::{LabSeries, closed, measure, open};
use crate::sink::DiscardSink;

/// Name of this lab.
pub const NAME: &str = "order-router";
/// Names of its series.
pub const SERIES: [&str; 3] = ["naive", "corrected", "open-loop"];

/// Options of this lab.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OrderRouterOptions {
    /// Rate that the clients intend. The correction assumes an interval of 1/rate.
    pub rate: Rate,
    /// Duration of sending.
    pub duration: Nanos,
    /// Time that a request takes.
    pub work: Nanos,
    /// Length of a pause.
    pub pause: Nanos,
    /// Time from the start of one pause to the start of the next. The first pause begins after half of it.
    pub pause_every: Nanos,
}

impl Default for OrderRouterOptions {
    fn default() -> OrderRouterOptions {
        OrderRouterOptions {
            rate: Rate::per_second(20_000.0).expect("a rate"),
            duration: Nanos::from_secs(8),
            work: Nanos::from_micros(50),
            pause: Nanos::from_millis(10),
            pause_every: Nanos::from_millis(800),
        }
    }
}

impl OrderRouterOptions {
    /// Returns the service of this lab.
    pub fn service(&self) -> Service {
        let pauses = Fault::RecurringStall {
            first: Timestamp(self.pause_every.0 / 2),
            every: self.pause_every,
            length: self.pause,
            times: None,
            gate: Gate::Arrivals,
        };
        Service { faults: vec![pauses], ..Service::healthy(self.work) }
    }

    /// Returns the number of arrivals of the open loop that one pause holds up.
    pub fn arrivals_per_pause(&self) -> u64 {
        (self.rate.as_per_second() * self.pause.as_secs_f64()) as u64
    }

    fn check(&self) -> Result<(), LabError> {
        above_zero("duration", self.duration.0)?;
        above_zero("work", self.work.0)?;
        above_zero("pause", self.pause.0)?;
        if self.pause >= self.pause_every {
            return Err(LabError::PauseNeverEnds { length: self.pause, every: self.pause_every });
        }
        requests_in(self.duration, self.rate.as_per_second())?;
        requests_in(self.duration, 1.0 / self.work.as_secs_f64())?;
        Ok(())
    }
}

/// Result of the three ways of measuring.
#[derive(Clone, Debug)]
pub struct OrderRouterResult {
    /// Options of the lab.
    pub options: OrderRouterOptions,
    /// Naive loop: one request after the other.
    pub naive: LabSeries,
    /// The naive loop with HdrHistogram's correction.
    pub corrected: LabSeries,
    /// Open loop: on schedule, measured from the intended start. This is the truth.
    pub open: LabSeries,
}

/// Runs the lab.
///
/// # Errors
/// [`LabError`] if an option is out of range.
pub fn run(options: &OrderRouterOptions) -> Result<OrderRouterResult, LabError> {
    options.check()?;
    let service = options.service();
    let horizon = Horizon { duration: Some(options.duration), requests: None };
    let [raw, corrected, open_name] = SERIES;
    let names = SeriesNames { lab: NAME, raw, corrected };
    let (naive, corrected) = measure_both(names, &service, &closed(1, horizon), options.rate.interval(), DiscardSink)?;
    let open_workload = open(options.rate, options.duration);
    let (open, _) = measure(NAME, open_name, &service, &open_workload, &mut DiscardSink)?;
    Ok(OrderRouterResult { options: *options, naive, corrected, open })
}
