//! Books of the measured sessions of a run.

use truetail_model::arrival::Arrival;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{EarlyEnd, SessionFacts, SessionTime};

use crate::books::{SessionBooks, SessionOutcome};
use crate::course::{Course, NextAction};
use crate::how_far::SessionReach;
use crate::itinerary::Itinerary;
use crate::pass::{EndedPass, Pass};

#[derive(Clone, Debug)]
pub(crate) struct SessionResults {
    flows: Vec<FoundFlow>,
    /// The final variables of a session.
    pub(crate) variables: Vec<(String, String)>,
}

/// Results for the sessions of one flow.
#[derive(Clone, Debug)]
struct FoundFlow {
    weight: u32,
    facts: SessionFacts,
    /// By step.
    examples: Vec<Example>,
    nothing_asked: Example,
    /// By step: requests that were due when the run ended, and were never issued.
    left_due: Vec<u64>,
}

impl SessionResults {
    pub(crate) fn nothing(itineraries: Vec<Itinerary>) -> SessionResults {
        MeasuredFlows::new(itineraries, Timestamp::ZERO).found()
    }

    /// Adds results of the same run.
    pub(crate) fn merge(&mut self, other: SessionResults) {
        self.flows.iter_mut().zip(other.flows).for_each(|(mine, theirs)| mine.merge(theirs));
        if self.variables.is_empty() {
            self.variables = other.variables;
        }
    }

    /// Returns the books of all sessions.
    pub(crate) fn facts(&self) -> SessionFacts {
        let of_flows = self.flows.iter().map(|flow| (flow.weight, flow.facts.clone()));
        SessionFacts::from_flows(of_flows.collect()).expect("there is a flow")
    }

    /// Returns each step that ended a session by its answer, with the reason of the earliest such session.
    pub(crate) fn examples(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.flows.iter().flat_map(|flow| flow.facts.steps.iter().zip(&flow.examples));
        pairs.filter_map(|(step, example)| Some((step.name.as_str(), example.as_ref()?.1.as_str())))
    }

    /// Returns how often each step never became due, for the steps of all flows in order. Sessions that were complete
    /// before are not counted.
    pub(crate) fn never_due(&self) -> impl Iterator<Item = u64> {
        let pairs = self.flows.iter().flat_map(|flow| flow.facts.steps.iter().zip(&flow.left_due));
        pairs.map(|(step, left_due)| {
            let missed = step.not_reached;
            missed.total().saturating_sub(missed.not_asked + *left_due)
        })
    }

    /// Returns remarks on sessions that no number expresses.
    pub(crate) fn notes(&self) -> Vec<String> {
        let facts = self.facts();
        let imbalance = facts.imbalance().or_else(|| facts.imbalance_of_sample().map(str::to_owned));
        let imbalance = imbalance.map(|why| format!("a bug of truetail: the books of sessions are wrong: {why}"));
        let asked_nothing = self.flows.iter().filter_map(|flow| flow.nothing_asked.as_ref());
        let asked_nothing = asked_nothing.map(|(_, why)| format!("first session that never made a request: {why}"));
        let first_ends = self.examples().map(|(step, why)| format!("first end at {step}: {why}"));
        imbalance.into_iter().chain(asked_nothing).chain(first_ends).collect()
    }
}

impl FoundFlow {
    fn merge(&mut self, other: FoundFlow) {
        self.facts.merge(&other.facts);
        for (mine, theirs) in self.examples.iter_mut().zip(other.examples) {
            *mine = earlier(mine.take(), theirs);
        }
        self.left_due.iter_mut().zip(other.left_due).for_each(|(mine, theirs)| *mine += theirs);
        self.nothing_asked = earlier(self.nothing_asked.take(), other.nothing_asked);
    }
}

fn earlier(one: Example, other: Example) -> Example {
    [one, other].into_iter().flatten().min_by_key(|(at, _)| *at)
}

/// The books of the sessions of one worker.
#[derive(Debug)]
pub(crate) struct MeasuredFlows(Vec<MeasuredSessions>);

impl MeasuredFlows {
    /// Creates empty books. Sessions that arrive before `measure_from` are not counted.
    pub(crate) fn new(itineraries: Vec<Itinerary>, measure_from: Timestamp) -> MeasuredFlows {
        MeasuredFlows(itineraries.into_iter().map(|of| MeasuredSessions::new(of, measure_from)).collect())
    }

    fn flow_mut(&mut self, flow: u32) -> &mut MeasuredSessions {
        &mut self.0[flow as usize]
    }

    /// Returns the results in their final form.
    pub(crate) fn found(&self) -> SessionResults {
        SessionResults { flows: self.0.iter().map(MeasuredSessions::found).collect(), variables: Vec::new() }
    }

    /// Records that a session ends with the answer to its last request.
    pub(crate) fn record_early_end(&mut self, course: &Course, why: String) {
        self.flow_mut(course.flow).record_early_end(course, why);
    }

    /// Records the end of a request. Returns the time until the session's next request, or `None` at its end.
    pub(crate) fn think(&mut self, course: &mut Course) -> Option<Nanos> {
        self.flow_mut(course.flow).think(course)
    }

    /// Records that the run ended at `now` before `arrival`. The arrival belongs to the session with this `course`, or
    /// to a session that never began and would have followed `flow`. Returns its step among the steps of all flows.
    pub(crate) fn never_issued(
        &mut self,
        course: Option<&mut Course>,
        flow: u32,
        arrival: Arrival,
        now: Timestamp,
    ) -> u32 {
        let course = course.filter(|course| course.is_open);
        let nth = course.as_ref().map_or(flow, |course| course.flow);
        let sessions = self.flow_mut(nth);
        sessions.itinerary.first_step + sessions.never_issued(course, arrival, now)
    }

    /// Ends the run at `now`. A session whose user still thinks is in flight.
    pub(crate) fn finish<'a>(&mut self, courses: impl Iterator<Item = &'a mut Course>, now: Timestamp) {
        for course in courses.filter(|course| course.is_open) {
            self.flow_mut(course.flow).cut_off(course, now);
        }
    }
}

/// Reason why a step ended a session, with that session's arrival. The session that arrived first is kept, because the
/// first session to end varies from run to run.
pub(crate) type Example = Option<(Timestamp, String)>;

/// The books of the measured sessions of one flow.
#[derive(Debug)]
struct MeasuredSessions {
    itinerary: Itinerary,
    books: SessionBooks,
    /// By step.
    examples: Vec<Example>,
    /// Example of a session that ended before its first request.
    nothing_asked: Example,
    /// By step: requests that were due when the run ended, and were never issued.
    left_due: Vec<u64>,
    /// Sessions that arrive before this are not counted.
    measure_from: Timestamp,
}

impl MeasuredSessions {
    fn new(itinerary: Itinerary, measure_from: Timestamp) -> MeasuredSessions {
        let examples = vec![None; itinerary.steps.len()];
        let books = SessionBooks::new(&itinerary);
        let left_due = vec![0; itinerary.steps.len()];
        MeasuredSessions { itinerary, books, examples, nothing_asked: None, left_due, measure_from }
    }

    fn found(&self) -> FoundFlow {
        FoundFlow {
            weight: self.itinerary.weight,
            facts: self.books.facts(&self.itinerary),
            examples: self.examples.clone(),
            nothing_asked: self.nothing_asked.clone(),
            left_due: self.left_due.clone(),
        }
    }

    fn record_early_end(&mut self, course: &Course, why: String) {
        let example = match course.issued() {
            0 => &mut self.nothing_asked,
            _ => &mut self.examples[course.last_step_index() as usize],
        };
        if course.intended >= self.measure_from {
            *example = earlier(example.take(), Some((course.intended, why)));
        }
    }

    fn record(&mut self, intended: Timestamp, reach: SessionReach<'_>, end: SessionOutcome, time: Nanos) {
        if intended >= self.measure_from {
            self.books.record(reach, end, time);
        }
    }

    /// Records a session that has ended.
    fn close(&mut self, course: &mut Course, how: SessionOutcome, end: Timestamp) {
        course.is_open = false;
        let time = end.since(course.intended).saturating_sub(course.thought);
        self.record(course.intended, course.reach(), how, time);
        if course.intended >= self.measure_from {
            self.books.sample(&course.trail, how, end, course.thought);
        }
    }

    /// Records a pass through a step that may take several requests. Its session arrived at `intended`.
    fn pass_ended(&mut self, step: u32, intended: Timestamp, ended: impl FnOnce() -> EndedPass) {
        if self.itinerary.steps[step as usize].asks_again && intended >= self.measure_from {
            self.books.pass(step, ended());
        }
    }

    /// Records the end of the session's current pass.
    fn record_pass(&mut self, course: &Course, how: SessionOutcome, end: Timestamp) {
        let ended = || EndedPass::new(course.pass, time_of_pass(how), end);
        self.pass_ended(course.last_step_index(), course.intended, ended);
    }

    fn think(&mut self, course: &mut Course) -> Option<Nanos> {
        match course.next {
            NextAction::Thinks(think) => {
                self.record_pass(course, SessionOutcome::Completed, course.end);
                Some(think)
            }
            NextAction::Follows => Some(Nanos::ZERO),
            NextAction::Retries(interval) => Some(interval),
            NextAction::Ends(how) => {
                let end = course.end;
                self.record_pass(course, how, end);
                self.close(course, how, end);
                None
            }
            NextAction::Waits => None,
        }
    }

    fn never_issued(&mut self, course: Option<&mut Course>, arrival: Arrival, now: Timestamp) -> u32 {
        let session = course.as_ref().map_or(arrival.intended_start, |course| course.intended);
        // A step that waits for a redirect or a retry has been reached.
        let is_first = !course.as_ref().is_some_and(|course| course.next.stays());
        let step = self.leave_due(course, arrival, now);
        self.left_due[step as usize] += u64::from(is_first && session >= self.measure_from);
        step
    }

    /// Closes the books of a session that is cut off or never began.
    fn leave_due(&mut self, course: Option<&mut Course>, arrival: Arrival, now: Timestamp) -> u32 {
        let Some(course) = course else {
            let intended = arrival.intended_start;
            let first = self.itinerary.first_move();
            self.record(intended, SessionReach::NOWHERE, SessionOutcome::NeverBegun, now.since(intended));
            let pass = Pass::never_begun(intended);
            self.pass_ended(first, intended, || EndedPass::new(pass, SessionTime::Censored, now));
            return first;
        };
        let step = course.step();
        let stays = course.next.stays();
        let pass = if stays { course.pass } else { Pass::never_begun(arrival.intended_start) };
        let intended = course.intended;
        self.pass_ended(step, intended, || EndedPass::new(pass, SessionTime::Censored, now));
        // The planned think time before this request was over.
        course.thought += course.pending_think_time();
        self.close(course, SessionOutcome::InFlight, now);
        step
    }

    /// Records that the run is over while the user thinks or waits for a retry.
    fn cut_off(&mut self, course: &mut Course, now: Timestamp) {
        // Think time is the user's own. The interval of a retry counts as time of the service.
        let end = if course.next.stays() { now.max(course.end) } else { course.end };
        if course.next.stays() {
            self.record_pass(course, SessionOutcome::InFlight, end);
        }
        self.close(course, SessionOutcome::InFlight, end);
    }
}

/// Returns the kind of a pass's time after this end of its session, or after success (`Completed`). Any answer
/// completes a pass.
const fn time_of_pass(how: SessionOutcome) -> SessionTime {
    match how {
        SessionOutcome::InFlight | SessionOutcome::NeverBegun | SessionOutcome::Early(EarlyEnd::TimedOut) => {
            SessionTime::Censored
        }
        SessionOutcome::Early(EarlyEnd::ConnectFailed | EarlyEnd::Reset | EarlyEnd::Malformed) => SessionTime::Failed,
        SessionOutcome::Early(_) | SessionOutcome::Completed => SessionTime::Completed,
    }
}
