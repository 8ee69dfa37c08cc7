use std::collections::BTreeMap;

use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    EarlyEnd, SampledSessions, SessionEnding, SessionFacts, SessionTally, SessionTime, SessionTimes, SessionTrail,
    StepFacts,
};

use crate::how_far::{SessionReach, SessionStop, StepReach};
use crate::itinerary::{Itinerary, ItineraryStep};
use crate::pass::EndedPass;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionOutcome {
    /// Every step was answered as expected.
    Completed,
    /// A step ended the session.
    Early(EarlyEnd),
    /// The run ended first.
    InFlight,
    /// The session never began.
    NeverBegun,
}

/// Counts and times of the measured sessions of one worker.
#[derive(Debug)]
pub(crate) struct SessionBooks {
    how_far: StepReach,
    /// Causes that ended sessions, by step.
    early: BTreeMap<(u32, EarlyEnd), u64>,
    tally: SessionTally,
    times: SessionTimes,
    sampled: SampledSessions,
    /// By step.
    passes: Vec<Passes>,
}

/// The passes of all sessions through a step.
#[derive(Clone, Default, Debug)]
struct Passes {
    hops: u64,
    retries: u64,
    most_requests: u32,
    times: SessionTimes,
}

impl SessionBooks {
    pub(crate) fn new(itinerary: &Itinerary) -> SessionBooks {
        SessionBooks {
            how_far: StepReach::new(itinerary),
            early: BTreeMap::new(),
            tally: SessionTally::default(),
            times: SessionTimes::default(),
            sampled: SampledSessions::default(),
            passes: vec![Passes::default(); itinerary.steps.len()],
        }
    }

    /// Records a pass through a step that may take several requests.
    pub(crate) fn pass(&mut self, step: u32, ended: EndedPass) {
        let passes = &mut self.passes[step as usize];
        passes.hops += u64::from(ended.pass.hops);
        passes.retries += u64::from(ended.pass.retries);
        passes.most_requests = passes.most_requests.max(ended.pass.requests);
        passes.times.get_mut(ended.how).record_n(ended.time, 1);
    }

    /// Offers a session that began to the sample. It ended at `end` after the planned think time `thought`.
    pub(crate) fn sample(&mut self, trail: &SessionTrail, how: SessionOutcome, end: Timestamp, thought: Nanos) {
        let ending = match how {
            SessionOutcome::Completed => SessionEnding::Completed,
            SessionOutcome::Early(cause) => SessionEnding::EndedEarly(cause),
            SessionOutcome::InFlight => SessionEnding::InFlightAtEnd,
            SessionOutcome::NeverBegun => return,
        };
        self.sampled.offer_session(trail, end.0, thought.0, ending);
    }

    /// Records the end of a session. `time` is from its intended arrival to its end, less the planned think time.
    pub(crate) fn record(&mut self, reach: SessionReach<'_>, end: SessionOutcome, time: Nanos) {
        let tally = &mut self.tally;
        let (count, stop, kind) = match end {
            SessionOutcome::Completed => (&mut tally.completed, SessionStop::Completed, SessionTime::Completed),
            SessionOutcome::Early(EarlyEnd::TimedOut) => {
                (&mut tally.ended_early, SessionStop::EndedEarly, SessionTime::Censored)
            }
            SessionOutcome::Early(_) => (&mut tally.ended_early, SessionStop::EndedEarly, SessionTime::Failed),
            SessionOutcome::InFlight => (&mut tally.in_flight_at_end, SessionStop::InFlight, SessionTime::Censored),
            SessionOutcome::NeverBegun => (&mut tally.never_begun, SessionStop::NeverBegun, SessionTime::Censored),
        };
        *count += 1;
        tally.planned += 1;
        tally.begun += u64::from(stop != SessionStop::NeverBegun);
        if let SessionOutcome::Early(cause) = end {
            *self.early.entry((reach.last_step, cause)).or_default() += 1;
        }
        self.how_far.record(reach, stop);
        self.times.get_mut(kind).record_n(time, 1);
    }

    /// Returns the counts and times in their final form.
    pub(crate) fn facts(&self, itinerary: &Itinerary) -> SessionFacts {
        SessionFacts {
            flow: itinerary.name.clone(),
            flows: Vec::new(),
            tally: self.tally,
            steps: self.steps(itinerary),
            goodput: None,
            times: self.times.clone(),
            sampled: Some(self.sampled.clone()),
        }
    }

    fn steps(&self, itinerary: &Itinerary) -> Vec<StepFacts> {
        let facts = |(place, passes): (&ItineraryStep, &Passes)| StepFacts {
            name: place.name.clone(),
            line: place.line as u64,
            hops: passes.hops,
            retries: passes.retries,
            most_requests: passes.most_requests.into(),
            times: passes.times.clone(),
            ..StepFacts::default()
        };
        let mut steps: Vec<StepFacts> = itinerary.steps.iter().zip(&self.passes).map(facts).collect();
        self.how_far.add_to(&mut steps, itinerary);
        for ((step, cause), count) in &self.early {
            *steps[*step as usize].ended_here.entry(*cause).or_default() += count;
        }
        steps
    }
}
