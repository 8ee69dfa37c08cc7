//! The load that each tool must offer in a scenario, and its time limit.

use std::net::SocketAddr;

use truetail_analysis::truth::{StreamTruth, Truth, stream_truth, truth};
use truetail_model::arrival::{Profile, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModel;
use truetail_tools::grpc::METHOD_PATH;
use truetail_tools::{LoadSpec, Tool};

/// Users of a closed tool, as in `ab -c 10`.
pub const USERS: u32 = 10;
/// Connections, workers or virtual users that an open tool may use: 1.5 times the number that a stall of one second
/// occupies.
pub const CONNECTIONS: u32 = 1_500;
/// Timeout of a request if the scenario sets none. Longer than any wait for the service with [`CONNECTIONS`]
/// connections.
const DEFAULT_TIMEOUT: Nanos = Nanos::from_secs(60);
/// Time for a tool to start, to shut down and to write its results.
const STARTUP_ALLOWANCE: Nanos = Nanos::from_secs(30);
/// [`STARTUP_ALLOWANCE`] for tools of language models. Some load gigabytes of libraries in several processes.
const STREAM_STARTUP_ALLOWANCE: Nanos = Nanos::from_secs(180);

/// A scenario that the tools cannot offer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "scenario {scenario} does not fit other load tools: {what}; they need one constant rate, evenly spaced, for a fixed time"
)]
pub struct UnsupportedScenario {
    scenario: String,
    what: &'static str,
}

/// A scenario as a plan for each tool.
#[derive(Clone, Debug)]
pub struct TrialPlan {
    /// The scenario.
    pub scenario: Scenario,
    /// The results of an ideal open-loop client.
    pub truth: Truth,
    /// The results of an ideal client for the streams; `None` if the answers are not streams.
    pub stream_truth: Option<StreamTruth>,
    /// The offered rate.
    pub rate: Rate,
    /// Duration of the load.
    pub duration: Nanos,
    /// Time that a tool may run beyond the duration. After it the tool counts as hung and is ended. It is half a minute
    /// (three minutes for streams) plus the longest response time of the truth.
    pub grace: Nanos,
    /// Requests are calls of gRPC.
    pub grpc: bool,
    /// No server listens: the port of the URL refuses connections.
    pub refuses: bool,
}

impl TrialPlan {
    /// Creates the plan for `scenario`.
    ///
    /// # Errors
    /// [`UnsupportedScenario`] if the tools cannot offer its load.
    pub fn new(scenario: Scenario) -> Result<TrialPlan, UnsupportedScenario> {
        let unsupported = |what| UnsupportedScenario { scenario: scenario.name.clone(), what };
        let LoadModel::Open(schedule) = &scenario.workload.model else {
            return Err(unsupported("its load model is not open"));
        };
        let Profile::Constant(constant) = &schedule.profile else {
            return Err(unsupported("its rate is not constant"));
        };
        let rate = constant.rate;
        let duration = schedule.horizon.duration.ok_or_else(|| unsupported("it has no duration"))?;
        if schedule.spacing != Spacing::Even || schedule.horizon.requests.is_some() {
            return Err(unsupported("it has random gaps, or ends after a number of requests"));
        }
        if !scenario.workload.warmup.is_zero() {
            return Err(unsupported("it has a warm-up, which most of them cannot exclude"));
        }
        if scenario.workload.limits.channels.is_some() {
            return Err(unsupported("its requests are messages on channels"));
        }
        let truth = truth(&scenario).ok_or_else(|| unsupported("its load model is not open"))?;
        let longest = truth.answered().last().copied().unwrap_or_default();
        let stream_truth = stream_truth(&scenario);
        let startup = if stream_truth.is_some() { STREAM_STARTUP_ALLOWANCE } else { STARTUP_ALLOWANCE };
        Ok(TrialPlan {
            truth,
            stream_truth,
            rate,
            duration,
            grace: startup + longest,
            grpc: false,
            refuses: false,
            scenario,
        })
    }

    /// Returns the load that a tool must offer to `url`.
    pub fn load(&self, url: String) -> LoadSpec {
        LoadSpec {
            url,
            rate: self.rate,
            duration: self.duration,
            users: USERS,
            connections: CONNECTIONS,
            timeout: Some(self.scenario.workload.limits.timeout.unwrap_or(DEFAULT_TIMEOUT)),
            answer_tokens: self.scenario.service.stream.map(|stream| stream.content.events * stream.content.tokens),
        }
    }

    /// Returns the URL that `tool` must send to, on a server at this address. A tool that only calls gRPC gets a method
    /// in every plan.
    pub(crate) fn url(&self, address: SocketAddr, tool: &dyn Tool) -> String {
        match self.grpc || !tool.protocols().can(false) {
            true => format!("grpc://{address}{METHOD_PATH}"),
            false => format!("http://{address}{}", self.scenario.path),
        }
    }

    /// Returns the longest time that a tool may run, from its start.
    pub fn limit(&self) -> Nanos {
        self.duration + self.grace
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::scenario::builtin;

    use super::*;

    #[test]
    fn every_builtin_scenario_is_supported() {
        for scenario in builtin::all() {
            let plan = TrialPlan::new(scenario).unwrap();
            let load = plan.load("http://127.0.0.1:1/api".to_owned());
            let rate = match &plan.scenario.name[..2] {
                "06" => 20.0,
                "07" => 50.0,
                _ => 1000.0,
            };
            assert_eq!((load.rate.as_per_second(), load.duration), (rate, Nanos::from_secs(60)));
            assert!(plan.grace >= STARTUP_ALLOWANCE && plan.grace < Nanos::from_secs(240), "{:?}", plan.grace);
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
            let error = TrialPlan::new(Scenario::parse(&text, "x.toml").unwrap()).unwrap_err().to_string();
            assert!(error.contains("constant rate"), "{error}");
        }
    }
}
