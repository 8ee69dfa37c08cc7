//! Plans for the simulation and for real sockets, with their limits.

use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, FaultEffect};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{LoadModel, Workload};
use truetail_report::number;

use super::Settings;
use super::query::SettingsError;

/// Maximum number of requests of a simulated loop, so that the page reacts at once.
pub const MAX_REQUESTS: u64 = 200_000;
/// Maximum rate of a run on real sockets: server, load generator and browser share one machine.
pub const MAX_REAL_RATE: f64 = 5_000.0;
/// Maximum duration of a run on real sockets, in seconds.
pub const MAX_SECONDS: u64 = 60;
/// Maximum drain of a run on real sockets.
const MAX_DRAIN: Nanos = Nanos::from_secs(30);

/// A plan for the simulation.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationPlan {
    /// The service and the open loop.
    pub scenario: Scenario,
    /// The closed loop.
    pub closed: Workload,
    /// Time between two requests of a user, as the correction assumes it.
    pub expected_interval: Nanos,
    /// Deviations from the settings, in sentences.
    pub notes: Vec<String>,
}

/// A plan for real sockets.
#[derive(Clone, PartialEq, Debug)]
pub struct RealPlan {
    /// The service and the open loop.
    pub scenario: Scenario,
    /// The closed loop, if it is measured too, after the open loop and with a new server.
    pub closed: Option<Workload>,
}

impl Settings {
    /// Returns the plan for the simulation: all settings, but at most [`MAX_REQUESTS`] per loop.
    pub fn simulation(&self) -> SimulationPlan {
        let mut notes = Vec::new();
        let simulated = Settings { duration: self.simulated_duration(&mut notes), ..self.clone() };
        let mut closed = simulated.closed_loop();
        if let LoadModel::Closed { horizon, .. } = &mut closed.model {
            horizon.requests = Some(horizon.requests.unwrap_or(MAX_REQUESTS).min(MAX_REQUESTS));
        }
        let late = self.service.faults.iter().filter_map(begins).filter(|from| *from >= simulated.duration);
        notes.extend(late.map(|from| {
            let from = number::round_time(from.0);
            let end = number::round_time(simulated.duration.0);
            format!("A fault begins at {from}, when no more requests are sent: they end at {end}.")
        }));
        let scenario = simulated.scenario();
        let expected_interval = simulated.expected_interval();
        SimulationPlan { scenario, closed, expected_interval, notes }
    }

    fn simulated_duration(&self, notes: &mut Vec<String>) -> Nanos {
        let most = Nanos::from_secs_f64(MAX_REQUESTS as f64 / self.rate.as_per_second());
        if self.duration <= most {
            return self.duration;
        }
        notes.push(format!(
            "Only the first {} of {} are simulated: {} requests, the most that this page computes for a change.",
            number::round_time(most.0),
            number::round_time(self.duration.0),
            number::count(MAX_REQUESTS)
        ));
        most
    }

    /// Returns the plan for real sockets, with the closed loop if `is_closed_too`.
    ///
    /// # Errors
    /// A rate above [`MAX_REAL_RATE`] or a duration above [`MAX_SECONDS`].
    pub fn real(&self, is_closed_too: bool) -> Result<RealPlan, SettingsError> {
        let refused = |key: &str, message: String| Err(SettingsError { key: key.to_owned(), message });
        let most_rate = Rate::per_second(MAX_REAL_RATE).expect("it is above zero");
        if self.rate > most_rate {
            let most = number::rate(MAX_REAL_RATE);
            let asked = number::rate(self.rate.as_per_second());
            return refused(
                "rate",
                format!(
                    "a real run is limited to {most}, because server, load generator and browser share this machine; lower \
                     the rate, which is {asked}"
                ),
            );
        }
        if self.duration > Nanos::from_secs(MAX_SECONDS) {
            let asked = number::round_time(self.duration.0);
            return refused(
                "duration",
                format!("a real run lasts at most {MAX_SECONDS}s; shorten the duration, which is {asked}"),
            );
        }
        let mut bounded = self.clone();
        bounded.limits.drain = self.limits.drain.min(MAX_DRAIN);
        let closed = is_closed_too.then(|| {
            let mut closed = bounded.closed_loop();
            if let LoadModel::Closed { horizon, .. } = &mut closed.model {
                horizon.duration = Some(horizon.duration.unwrap_or(Nanos::from_secs(MAX_SECONDS)));
            }
            closed
        });
        Ok(RealPlan { scenario: bounded.scenario(), closed })
    }
}

/// Returns the start of a fault; `None` if it does not depend on time.
fn begins(fault: &Fault) -> Option<Nanos> {
    match fault.effect() {
        FaultEffect::Stall(schedule) => Some(schedule.first.since_origin()),
        FaultEffect::Ramp { from, .. } => Some(from.since_origin()),
        FaultEffect::Pause { .. } => None,
        FaultEffect::Answer { select, .. } => select.at.map(|at| at.since_origin()),
    }
}
