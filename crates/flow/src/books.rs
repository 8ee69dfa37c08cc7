//! The books of sessions.

use std::collections::BTreeMap;

use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    EarlyEnd, NotReached, SampledSessions, SessionEnding, SessionFacts, SessionTally, SessionTime, SessionTimes,
    SessionTrail, StepFacts,
};

use crate::pass::EndedPass;

/// How a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionEnd {
    /// Every step was answered as expected.
    Completed,
    /// A step ended it.
    Early(EarlyEnd),
    /// The run ended first.
    InFlight,
    /// It was never begun.
    NeverBegun,
}

/// The steps of a flow, in the order in which a session makes its requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Itinerary {
    /// Name and line of each step.
    pub steps: Vec<(String, usize)>,
    /// The step of each request of a session.
    pub moves: Vec<u32>,
}

/// Counts and times of the measured sessions of one worker.
#[derive(Debug)]
pub struct SessionBooks {
    /// For each number of steps that were begun: sessions that were completed or ended early, those in flight at the
    /// end, and those never begun.
    by_length: Vec<Ends>,
    /// What ended sessions, by the request that did.
    early: BTreeMap<(u32, EarlyEnd), u64>,
    completed: u64,
    times: SessionTimes,
    sampled: SampledSessions,
    /// By step: those that may be several requests.
    passes: Vec<Passes>,
}

/// The ways of all sessions through a step.
#[derive(Clone, Default, Debug)]
struct Passes {
    hops: u64,
    retries: u64,
    most_requests: u32,
    times: SessionTimes,
}

#[derive(Clone, Copy, Default, Debug)]
struct Ends {
    over: u64,
    in_flight: u64,
    never_begun: u64,
}

impl SessionBooks {
    /// Empty ones.
    pub fn new(itinerary: &Itinerary) -> SessionBooks {
        SessionBooks {
            by_length: vec![Ends::default(); itinerary.moves.len() + 1],
            early: BTreeMap::new(),
            completed: 0,
            times: SessionTimes::default(),
            sampled: SampledSessions::default(),
            passes: vec![Passes::default(); itinerary.steps.len()],
        }
    }

    /// A session has left this step, which may be several requests.
    pub(crate) fn pass(&mut self, step: u32, ended: EndedPass) {
        let passes = &mut self.passes[step as usize];
        passes.hops += u64::from(ended.pass.hops);
        passes.retries += u64::from(ended.pass.retries);
        passes.most_requests = passes.most_requests.max(ended.pass.requests);
        passes.times.of_mut(ended.how).record_n(ended.time, 1);
    }

    /// A session that was begun ended at `end`, with so much planned think time behind it. It went this way.
    pub(crate) fn sample(&mut self, trail: &SessionTrail, how: SessionEnd, end: Timestamp, thought: Nanos) {
        let ending = match how {
            SessionEnd::Completed => SessionEnding::Completed,
            SessionEnd::Early(cause) => SessionEnding::EndedEarly(cause),
            SessionEnd::InFlight => SessionEnding::InFlightAtEnd,
            SessionEnd::NeverBegun => return,
        };
        self.sampled.offer_session(trail, end.0, thought.0, ending);
    }

    /// A session ended after so many of its requests were issued. `time`: from its intended arrival to its end, less the
    /// planned think time.
    pub fn record(&mut self, issued: u32, end: SessionEnd, time: Nanos) {
        let ends = &mut self.by_length[issued as usize];
        let kind = match end {
            SessionEnd::Completed => {
                ends.over += 1;
                self.completed += 1;
                SessionTime::Completed
            }
            SessionEnd::Early(cause) => {
                ends.over += 1;
                *self.early.entry((issued.saturating_sub(1), cause)).or_default() += 1;
                if cause == EarlyEnd::TimedOut { SessionTime::Censored } else { SessionTime::Failed }
            }
            SessionEnd::InFlight => {
                ends.in_flight += 1;
                SessionTime::Censored
            }
            SessionEnd::NeverBegun => {
                ends.never_begun += 1;
                SessionTime::Censored
            }
        };
        self.times.of_mut(kind).record_n(time, 1);
    }

    /// The same in the form in which it is kept.
    pub fn facts(&self, flow: &str, itinerary: &Itinerary) -> SessionFacts {
        let sum = |of: fn(&Ends) -> u64| self.by_length.iter().map(of).sum::<u64>();
        let (over, in_flight, never_begun) =
            (sum(|ends| ends.over), sum(|ends| ends.in_flight), sum(|ends| ends.never_begun));
        let tally = SessionTally {
            planned: over + in_flight + never_begun,
            begun: over + in_flight,
            never_begun,
            completed: self.completed,
            ended_early: over - self.completed,
            in_flight_at_end: in_flight,
        };
        SessionFacts {
            flow: flow.to_owned(),
            flows: Vec::new(),
            tally,
            steps: self.steps(itinerary),
            times: self.times.clone(),
            sampled: Some(self.sampled.clone()),
        }
    }

    fn steps(&self, itinerary: &Itinerary) -> Vec<StepFacts> {
        let mut steps: Vec<StepFacts> = itinerary
            .steps
            .iter()
            .zip(&self.passes)
            .map(|((name, line), passes)| StepFacts {
                name: name.clone(),
                line: *line as u64,
                hops: passes.hops,
                retries: passes.retries,
                most_requests: passes.most_requests.into(),
                times: passes.times.clone(),
                ..StepFacts::default()
            })
            .collect();
        let (mut reached, mut missed) = (self.by_length.iter().map(Ends::issued).sum::<u64>(), NotReached::default());
        for (nth, step) in itinerary.moves.iter().enumerate() {
            // Sessions that came this far and no farther did not issue this request.
            let stopped = self.by_length[nth];
            reached -= stopped.issued();
            missed.never_begun += stopped.never_begun;
            missed.ended_early += stopped.over;
            missed.run_ended += stopped.in_flight;
            let step = &mut steps[*step as usize];
            step.per_session += 1;
            step.reached += reached;
            step.not_reached.never_begun += missed.never_begun;
            step.not_reached.ended_early += missed.ended_early;
            step.not_reached.run_ended += missed.run_ended;
        }
        for ((nth, cause), count) in &self.early {
            *steps[itinerary.moves[*nth as usize] as usize].ended_here.entry(*cause).or_default() += count;
        }
        steps
    }
}

impl Ends {
    /// Sessions that were begun.
    fn issued(&self) -> u64 {
        self.over + self.in_flight
    }
}
