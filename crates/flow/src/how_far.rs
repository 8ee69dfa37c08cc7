//! Counts of the steps that sessions reached, and reasons why they did not reach others.

use truetail_run::{NotReached, StepFacts};

use crate::itinerary::Itinerary;

/// Outcome of a session, as needed for the steps that it did not reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionStop {
    Completed,
    EndedEarly,
    InFlight,
    NeverBegun,
}

/// Progress of a session at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionReach<'a> {
    /// Number of steps that it has begun.
    pub(crate) issued: u32,
    /// The step of its last request.
    pub(crate) last_step: u32,
    /// If it chooses its steps: how often it has begun each.
    pub(crate) visits: &'a [u32],
}

impl SessionReach<'static> {
    /// Progress of a session that never began.
    pub(crate) const NOWHERE: SessionReach<'static> = SessionReach { issued: 0, last_step: 0, visits: &[] };
}

/// Progress of all sessions.
#[derive(Debug)]
pub(crate) enum StepReach {
    InOrder(InOrder),
    Chosen(Chosen),
}

impl StepReach {
    pub(crate) fn new(itinerary: &Itinerary) -> StepReach {
        match &itinerary.moves {
            Some(moves) => StepReach::InOrder(InOrder(vec![Ends::default(); moves.len() + 1])),
            None => StepReach::Chosen(Chosen(vec![Visits::default(); itinerary.steps.len()])),
        }
    }

    pub(crate) fn record(&mut self, reach: SessionReach<'_>, stop: SessionStop) {
        match self {
            StepReach::InOrder(of) => of.record(reach.issued, stop),
            StepReach::Chosen(of) => of.record(reach.visits, stop),
        }
    }

    /// Adds its counts to `steps`.
    pub(crate) fn add_to(&self, steps: &mut [StepFacts], itinerary: &Itinerary) {
        match self {
            StepReach::InOrder(of) => of.add_to(steps, itinerary.moves.as_deref().unwrap_or_default()),
            StepReach::Chosen(of) => of.add_to(steps),
        }
    }
}

/// Sessions that go through all steps in one order. Index n counts the sessions that ended after beginning n steps.
#[derive(Debug)]
pub(crate) struct InOrder(Vec<Ends>);

#[derive(Clone, Copy, Default, Debug)]
struct Ends {
    completed: u64,
    ended_early: u64,
    in_flight: u64,
    never_begun: u64,
}

impl Ends {
    /// Sessions that began.
    fn issued(&self) -> u64 {
        self.completed + self.ended_early + self.in_flight
    }
}

impl InOrder {
    fn record(&mut self, issued: u32, stop: SessionStop) {
        let ends = &mut self.0[issued as usize];
        match stop {
            SessionStop::Completed => ends.completed += 1,
            SessionStop::EndedEarly => ends.ended_early += 1,
            SessionStop::InFlight => ends.in_flight += 1,
            SessionStop::NeverBegun => ends.never_begun += 1,
        }
    }

    fn add_to(&self, steps: &mut [StepFacts], moves: &[u32]) {
        let mut reached = self.0.iter().map(Ends::issued).sum::<u64>();
        let mut missed = NotReached::default();
        for (nth, step) in moves.iter().enumerate() {
            // Sessions that stopped here did not issue this request.
            let stopped = self.0[nth];
            reached -= stopped.issued();
            missed.never_begun += stopped.never_begun;
            missed.not_asked += stopped.completed;
            missed.ended_early += stopped.ended_early;
            missed.run_ended += stopped.in_flight;
            let step = &mut steps[*step as usize];
            step.per_session += 1;
            step.reached += reached;
            step.not_reached.add(missed);
        }
    }
}

/// Sessions that choose their steps, by step.
#[derive(Debug)]
pub(crate) struct Chosen(Vec<Visits>);

#[derive(Clone, Copy, Default, Debug)]
struct Visits {
    reached: u64,
    repeats: u64,
    most: u32,
    missed: NotReached,
}

impl Chosen {
    fn record(&mut self, visits: &[u32], stop: SessionStop) {
        for (nth, of) in self.0.iter_mut().enumerate() {
            let visits = visits.get(nth).copied().unwrap_or(0);
            if visits > 0 {
                of.reached += 1;
                of.repeats += u64::from(visits - 1);
                of.most = of.most.max(visits);
                continue;
            }
            let missed = &mut of.missed;
            let cause = match stop {
                SessionStop::Completed => &mut missed.not_asked,
                SessionStop::EndedEarly => &mut missed.ended_early,
                SessionStop::InFlight => &mut missed.run_ended,
                SessionStop::NeverBegun => &mut missed.never_begun,
            };
            *cause += 1;
        }
    }

    fn add_to(&self, steps: &mut [StepFacts]) {
        for (step, visits) in steps.iter_mut().zip(&self.0) {
            step.per_session = 1;
            step.reached += visits.reached;
            step.repeats += visits.repeats;
            // The maximum is only stated if a step may take several requests.
            step.most_requests = if visits.most > 1 { visits.most.into() } else { 0 };
            step.not_reached.add(visits.missed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itinerary::ItineraryStep;

    #[test]
    fn a_session_that_chooses_has_each_step_reached_or_not() {
        let place = |name: &str| ItineraryStep { name: name.to_owned(), line: 0, asks_again: false };
        let steps = ["login", "list", "buy"].map(place).to_vec();
        let itinerary = Itinerary { name: "shop".to_owned(), weight: 1, first_step: 0, steps, moves: None };
        let mut how_far = StepReach::new(&itinerary);
        let ends: [(&[u32], SessionStop); 5] = [
            (&[1, 3, 0], SessionStop::Completed),
            (&[1, 1, 1], SessionStop::Completed),
            (&[1, 0, 0], SessionStop::EndedEarly),
            (&[1, 0, 0], SessionStop::InFlight),
            (&[], SessionStop::NeverBegun),
        ];
        ends.into_iter()
            .for_each(|(visits, stop)| how_far.record(SessionReach { visits, ..SessionReach::NOWHERE }, stop));
        let mut facts = vec![StepFacts::default(); 3];
        how_far.add_to(&mut facts, &itinerary);
        let counts: Vec<_> = facts.iter().map(|step| (step.reached, step.repeats, step.most_requests)).collect();
        assert_eq!(counts, [(4, 0, 0), (2, 2, 3), (1, 0, 0)]);
        let of_buy = NotReached { not_asked: 1, ended_early: 1, run_ended: 1, never_begun: 1 };
        assert_eq!(facts[2].not_reached, of_buy);
        assert!(facts.iter().all(|step| step.reached + step.not_reached.total() == 5 && step.per_session == 1));
    }
}
