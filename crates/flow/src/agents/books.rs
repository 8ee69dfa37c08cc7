//! The books of the measured sessions of agents.

use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    EarlyEnd, NotReached, SessionFacts, SessionGoodput, SessionTally, SessionTime, SessionTimes, StepFacts,
};
use truetail_stream::AnswerVerdict;

use super::graph::{AgentGraphs, Graph};
use super::progress::CallState;
use super::session::AgentSession;

/// Why a step ended a session, with that session's arrival.
type Example = Option<(Timestamp, String)>;

/// Counts and times of the measured sessions.
#[derive(Clone, Debug)]
pub(super) struct AgentBooks {
    facts: SessionFacts,
    /// By step: the earliest session that it ended.
    examples: Vec<Example>,
    /// By step: calls that were due when the run ended, and never sent.
    left_due: u64,
}

impl AgentBooks {
    /// Creates empty books. `has_objectives` says that each answer is compared with objectives.
    pub(super) fn new(agents: &AgentGraphs, has_objectives: bool) -> AgentBooks {
        let mut steps: Vec<StepFacts> =
            agents.steps().map(|name| StepFacts { name, planned: Some(0), ..StepFacts::default() }).collect();
        for graph in &agents.graphs {
            let mut counts = vec![0; steps.len()];
            for call in &graph.calls {
                let step = &mut steps[call.step() as usize];
                let line = call.line as u64;
                step.line = if step.line == 0 { line } else { step.line.min(line) };
                counts[call.step() as usize] += 1;
            }
            steps.iter_mut().zip(counts).for_each(|(step, count)| step.per_session = step.per_session.max(count));
        }
        AgentBooks {
            examples: vec![None; steps.len()],
            left_due: 0,
            facts: SessionFacts {
                flow: agents.name.clone(),
                flows: Vec::new(),
                tally: SessionTally::default(),
                steps,
                goodput: has_objectives.then(SessionGoodput::default),
                times: SessionTimes::default(),
                sampled: None,
            },
        }
    }

    /// Adds the books of another worker.
    pub(super) fn merge(&mut self, other: AgentBooks) {
        self.facts.merge(&other.facts);
        self.left_due += other.left_due;
        for (mine, theirs) in self.examples.iter_mut().zip(other.examples) {
            *mine = earlier(mine.take(), theirs);
        }
    }

    pub(super) fn facts(&self) -> SessionFacts {
        self.facts.clone()
    }

    /// Returns how many calls never became due.
    pub(super) fn never_due(&self) -> u64 {
        let missed: u64 = self.facts.steps.iter().map(|step| step.not_reached.total()).sum();
        missed.saturating_sub(self.left_due)
    }

    /// Returns remarks on sessions that no number expresses.
    pub(super) fn notes(&self) -> Vec<String> {
        let imbalance = self.facts.imbalance();
        let imbalance = imbalance.map(|why| format!("a bug of truetail: the books of sessions are wrong: {why}"));
        let pairs = self.facts.steps.iter().zip(&self.examples);
        let first_ends = pairs.filter_map(|(step, example)| {
            let (_, why) = example.as_ref()?;
            Some(format!("first end at {}: {why}", step.name))
        });
        imbalance.into_iter().chain(first_ends).collect()
    }

    /// Records a session that never began. It was due at `intended`, and the run ended at `now`.
    pub(super) fn never_begun(&mut self, graph: &Graph, intended: Timestamp, now: Timestamp) {
        let tally = &mut self.facts.tally;
        tally.planned += 1;
        tally.never_begun += 1;
        self.facts.times.get_mut(SessionTime::Censored).record_n(now.since(intended), 1);
        for call in &graph.calls {
            let step = &mut self.facts.steps[call.step() as usize];
            step.not_reached.never_begun += 1;
            plan(step);
        }
        // Its arrival was due.
        self.left_due += 1;
    }

    /// Records a session that has ended at `end`.
    pub(super) fn ended(&mut self, session: &AgentSession, graph: &Graph, end: Timestamp) {
        self.count_calls(session.progress.states(), graph);
        let time = self.count_session(session, graph);
        self.facts.times.get_mut(time).record_n(end.since(session.intended).max(Nanos::ZERO), 1);
    }

    fn count_calls(&mut self, states: &[CallState], graph: &Graph) {
        for (state, call) in states.iter().zip(&graph.calls) {
            let step = &mut self.facts.steps[call.step() as usize];
            plan(step);
            let NotReached { ended_early, run_ended, .. } = &mut step.not_reached;
            match state {
                CallState::Asked => step.reached += 1,
                CallState::Lost => *ended_early += 1,
                CallState::Waits(_) | CallState::Due => *run_ended += 1,
                CallState::LeftDue => {
                    *run_ended += 1;
                    self.left_due += 1;
                }
            }
        }
    }

    /// Counts a session by its ending. Returns the kind of its time.
    fn count_session(&mut self, session: &AgentSession, graph: &Graph) -> SessionTime {
        let tally = &mut self.facts.tally;
        tally.planned += 1;
        tally.begun += 1;
        if let Some(failure) = &session.failure {
            tally.ended_early += 1;
            let call = &graph.calls[failure.call as usize];
            let step = call.step() as usize;
            *self.facts.steps[step].ended_here.entry(failure.cause).or_default() += 1;
            let session_name =
                if graph.name.is_empty() { String::new() } else { format!(" of session '{}'", graph.name) };
            let why = format!("call '{}'{session_name} (line {}): {}", call.id, call.line, failure.why);
            let example = &mut self.examples[step];
            *example = earlier(example.take(), Some((session.intended, why)));
            return match failure.cause {
                EarlyEnd::TimedOut => SessionTime::Censored,
                _ => SessionTime::Failed,
            };
        }
        let is_complete = session.progress.states().iter().all(|state| *state == CallState::Asked);
        if session.is_cut_off || !is_complete {
            tally.in_flight_at_end += 1;
            return SessionTime::Censored;
        }
        tally.completed += 1;
        if let Some(goodput) = &mut self.facts.goodput {
            goodput.met += u64::from(session.worst == Some(AnswerVerdict::Met));
            goodput.cannot_tell += u64::from(session.worst == Some(AnswerVerdict::CannotTell));
        }
        SessionTime::Completed
    }
}

/// Counts a planned call of a step.
fn plan(step: &mut StepFacts) {
    step.planned = step.planned.map(|planned| planned + 1);
}

fn earlier(one: Example, other: Example) -> Example {
    [one, other].into_iter().flatten().min_by_key(|(at, _)| *at)
}
