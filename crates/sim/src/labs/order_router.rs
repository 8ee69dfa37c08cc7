//! The order router: 50 µs of service, 20 000 requests a second, and the whole router stops for 10 ms now and then, as
//! a garbage collector makes it. A pause holds up 200 arrivals; the naive loop has one request in flight and sees one.
//!
//! Pauses are a gate: what arrives during one begins its 50 µs when it is over, and all that waited leave together. They
//! come every 800 ms, so that 200 of 16 000 arrivals (1.25 %) meet one, which puts p99 of the truth at 2.05 ms: the
//! published picture is 2.1 ms.

use truetail_model::arrival::Horizon;
use truetail_model::service::{Fault, Gate, Service};
use truetail_model::time::{Nanos, Rate, Timestamp};

use super::correction::{Names, measure_both};
use super::series::{closed, measure, open};
use super::{LabError, LabSeries, above_zero, requests_in};
use crate::sink::Nothing;

/// What may be chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OrderRouterOptions {
    /// Requests a second that the clients mean to send; the correction expects one every 1/rate.
    pub rate: Rate,
    /// How long.
    pub duration: Nanos,
    /// What one request takes.
    pub work: Nanos,
    /// How long a pause is.
    pub pause: Nanos,
    /// From one pause to the next; the first begins after half of it.
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
    /// The service of this lab.
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

/// What the three ways of measuring saw.
#[derive(Clone, Debug)]
pub struct OrderRouterResult {
    /// One request after the other.
    pub naive: LabSeries,
    /// The naive loop with HdrHistogram's correction.
    pub corrected: LabSeries,
    /// On schedule, from the intended start: the truth.
    pub open: LabSeries,
}

/// Runs the lab.
///
/// # Errors
/// [`LabError`] when an option is out of range.
pub fn run(options: &OrderRouterOptions) -> Result<OrderRouterResult, LabError> {
    options.check()?;
    let service = options.service();
    let horizon = Horizon { duration: Some(options.duration), requests: None };
    let names = Names { lab: "order-router", raw: "naive", corrected: "corrected" };
    let (naive, corrected) = measure_both(names, &service, &closed(1, horizon), options.rate.interval(), Nothing)?;
    let open_workload = open(options.rate, options.duration);
    let (open, _) = measure("order-router", "open-loop", &service, &open_workload, &mut Nothing)?;
    Ok(OrderRouterResult { naive, corrected, open })
}
