//! What every tool is asked to do in a scenario, and how long it may take.

use truetail_analysis::truth::{Truth, truth};
use truetail_model::arrival::{Profile, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModel;
use truetail_tools::Load;

/// Users of a closed tool, as in `ab -c 10`.
pub const USERS: u32 = 10;
/// Connections, workers or virtual users that an open tool may use: half as many again as a stall of a second holds up.
pub const CONNECTIONS: u32 = 1_500;
/// A scenario without a timeout gives each request so long. With [`CONNECTIONS`] nobody waits for the service longer.
const LONGEST_TIMEOUT: Nanos = Nanos::from_secs(60);
/// To start, to wind up, and to write results.
const ALLOWANCE: Nanos = Nanos::from_secs(30);

/// Why a scenario is none for the laboratory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{scenario} is no scenario for other people's tools: they can offer one constant rate, evenly spaced, for a time; {what}"
)]
pub struct Unfit {
    scenario: String,
    what: &'static str,
}

/// A scenario as every tool meets it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The scenario.
    pub scenario: Scenario,
    /// What an ideal open-loop client measures.
    pub truth: Truth,
    /// What is offered.
    pub rate: Rate,
    /// For how long.
    pub duration: Nanos,
    /// A tool that still runs so long after the duration is hung, and is ended: half a minute, and the longest response
    /// time of the truth.
    pub grace: Nanos,
}

impl Setting {
    /// The setting of `scenario`.
    ///
    /// # Errors
    /// [`Unfit`] where the tools cannot offer such a load.
    pub fn of(scenario: Scenario) -> Result<Setting, Unfit> {
        let unfit = |what| Unfit { scenario: scenario.name.clone(), what };
        let LoadModel::Open(schedule) = &scenario.workload.model else {
            return Err(unfit("its load model is not open"));
        };
        let Profile::Constant(constant) = &schedule.profile else { return Err(unfit("its rate is not constant")) };
        let rate = constant.rate;
        let duration = schedule.horizon.duration.ok_or_else(|| unfit("it has no duration"))?;
        if schedule.spacing != Spacing::Even || schedule.horizon.requests.is_some() {
            return Err(unfit("it has gaps from a seed, or ends by a count"));
        }
        if !scenario.workload.warmup.is_zero() {
            return Err(unfit("it has a warm-up, which most of them cannot leave out"));
        }
        let truth = truth(&scenario).ok_or_else(|| unfit("its load model is not open"))?;
        let longest = truth.answered().last().copied().unwrap_or_default();
        Ok(Setting { truth, rate, duration, grace: ALLOWANCE + longest, scenario })
    }

    /// What a tool is asked to do at `url`.
    pub fn load(&self, url: String) -> Load {
        Load {
            url,
            rate: self.rate,
            duration: self.duration,
            users: USERS,
            connections: CONNECTIONS,
            timeout: Some(self.scenario.workload.limits.timeout.unwrap_or(LONGEST_TIMEOUT)),
        }
    }

    /// When a tool is hung, counted from its start.
    pub fn limit(&self) -> Nanos {
        self.duration + self.grace
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::scenario::builtin;

    use super::*;

    #[test]
    fn every_scenario_that_comes_along_is_fit() {
        for scenario in builtin::all() {
            let setting = Setting::of(scenario).unwrap();
            let load = setting.load("http://127.0.0.1:1/api".to_owned());
            assert_eq!((load.rate.as_per_second(), load.duration), (1000.0, Nanos::from_secs(60)));
            assert!(setting.grace >= ALLOWANCE && setting.grace < Nanos::from_secs(120), "{:?}", setting.grace);
        }
    }

    #[test]
    fn what_no_tool_can_offer_is_refused() {
        for workload in [
            "rate = 10\nspacing = \"poisson\"\nduration = \"1s\"",
            "profile = \"ramp:1..2/1s\"\nduration = \"1s\"",
            "rate = 10\nrequests = 10",
            "model = \"closed\"\nusers = 1\nduration = \"1s\"",
        ] {
            let text = format!("[workload]\n{workload}\n[service]\nbaseline = \"1ms\"\n");
            let error = Setting::of(Scenario::parse(&text, "x.toml").unwrap()).unwrap_err().to_string();
            assert!(error.contains("constant rate"), "{error}");
        }
    }
}
