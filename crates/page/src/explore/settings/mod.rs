//! The values of the sliders.
//!
//! | module | content |
//! |---|---|
//! | [`field`] | the numbers, each with its key, unit and range |
//! | `query` | the text of a link, read and written |
//! | `plan` | plans for the simulation and for real sockets, with their limits |

pub mod field;
mod plan;
mod query;

pub use plan::{MAX_REAL_RATE, MAX_REQUESTS, MAX_SECONDS, RealPlan, SimulationPlan};
pub use query::SettingsError;

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::service::Service;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};

/// End of the closed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClosedEnd {
    /// It lasts as long as the open loop.
    Duration,
    /// It sends as many requests as the open loop plans.
    Requests,
}

/// A service, and two loads on it.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The server. Its faults are at most one stall, one ramp, and one pause at every n-th request, in this order.
    pub service: Service,
    /// Rate of the open loop. The users of the closed loop together try to reach it too.
    pub rate: Rate,
    /// Spacing of the open loop.
    pub spacing: Spacing,
    /// Duration of the open loop.
    pub duration: Nanos,
    /// Users of the closed loop.
    pub users: u32,
    /// End of the closed loop.
    pub closed_end: ClosedEnd,
    /// Limits of both loops.
    pub limits: Limits,
}

impl Settings {
    /// Converts `scenario`, with a closed loop of `users`; `None` if the page lacks a slider for some part of it.
    pub fn from_scenario(scenario: &Scenario, users: u32, closed_end: ClosedEnd) -> Option<Settings> {
        let LoadModel::Open(schedule) = &scenario.workload.model else { return None };
        let Profile::Constant(constant) = &schedule.profile else { return None };
        if matches!(schedule.spacing, Spacing::Gamma(_)) {
            return None;
        }
        let settings = Settings {
            service: scenario.service.clone(),
            rate: constant.rate,
            spacing: schedule.spacing,
            duration: schedule.horizon.duration?,
            users,
            closed_end,
            limits: scenario.workload.limits,
        };
        let read_back = Settings::parse(&settings.to_query()).ok()?;
        (read_back == settings && settings.open_loop() == scenario.workload).then_some(settings)
    }

    /// Returns the number of users that reach `rate` with a service time of `baseline`, by Little's law; at least one.
    pub fn users_for(rate: Rate, baseline: Nanos) -> u32 {
        (rate.as_per_second() * baseline.as_secs_f64()).round().max(1.0) as u32
    }

    /// Returns the load of the open loop.
    pub fn open_loop(&self) -> Workload {
        let horizon = Horizon { duration: Some(self.duration), requests: None };
        let profile = Profile::constant(self.rate);
        let spacing = self.spacing;
        self.workload(LoadModel::Open(Schedule { profile, spacing, seed: 1, horizon }))
    }

    /// Returns the load of the closed loop.
    pub fn closed_loop(&self) -> Workload {
        let planned = (self.duration.as_secs_f64() * self.rate.as_per_second()).round().max(1.0) as u64;
        let horizon = match self.closed_end {
            ClosedEnd::Duration => Horizon { duration: Some(self.duration), requests: None },
            ClosedEnd::Requests => Horizon { duration: None, requests: Some(planned) },
        };
        self.workload(LoadModel::Closed { users: self.users.into(), think_time: Nanos::ZERO, horizon })
    }

    fn workload(&self, model: LoadModel) -> Workload {
        Workload { model, limits: self.limits, warmup: Nanos::ZERO }
    }

    /// Returns the planned time between two requests of a user in the closed loop, as the correction assumes it.
    pub fn expected_interval(&self) -> Nanos {
        Nanos::from_secs_f64(f64::from(self.users) / self.rate.as_per_second())
    }

    /// Returns the service and the open loop.
    pub fn scenario(&self) -> Scenario {
        Scenario {
            name: "explore".to_owned(),
            about: String::new(),
            service: self.service.clone(),
            workload: self.open_loop(),
            path: "/api".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
