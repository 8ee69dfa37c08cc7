//! Sessions of a run (`--flow`).

use serde::{Deserialize, Serialize};

use super::sampled_sessions::SampledSessions;
use super::session_books::{SessionTally, StepFacts};
use super::session_part::SessionPart;
use super::session_times::SessionTimes;

/// The sessions of a run (`--flow`): how they ended, and how far they came. Sessions of the warm-up are left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SessionFacts {
    /// Name of the flow's file. With several flows, all names.
    pub flow: String,
    /// Each flow, if there are several. Their steps follow each other in `steps`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowFacts>,
    /// Counts of the sessions by ending.
    pub tally: SessionTally,
    /// Their steps, in order.
    pub steps: Vec<StepFacts>,
    /// Sessions all of whose requests met the objectives of each request (`--agents` with `--slo`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<SessionGoodput>,
    /// Session times, saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: SessionTimes,
    /// A few sessions in full, saved in `sessions.json`; `None` if a run was saved without them.
    #[serde(skip)]
    pub sampled: Option<SampledSessions>,
}

/// Completed sessions by the objectives of each request. The other planned sessions met nothing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct SessionGoodput {
    /// Sessions all of whose requests met all objectives.
    pub met: u64,
    /// Sessions of whose requests none missed an objective, and at least one cannot be told.
    pub cannot_tell: u64,
}

/// One of several flows, and its sessions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FlowFacts {
    /// Name of the flow.
    pub name: String,
    /// Weight. A session follows this flow with a chance of its weight divided by the sum of all weights.
    pub weight: u32,
    /// Number of steps.
    pub steps: usize,
    /// Counts of its sessions by ending.
    pub tally: SessionTally,
    /// Times of its sessions, saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: SessionTimes,
}

impl SessionFacts {
    /// Combines several flows, each with its weight. A single flow is returned unchanged. `None` if there are no flows.
    pub fn from_flows(mut flows: Vec<(u32, SessionFacts)>) -> Option<SessionFacts> {
        if flows.len() < 2 {
            return flows.pop().map(|(_, facts)| facts);
        }
        let of_flow = |(weight, facts): &(u32, SessionFacts)| FlowFacts {
            name: facts.flow.clone(),
            weight: *weight,
            steps: facts.steps.len(),
            tally: facts.tally,
            times: facts.times.clone(),
        };
        let each = flows.iter().map(of_flow).collect();
        let mut all = flows.into_iter().map(|(_, facts)| facts);
        let mut whole = all.next()?;
        for facts in all {
            whole.flow = format!("{}, {}", whole.flow, facts.flow);
            whole.add(&facts);
            whole.steps.extend(facts.steps);
        }
        whole.flows = each;
        Some(whole)
    }

    /// Returns all sessions.
    pub fn all_sessions(&self) -> SessionPart<'_> {
        SessionPart { tally: &self.tally, times: &self.times, first_step: 0, steps: &self.steps }
    }

    /// Returns the sessions of the flow with this name, if there are several flows.
    pub fn for_flow(&self, name: &str) -> Option<SessionPart<'_>> {
        self.flows.iter().zip(self.parts()).find(|(flow, _)| flow.name == name).map(|(_, part)| part)
    }

    /// Returns the sessions of each flow. With one flow, all sessions.
    pub fn parts<'a>(&'a self) -> Vec<SessionPart<'a>> {
        if self.flows.is_empty() {
            return vec![self.all_sessions()];
        }
        let mut end = 0_usize;
        let part = |flow: &'a FlowFacts| {
            let first_step = end;
            end = first_step.saturating_add(flow.steps).min(self.steps.len());
            SessionPart { tally: &flow.tally, times: &flow.times, first_step, steps: &self.steps[first_step..end] }
        };
        self.flows.iter().map(part).collect()
    }

    /// Returns the mean number of steps of a planned session.
    pub fn steps_per_session(&self) -> f64 {
        let of_part = |part: &SessionPart<'_>| -> f64 {
            let planned = part.tally.planned;
            part.steps.iter().map(|step| step.planned_in(planned) as f64).sum()
        };
        self.parts().iter().map(of_part).sum::<f64>() / self.tally.planned.max(1) as f64
    }
    /// Adds the sessions of another part of the run. Sums saturate, since files may hold any counts.
    pub fn merge(&mut self, other: &SessionFacts) {
        self.add(other);
        self.steps.iter_mut().zip(&other.steps).for_each(|(whole, part)| whole.merge(part));
        for (whole, part) in self.flows.iter_mut().zip(&other.flows) {
            whole.tally.merge(&part.tally);
            whole.times.merge(&part.times);
        }
    }

    fn add(&mut self, other: &SessionFacts) {
        self.tally.merge(&other.tally);
        self.times.merge(&other.times);
        self.goodput = self.goodput.zip(other.goodput).map(|(sum, part)| SessionGoodput {
            met: sum.met.saturating_add(part.met),
            cannot_tell: sum.cannot_tell.saturating_add(part.cannot_tell),
        });
        // The samples of the whole are known only if every part has samples.
        self.sampled = match (self.sampled.take(), &other.sampled) {
            (Some(mut sampled), Some(part)) => {
                sampled.merge(part);
                Some(sampled)
            }
            _ => None,
        };
    }

    /// Returns true if both have the same flows and steps, so that they can be added.
    pub fn is_alike(&self, other: &SessionFacts) -> bool {
        let steps = |facts: &SessionFacts| -> Vec<(String, u64)> {
            facts.steps.iter().map(|step| (step.name.clone(), step.per_session)).collect()
        };
        let flows = |facts: &SessionFacts| -> Vec<(String, u32, usize)> {
            facts.flows.iter().map(|flow| (flow.name.clone(), flow.weight, flow.steps)).collect()
        };
        let pairs = || self.steps.iter().zip(&other.steps);
        self.flow == other.flow
            && flows(self) == flows(other)
            && steps(self) == steps(other)
            && !pairs().any(|(mine, theirs)| mine.lacks_times_of(theirs) || theirs.lacks_times_of(mine))
    }

    /// Returns the reason why no run can have these books; `None` if they balance.
    pub fn imbalance(&self) -> Option<String> {
        let judged = self.goodput.map_or(0, |goodput| goodput.met.saturating_add(goodput.cannot_tell));
        if judged > self.tally.completed {
            return Some(format!("{judged} sessions were judged, of {} completed", self.tally.completed));
        }
        if self.flows.is_empty() {
            return self.all_sessions().imbalance();
        }
        let of_flow = |(flow, part): (&FlowFacts, SessionPart<'_>)| {
            part.imbalance().map(|why| format!("flow {}: {why}", flow.name))
        };
        self.flows.iter().zip(self.parts()).find_map(of_flow).or_else(|| self.imbalance_of_sum())
    }

    /// Returns the reason why the flows do not add up to the whole; `None` if they do.
    fn imbalance_of_sum(&self) -> Option<String> {
        let mut tally = SessionTally::default();
        let mut times = SessionTimes::default();
        let mut steps = 0_usize;
        for flow in &self.flows {
            tally.merge(&flow.tally);
            times.merge(&flow.times);
            steps = steps.saturating_add(flow.steps);
        }
        let is_twice = |(nth, flow): (usize, &FlowFacts)| self.flows[..nth].iter().any(|other| other.name == flow.name);
        if tally != self.tally || times != self.times {
            Some("the flows have other sessions than there are in all".to_owned())
        } else if steps != self.steps.len() {
            Some(format!("the flows have {steps} steps, of {}", self.steps.len()))
        } else if self.flows.len() == 1 || self.flows.iter().enumerate().any(is_twice) {
            Some("there are several flows, each with a name of its own, or none".to_owned())
        } else if self.flows.iter().any(|flow| flow.weight == 0) {
            Some("a flow has no weight".to_owned())
        } else {
            self.all_sessions().imbalance_of_ends()
        }
    }

    /// Returns the reason why the sampled sessions cannot belong to these books; `None` if they can or are absent.
    pub fn imbalance_of_sample(&self) -> Option<&'static str> {
        self.sampled.as_ref()?.problem(self.tally.begun, &self.parts())
    }
}
