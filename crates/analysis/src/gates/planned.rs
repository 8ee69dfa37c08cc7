//! Gates that a load cannot decide, no matter how the service behaves. Found before the run.

use std::fmt;

use truetail_model::arrival::Profile;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};
use truetail_run::{LlmApi, OfferedLoad};

use super::gate::Gate;
use super::metric::{GateMetric, Statistic};
use crate::support::min_sample_size;
use crate::throughput;

/// Targets are drawn at random. The number of arrivals of a target stays within this many standard deviations of its
/// expected value, except in one of a million runs.
const DEVIATIONS: f64 = 5.0;

/// Facts about a run before it starts.
#[derive(Clone, Debug)]
pub struct PlannedRun<'a> {
    /// Workload to offer.
    pub workload: &'a Workload,
    /// Name and share of arrivals in (0, 1] of each target. `None` if the targets are not known yet.
    pub targets: Option<Vec<(String, f64)>>,
    /// True if answers are checked.
    pub has_checks: bool,
    /// True if commands are started during the run.
    pub has_events: bool,
    /// Reading mode of answers.
    pub reading: ReadingMode,
    /// Flows that sessions follow. Empty without flows.
    pub flows: Vec<String>,
    /// True if an answer may lead to a further request of the same step.
    pub asks_again: bool,
}

/// Reading mode of answers. Each mode includes the findings of the modes before it, except for the last one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ReadingMode {
    /// As a whole.
    Whole,
    /// As streams.
    Streams,
    /// As streams of language models.
    Llm,
    /// As whole answers of language models, which have no times of streams.
    WholeOfLlm,
}

impl ReadingMode {
    /// The mode for answers of this API.
    pub fn of_llm(api: LlmApi) -> ReadingMode {
        if api.comes_whole() { ReadingMode::WholeOfLlm } else { ReadingMode::Llm }
    }

    /// Explains why a condition about times of streams cannot be decided, if answers come whole.
    pub fn objection_to_stream_time(self, condition: &dyn fmt::Display) -> Option<String> {
        (self == ReadingMode::WholeOfLlm).then(|| {
            format!(
                "'{condition}' needs answers that come in pieces, and these come whole; a condition about the whole answer is \
                 'p99 < 200ms', and one about each request 'e2e < 200ms'"
            )
        })
    }
}

impl<'a> PlannedRun<'a> {
    /// Facts about a run of `workload` with the targets in `offered`.
    pub fn new(
        workload: &'a Workload,
        offered: &OfferedLoad,
        has_checks: bool,
        reading: ReadingMode,
    ) -> PlannedRun<'a> {
        let weights: Vec<u32> = match &offered.mix {
            Some(mix) => mix.targets.iter().map(|target| target.weight).collect(),
            None => vec![1],
        };
        let all: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        let share = |weight: u32| f64::from(weight) / all as f64;
        let targets = Some(offered.target_names().into_iter().zip(weights.into_iter().map(share)).collect());
        PlannedRun { workload, targets, has_checks, has_events: false, reading, flows: Vec::new(), asks_again: false }
    }

    /// Sets every target's share to 1. Targets of a recording or a flow have unknown shares, so any of them may get all
    /// arrivals.
    #[must_use]
    pub fn with_unknown_shares(mut self) -> PlannedRun<'a> {
        self.targets.iter_mut().flatten().for_each(|(_, share)| *share = 1.0);
        self
    }

    /// Explains why the gate would stay open in any case, and the remedy. `None` if the gate can be decided.
    pub fn objection(&self, gate: &Gate) -> Option<String> {
        if gate.is_about_checks() && !self.has_checks {
            return Some(format!("'{gate}' needs a check, such as --check 'status == 200'"));
        }
        if gate.is_about_events() && !self.has_events {
            return Some(format!("'{gate}' needs an event: --event COMMAND --event-at TIME"));
        }
        if gate.is_about_llm() && self.reading < ReadingMode::Llm {
            return Some(format!("'{gate}' needs --llm openai-chat or --llm openai-completions"));
        }
        if gate.is_about_streams() && self.reading < ReadingMode::Streams {
            return Some(format!("'{gate}' needs --stream sse or --stream chunks"));
        }
        if let GateMetric::StreamTime(..) = gate.parsed.metric
            && let Some(objection) = self.reading.objection_to_stream_time(gate)
        {
            return Some(objection);
        }
        if gate.is_about_sessions() {
            return self.objection_of_sessions(gate);
        }
        let share = match gate.target() {
            None => 1.0,
            Some(name) => {
                let targets = self.targets.as_deref()?;
                match targets.iter().find(|(known, _)| known == name) {
                    Some((_, share)) => *share,
                    None => return Some(no_such_target(gate, name, targets)),
                }
            }
        };
        let needs_n = match gate.parsed.metric {
            // The number of gaps of a stream is unknown before the run. Each stream has one first event.
            GateMetric::Time(_, Statistic::Quantile(q)) => min_sample_size(q),
            GateMetric::StreamTime(metric, Statistic::Quantile(q)) if metric.is_of_each_arrival() => min_sample_size(q),
            GateMetric::Throughput => throughput::FEWEST,
            _ => return None,
        };
        self.objection_to_few(gate, needs_n, share)
    }

    /// Like [`PlannedRun::objection`], for any condition about quantile `q` of a time of each arrival, such as a
    /// comparison.
    pub fn objection_to_quantile(&self, condition: &dyn fmt::Display, q: f64) -> Option<String> {
        self.objection_to_few(condition, min_sample_size(q), 1.0)
    }

    /// Objection to a condition that needs more arrivals than this load plans for a target with this `share`.
    fn objection_to_few(&self, condition: &dyn fmt::Display, needs_n: u64, share: f64) -> Option<String> {
        let whole = (needs_n as f64 / share).ceil() as u64;
        let planned = self.most_arrivals(whole)?;
        let of_target = if share < 1.0 { " of its target" } else { "" };
        let unit = format!("measured arrivals{of_target}");
        (most_of(planned, share) < needs_n).then(|| {
            let planned = format!("{}{of_target}", (planned as f64 * share) as u64);
            let remedy = self.remedy(whole, self.workload.warmup);
            cannot_be_decided(condition, &format!("{needs_n} {unit}"), &planned, &remedy)
        })
    }

    fn objection_of_sessions(&self, gate: &Gate) -> Option<String> {
        match (&*self.flows, gate.target()) {
            ([], _) => Some(format!("'{gate}' needs sessions that follow a flow: --flow FILE.hurl")),
            ([_], Some(_)) => Some(format!("'{gate}': there is one flow only; leave {{…}} out")),
            (_, None) => self.objection_to_few_sessions(gate),
            (flows, Some(name)) => {
                let names = || flows.iter().map(|flow| format!("'{flow}'")).collect::<Vec<_>>().join(", ");
                let is_known = flows.iter().any(|flow| flow == name);
                if !is_known {
                    return Some(format!("'{gate}': there is no flow '{name}'; there is {}", names()));
                }
                self.objection_to_few_sessions(gate)
            }
        }
    }

    /// Objection to a gate on session times. A flow gets at most all sessions.
    fn objection_to_few_sessions(&self, gate: &Gate) -> Option<String> {
        let GateMetric::SessionTime(Statistic::Quantile(q)) = gate.parsed.metric else { return None };
        let LoadModel::PartlyOpen { sessions, .. } = &self.workload.model else { return None };
        let needs_n = min_sample_size(q);
        let planned = counted(sessions.arrivals(), needs_n);
        (planned < needs_n).then(|| {
            let remedy = self.remedy(needs_n, Nanos::ZERO);
            cannot_be_decided(gate, &format!("{needs_n} sessions"), &planned.to_string(), &remedy)
        })
    }

    /// Returns options that give this many arrivals or sessions after the warm-up.
    fn remedy(&self, arrivals: u64, warmup: Nanos) -> String {
        let horizon = self.workload.model.horizon();
        let at_rate = self.rate().map(|rate| arrivals as f64 / rate);
        let at_rate = at_rate.map(|seconds| Nanos::from_secs((seconds + warmup.as_secs_f64()).ceil() as u64));
        match (horizon.requests, horizon.duration, at_rate) {
            (Some(_), None, _) => format!("use -n {arrivals}"),
            (Some(_), Some(_), Some(duration)) => format!("use -n {arrivals} -d {duration}"),
            (None, Some(_), Some(duration)) => format!("use -d {duration}, or a higher rate"),
            _ => "use a longer run or a higher rate".to_owned(),
        }
    }

    /// Arrivals or sessions per second, if the rate is constant.
    fn rate(&self) -> Option<f64> {
        let (LoadModel::Open(schedule) | LoadModel::PartlyOpen { sessions: schedule, .. }) = &self.workload.model
        else {
            return None;
        };
        match &schedule.profile {
            Profile::Constant(constant) => Some(constant.rate.as_per_second()),
            Profile::Stages(_) | Profile::Sine(_) | Profile::Trace(_) => None,
        }
    }

    /// Measured arrivals of the plan, counted up to `enough`. `None` if their number depends on the answers.
    fn most_arrivals(&self, enough: u64) -> Option<u64> {
        match &self.workload.model {
            LoadModel::Open(schedule) => {
                let mut arrivals = schedule.arrivals();
                arrivals.take_before(Timestamp(self.workload.warmup.0));
                Some(counted(arrivals, enough))
            }
            LoadModel::Closed { horizon, .. } => horizon.requests,
            LoadModel::PartlyOpen { .. } if self.asks_again => None,
            LoadModel::PartlyOpen { sessions, requests_per_session, .. } => {
                Some(counted(sessions.arrivals(), enough).saturating_mul(u64::from(*requests_per_session)))
            }
        }
    }
}

/// Counts up to `enough`.
fn counted(arrivals: impl Iterator, enough: u64) -> u64 {
    arrivals.take(usize::try_from(enough).unwrap_or(usize::MAX)).count() as u64
}

fn cannot_be_decided(condition: &dyn fmt::Display, needs: &str, planned: &str, remedy: &str) -> String {
    format!("'{condition}' cannot be decided: it needs {needs}, and this load plans {planned}; {remedy}")
}

fn no_such_target(gate: &Gate, name: &str, targets: &[(String, f64)]) -> String {
    let names: Vec<String> = targets.iter().map(|(name, _)| format!("'{name}'")).collect();
    format!("'{gate}': there is no target '{name}'; there is {}", names.join(", "))
}

/// Largest number of arrivals, out of `n`, that a target with this share may get.
fn most_of(n: u64, share: f64) -> u64 {
    if share >= 1.0 {
        return n;
    }
    let expected = n as f64 * share;
    (expected + DEVIATIONS * libm::sqrt(expected * (1.0 - share))).ceil() as u64
}
