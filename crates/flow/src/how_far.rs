//! How far sessions came: which steps were reached, and why others were not.

use truetail_run::{NotReached, StepFacts};

use crate::itinerary::Itinerary;

/// How a session ended, as far as it matters to the steps that it did not reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    Completed,
    EndedEarly,
    InFlight,
    NeverBegun,
}

/// How far a session came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach<'a> {
    /// Steps that it has begun, one after the other.
    pub(crate) issued: u32,
    /// The step whose request it made last.
    pub(crate) last_step: u32,
    /// Where it chooses its steps, how often it has begun each.
    pub(crate) visits: &'a [u32],
}

impl Reach<'static> {
    /// It did not begin.
    pub(crate) const NOWHERE: Reach<'static> = Reach { issued: 0, last_step: 0, visits: &[] };
}

/// How far all sessions came.
#[derive(Debug)]
pub(crate) enum HowFar {
    InOrder(InOrder),
    Chosen(Chosen),
}

impl HowFar {
    pub(crate) fn new(itinerary: &Itinerary) -> HowFar {
        match &itinerary.moves {
            Some(moves) => HowFar::InOrder(InOrder(vec![Ends::default(); moves.len() + 1])),
            None => HowFar::Chosen(Chosen(vec![Visits::default(); itinerary.steps.len()])),
        }
    }

    /// A session has ended.
    pub(crate) fn record(&mut self, reach: Reach<'_>, stop: Stop) {
        match self {
            HowFar::InOrder(of) => of.record(reach.issued, stop),
            HowFar::Chosen(of) => of.record(reach.visits, stop),
        }
    }

    /// Adds what it says of steps to them.
    pub(crate) fn add_to(&self, steps: &mut [StepFacts], itinerary: &Itinerary) {
        match self {
            HowFar::InOrder(of) => of.add_to(steps, itinerary.moves.as_deref().unwrap_or_default()),
            HowFar::Chosen(of) => of.add_to(steps),
        }
    }
}

/// Of sessions that go through all steps in one order: for each number of steps that were begun, how many sessions came so far
/// and no farther.
#[derive(Debug)]
pub(crate) struct InOrder(Vec<Ends>);

#[derive(Clone, Copy, Default, Debug)]
struct Ends {
    over: u64,
    in_flight: u64,
    never_begun: u64,
}

impl Ends {
    /// Sessions that were begun.
    fn issued(&self) -> u64 {
        self.over + self.in_flight
    }
}

impl InOrder {
    fn record(&mut self, issued: u32, stop: Stop) {
        let ends = &mut self.0[issued as usize];
        match stop {
            Stop::Completed | Stop::EndedEarly => ends.over += 1,
            Stop::InFlight => ends.in_flight += 1,
            Stop::NeverBegun => ends.never_begun += 1,
        }
    }

    fn add_to(&self, steps: &mut [StepFacts], moves: &[u32]) {
        let (mut reached, mut missed) = (self.0.iter().map(Ends::issued).sum::<u64>(), NotReached::default());
        for (nth, step) in moves.iter().enumerate() {
            // Sessions that came this far and no farther did not issue this request.
            let stopped = self.0[nth];
            reached -= stopped.issued();
            missed.never_begun += stopped.never_begun;
            missed.ended_early += stopped.over;
            missed.run_ended += stopped.in_flight;
            let step = &mut steps[*step as usize];
            step.per_session += 1;
            step.reached += reached;
            step.not_reached.add(missed);
        }
    }
}

/// Of sessions that choose their steps, by step.
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
    fn record(&mut self, visits: &[u32], stop: Stop) {
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
                Stop::Completed => &mut missed.not_asked,
                Stop::EndedEarly => &mut missed.ended_early,
                Stop::InFlight => &mut missed.run_ended,
                Stop::NeverBegun => &mut missed.never_begun,
            };
            *cause += 1;
        }
    }

    fn add_to(&self, steps: &mut [StepFacts]) {
        for (step, visits) in steps.iter_mut().zip(&self.0) {
            step.per_session = 1;
            step.reached += visits.reached;
            step.repeats += visits.repeats;
            // As of any step that is always one request, nothing is said of the most.
            step.most_requests = if visits.most > 1 { visits.most.into() } else { 0 };
            step.not_reached.add(visits.missed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itinerary::Place;

    #[test]
    fn a_session_that_chooses_has_each_step_reached_or_not() {
        let place = |name: &str| Place { name: name.to_owned(), line: 0, asks_again: false };
        let steps = ["login", "list", "buy"].map(place).to_vec();
        let itinerary = Itinerary { name: "shop".to_owned(), weight: 1, first_step: 0, steps, moves: None };
        let mut how_far = HowFar::new(&itinerary);
        let ends: [(&[u32], Stop); 5] = [
            (&[1, 3, 0], Stop::Completed),
            (&[1, 1, 1], Stop::Completed),
            (&[1, 0, 0], Stop::EndedEarly),
            (&[1, 0, 0], Stop::InFlight),
            (&[], Stop::NeverBegun),
        ];
        ends.into_iter().for_each(|(visits, stop)| how_far.record(Reach { visits, ..Reach::NOWHERE }, stop));
        let mut facts = vec![StepFacts::default(); 3];
        how_far.add_to(&mut facts, &itinerary);
        let counts: Vec<_> = facts.iter().map(|step| (step.reached, step.repeats, step.most_requests)).collect();
        assert_eq!(counts, [(4, 0, 0), (2, 2, 3), (1, 0, 0)]);
        let of_buy = NotReached { not_asked: 1, ended_early: 1, run_ended: 1, never_begun: 1 };
        assert_eq!(facts[2].not_reached, of_buy);
        assert!(facts.iter().all(|step| step.reached + step.not_reached.total() == 5 && step.per_session == 1));
    }
}
