//! What became of sessions (`--flow`).

use serde::{Deserialize, Serialize};

use super::sampled_sessions::SampledSessions;
use super::session_books::{SessionTally, StepFacts};
use super::session_part::SessionPart;
use super::session_times::SessionTimes;

/// The sessions of a run: how they ended, and how far they came. Sessions of the warm-up are in none of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SessionFacts {
    /// What each session does: the name of the file. Of several flows, their names after each other.
    pub flow: String,
    /// Where there are several flows, each of them. Their steps follow each other in `steps`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowFacts>,
    /// How they ended.
    pub tally: SessionTally,
    /// Their steps, in order.
    pub steps: Vec<StepFacts>,
    /// The times, which are saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: SessionTimes,
    /// A few in full, which are saved in `sessions.json`; `None` where a run was saved without them.
    #[serde(skip)]
    pub sampled: Option<SampledSessions>,
}

/// One of several flows, and its sessions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FlowFacts {
    /// What it is called.
    pub name: String,
    /// A session follows it with a chance of this, divided by the sum of all weights.
    pub weight: u32,
    /// How many of the steps are its own.
    pub steps: usize,
    /// How its sessions ended.
    pub tally: SessionTally,
    /// Their times, which are saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: SessionTimes,
}

impl SessionFacts {
    /// The sessions of several flows, each with its weight: one flow is what it was. `None` without any.
    pub fn together(mut flows: Vec<(u32, SessionFacts)>) -> Option<SessionFacts> {
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

    /// All sessions.
    pub fn whole(&self) -> SessionPart<'_> {
        SessionPart { tally: &self.tally, times: &self.times, first_step: 0, steps: &self.steps }
    }

    /// The sessions of the flow with this name, where there are several.
    pub fn of_flow(&self, name: &str) -> Option<SessionPart<'_>> {
        self.flows.iter().zip(self.parts()).find(|(flow, _)| flow.name == name).map(|(_, part)| part)
    }

    /// The sessions of each flow; one flow is all of it.
    pub fn parts<'a>(&'a self) -> Vec<SessionPart<'a>> {
        if self.flows.is_empty() {
            return vec![self.whole()];
        }
        let mut end = 0_usize;
        let part = |flow: &'a FlowFacts| {
            let first_step = end;
            end = first_step.saturating_add(flow.steps).min(self.steps.len());
            SessionPart { tally: &flow.tally, times: &flow.times, first_step, steps: &self.steps[first_step..end] }
        };
        self.flows.iter().map(part).collect()
    }

    /// The mean number of steps that a planned session has.
    pub fn steps_per_session(&self) -> f64 {
        let of_part = |part: &SessionPart<'_>| {
            let steps: u64 = part.steps.iter().fold(0, |sum, step| sum.saturating_add(step.per_session));
            part.tally.planned as f64 * steps as f64
        };
        self.parts().iter().map(of_part).sum::<f64>() / self.tally.planned.max(1) as f64
    }
    /// Adds those of another part of the run. A file may hold any counts, so sums saturate.
    pub fn merge(&mut self, other: &SessionFacts) {
        self.add(other);
        self.steps.iter_mut().zip(&other.steps).for_each(|(whole, part)| whole.merge(part));
        for (whole, part) in self.flows.iter_mut().zip(&other.flows) {
            whole.tally.merge(&part.tally);
            whole.times.merge(&part.times);
        }
    }

    /// Adds sessions, their steps apart.
    fn add(&mut self, other: &SessionFacts) {
        self.tally.merge(&other.tally);
        self.times.merge(&other.times);
        // What one part does not have is not known of the whole.
        self.sampled = match (self.sampled.take(), &other.sampled) {
            (Some(mut sampled), Some(part)) => {
                sampled.merge(part);
                Some(sampled)
            }
            _ => None,
        };
    }

    /// The sessions do the same, so that the two may be added.
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

    /// Why this is what no run can have: `None` where its books balance.
    pub fn imbalance(&self) -> Option<String> {
        if self.flows.is_empty() {
            return self.whole().imbalance();
        }
        let of_flow = |(flow, part): (&FlowFacts, SessionPart<'_>)| {
            part.imbalance().map(|why| format!("flow {}: {why}", flow.name))
        };
        self.flows.iter().zip(self.parts()).find_map(of_flow).or_else(|| self.imbalance_of_sum())
    }

    /// The same of what several flows are together.
    fn imbalance_of_sum(&self) -> Option<String> {
        let (mut tally, mut times, mut steps) = (SessionTally::default(), SessionTimes::default(), 0_usize);
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
            self.whole().imbalance_of_ends()
        }
    }

    /// Why the sampled sessions cannot be some of these; `None` where they can, or where there are none.
    pub fn imbalance_of_sample(&self) -> Option<&'static str> {
        self.sampled.as_ref()?.problem(self.tally.begun, &self.parts())
    }
}
