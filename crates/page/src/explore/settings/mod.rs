//! What the sliders say.
//!
//! | module | content |
//! |---|---|
//! | [`field`] | the numbers, each with its key, unit and range |
//! | `query` | the text of a link, read and written |
//! | `plan` | what is simulated, and what is run on real sockets, with their bounds |

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

/// What ends the closed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClosedEnd {
    /// It lasts as long as the open loop.
    Duration,
    /// It sends as many requests as the open loop plans.
    Requests,
}

/// A service, and the two loads on it.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// How the server behaves. Of its faults there is at most one stall, then one ramp, then one pause at every n-th request.
    pub service: Service,
    /// The rate of the open loop, which the users of the closed loop try to reach together.
    pub rate: Rate,
    /// The gaps of the open loop.
    pub spacing: Spacing,
    /// How long the open loop sends.
    pub duration: Nanos,
    /// Users of the closed loop.
    pub users: u32,
    /// What ends the closed loop.
    pub closed_end: ClosedEnd,
    /// Limits of both loops.
    pub limits: Limits,
}

impl Settings {
    /// The settings that mean `scenario`, with as many `users` in the closed loop; `None` where the page has no slider for
    /// something in it.
    pub fn of_scenario(scenario: &Scenario, users: u32, closed_end: ClosedEnd) -> Option<Settings> {
        let LoadModel::Open(schedule) = &scenario.workload.model else { return None };
        let Profile::Constant(constant) = &schedule.profile else { return None };
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

    /// As many users as reach `rate` with a service time of `baseline`, by Little's law; at least one.
    pub fn users_for(rate: Rate, baseline: Nanos) -> u32 {
        (rate.as_per_second() * baseline.as_secs_f64()).round().max(1.0) as u32
    }

    /// The load of the open loop.
    pub fn open_loop(&self) -> Workload {
        let horizon = Horizon { duration: Some(self.duration), requests: None };
        let (profile, spacing) = (Profile::constant(self.rate), self.spacing);
        self.workload(LoadModel::Open(Schedule { profile, spacing, seed: 1, horizon }))
    }

    /// The load of the closed loop.
    pub fn closed_loop(&self) -> Workload {
        let planned = (self.duration.as_secs_f64() * self.rate.as_per_second()).round().max(1.0) as u64;
        let horizon = match self.closed_end {
            ClosedEnd::Duration => Horizon { duration: Some(self.duration), requests: None },
            ClosedEnd::Requests => Horizon { duration: None, requests: Some(planned) },
        };
        self.workload(LoadModel::Closed { users: self.users, think_time: Nanos::ZERO, horizon })
    }

    fn workload(&self, model: LoadModel) -> Workload {
        Workload { model, limits: self.limits, warmup: Nanos::ZERO }
    }

    /// The time in which each user of the closed loop was to send a request: what the correction assumes.
    pub fn expected_interval(&self) -> Nanos {
        Nanos::from_secs_f64(f64::from(self.users) / self.rate.as_per_second())
    }

    /// The service and the open loop.
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
