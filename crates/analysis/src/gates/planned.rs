//! Gates that a load cannot decide, however the service behaves: what is known before it.

use std::fmt;

use truetail_model::arrival::Profile;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{LoadModel, Workload};
use truetail_run::OfferedLoad;

use super::gate::Gate;
use super::metric::{GateMetric, Statistic};
use crate::streams::StreamMetric;
use crate::support::min_sample_size;
use crate::throughput;

/// A target's share of the arrivals is drawn: its number lies within so many standard deviations of what is expected,
/// but once in a million runs.
const DEVIATIONS: f64 = 5.0;

/// What is known of a run before it.
#[derive(Clone, Debug)]
pub struct PlannedRun<'a> {
    /// What is to be offered.
    pub workload: &'a Workload,
    /// The targets: name, and share of the arrivals in (0, 1]; `None` where they are not known yet.
    pub targets: Option<Vec<(String, f64)>>,
    /// Answers are checked.
    pub has_checks: bool,
    /// How answers are read.
    pub reading: Reading,
    /// The flows that sessions follow; empty where they follow none.
    pub flows: Vec<String>,
    /// An answer may lead to a further request of the same step.
    pub asks_again: bool,
}

/// How answers are read, each way with what the one before it finds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reading {
    /// As a whole.
    Whole,
    /// As streams.
    Streams,
    /// As streams of language models.
    Llm,
}

impl<'a> PlannedRun<'a> {
    /// A run of `workload`, which is offered as `offered` says.
    pub fn of(workload: &'a Workload, offered: &OfferedLoad, has_checks: bool, reading: Reading) -> PlannedRun<'a> {
        let weights: Vec<u32> = match &offered.mix {
            Some(mix) => mix.targets.iter().map(|target| target.weight).collect(),
            None => vec![1],
        };
        let all: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        let share = |weight: u32| f64::from(weight) / all as f64;
        let targets = Some(offered.target_names().into_iter().zip(weights.into_iter().map(share)).collect());
        PlannedRun { workload, targets, has_checks, reading, flows: Vec::new(), asks_again: false }
    }

    /// The same where arrivals have their targets from a recording or a flow: how many of those that are offered belong to a
    /// target is not known, so it may be all.
    #[must_use]
    pub fn with_unknown_shares(mut self) -> PlannedRun<'a> {
        self.targets.iter_mut().flatten().for_each(|(_, share)| *share = 1.0);
        self
    }

    /// Why this gate would stay open whatever the service does, and what would help; `None` where it may be decided.
    pub fn objection(&self, gate: &Gate) -> Option<String> {
        if gate.is_about_checks() && !self.has_checks {
            return Some(format!("'{gate}' needs a check, such as --check 'status == 200'"));
        }
        if gate.is_about_llm() && self.reading < Reading::Llm {
            return Some(format!("'{gate}' needs --llm openai-chat or --llm openai-completions"));
        }
        if gate.is_about_streams() && self.reading < Reading::Streams {
            return Some(format!("'{gate}' needs --stream sse or --stream chunks"));
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
            // How many gaps a stream has is not known before; each has one first event.
            GateMetric::Time(_, Statistic::Quantile(q))
            | GateMetric::StreamTime(
                StreamMetric::FirstEvent | StreamMetric::FirstContent | StreamMetric::TimePerOutputToken,
                Statistic::Quantile(q),
            ) => min_sample_size(q),
            GateMetric::Throughput => throughput::FEWEST,
            _ => return None,
        };
        self.objection_to_few(gate, needs_n, share)
    }

    /// The same of another condition about quantile `q` of the response time, such as one of a comparison.
    pub fn objection_to_quantile(&self, condition: &dyn fmt::Display, q: f64) -> Option<String> {
        self.objection_to_few(condition, min_sample_size(q), 1.0)
    }

    /// The objection to a condition that needs more arrivals than the share that this load plans.
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

    /// A flow has at most all of the sessions.
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

    /// How to get so many arrivals or sessions behind a warm-up.
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

    /// Arrivals or sessions a second, if the rate does not move.
    fn rate(&self) -> Option<f64> {
        let (LoadModel::Open(schedule) | LoadModel::PartlyOpen { sessions: schedule, .. }) = &self.workload.model
        else {
            return None;
        };
        match &schedule.profile {
            Profile::Constant(constant) => Some(constant.rate.as_per_second()),
            Profile::Steps(_) | Profile::Ramp(_) | Profile::Sine(_) | Profile::Trace(_) => None,
        }
    }

    /// The measured arrivals of the plan, counted up to `enough`; `None` where the answers decide how many there are.
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

/// How many there are, counted up to `enough`.
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

/// The most arrivals of `n` that a target with this share may get.
fn most_of(n: u64, share: f64) -> u64 {
    if share >= 1.0 {
        return n;
    }
    let expected = n as f64 * share;
    (expected + DEVIATIONS * libm::sqrt(expected * (1.0 - share))).ceil() as u64
}
