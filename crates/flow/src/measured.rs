//! The books of the sessions of a run that have ended, as far as they are measured.

use truetail_model::arrival::Arrival;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{EarlyEnd, SessionFacts, SessionTime};

use crate::books::{Itinerary, SessionBooks, SessionEnd};
use crate::course::{Course, Next};
use crate::flow::Flow;
use crate::flows::Flows;
use crate::pass::{EndedPass, Pass};

/// What was found of sessions.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// By flow.
    facts: Vec<SessionFacts>,
    /// By step of all flows.
    examples: Vec<Example>,
    /// What a session left behind in its variables.
    pub(crate) variables: Vec<(String, String)>,
}

impl Found {
    /// Nothing yet.
    pub(crate) fn nothing(flows: &Flows) -> Found {
        MeasuredFlows::new(flows, Timestamp::ZERO).found(flows)
    }

    /// Adds what was found elsewhere in the same run.
    pub(crate) fn merge(&mut self, other: Found) {
        self.facts.iter_mut().zip(&other.facts).for_each(|(mine, theirs)| mine.merge(theirs));
        for (mine, theirs) in self.examples.iter_mut().zip(other.examples) {
            *mine = [mine.take(), theirs].into_iter().flatten().min_by_key(|(at, _)| *at);
        }
        if self.variables.is_empty() {
            self.variables = other.variables;
        }
    }

    /// The books of all sessions.
    pub(crate) fn facts(&self, flows: &Flows) -> SessionFacts {
        let of_flows = flows.iter().zip(&self.facts).map(|(flow, facts)| (flow.weight(), facts.clone()));
        SessionFacts::together(of_flows.collect()).expect("there is a flow")
    }

    /// For each step that ended a session by its answer: its name, and why the first of them ended there.
    pub(crate) fn examples<'a>(&'a self, flows: &'a Flows) -> impl Iterator<Item = (&'a str, &'a str)> {
        let names = flows.iter().flat_map(|flow| &flow.steps).map(|step| step.name.as_str());
        names.zip(&self.examples).filter_map(|(name, example)| Some((name, example.as_ref()?.1.as_str())))
    }

    /// What is to be said of sessions that belongs to no number.
    pub(crate) fn notes(&self, flows: &Flows) -> Vec<String> {
        let facts = self.facts(flows);
        let imbalance = facts.imbalance().or_else(|| facts.imbalance_of_sample().map(str::to_owned));
        let imbalance = imbalance.map(|why| format!("a bug of truetail: the books of sessions are wrong: {why}"));
        let first_ends = self.examples(flows).map(|(step, why)| format!("first end at {step}: {why}"));
        imbalance.into_iter().chain(first_ends).collect()
    }
}

/// The books of the sessions of one worker.
#[derive(Debug)]
pub(crate) struct MeasuredFlows(Vec<MeasuredSessions>);

impl MeasuredFlows {
    /// Sessions that arrive before `measure_from` are not counted.
    pub(crate) fn new(flows: &Flows, measure_from: Timestamp) -> MeasuredFlows {
        MeasuredFlows(flows.iter().map(|flow| MeasuredSessions::new(&flow.itinerary(), measure_from)).collect())
    }

    fn of(&mut self, flow: u32) -> &mut MeasuredSessions {
        &mut self.0[flow as usize]
    }

    /// What was found, in the form in which it is kept.
    pub(crate) fn found(&self, flows: &Flows) -> Found {
        let facts = flows.iter().zip(&self.0).map(|(flow, of)| of.books.facts(flow.name(), &flow.itinerary()));
        let examples = self.0.iter().flat_map(|of| of.examples.clone());
        Found { facts: facts.collect(), examples: examples.collect(), variables: Vec::new() }
    }

    /// The answer to the last request of a session is not what its step expects.
    pub(crate) fn disappointed(&mut self, flows: &Flows, course: &Course, why: String) {
        self.of(course.flow).disappointed(flows.get(course.flow), course, why);
    }

    /// The request of a session has ended: how long its user waits before the next one; `None`: the session has ended, and is
    /// written down.
    pub(crate) fn think(&mut self, flows: &Flows, course: &mut Course) -> Option<Nanos> {
        self.of(course.flow).think(flows.get(course.flow), course)
    }

    /// The run ended at `now` before `arrival`, of the session that goes through `course`, or of one that did not begin and would
    /// have followed `flow`. Returns the step that it would have been, among those of all flows.
    pub(crate) fn never_issued(
        &mut self,
        flows: &Flows,
        course: Option<&mut Course>,
        flow: u32,
        arrival: Arrival,
        now: Timestamp,
    ) -> u32 {
        let course = course.filter(|course| course.is_open);
        let nth = course.as_ref().map_or(flow, |course| course.flow);
        let flow = flows.get(nth);
        flow.first_step + self.of(nth).never_issued(flow, course, arrival, now)
    }

    /// The run is over at `now`. Who still thinks is in flight: what was waited for so far is known.
    pub(crate) fn finish<'a>(&mut self, flows: &Flows, courses: impl Iterator<Item = &'a mut Course>, now: Timestamp) {
        for course in courses.filter(|course| course.is_open) {
            self.of(course.flow).cut_off(flows.get(course.flow), course, now);
        }
    }
}

/// The first answer that disappointed at a step: when its session arrived, and why.
pub(crate) type Example = Option<(Timestamp, String)>;

/// The books of the sessions of one flow, as far as they are measured.
#[derive(Debug)]
struct MeasuredSessions {
    books: SessionBooks,
    /// By step.
    examples: Vec<Example>,
    /// Sessions that arrive before this are not counted.
    measure_from: Timestamp,
}

impl MeasuredSessions {
    fn new(itinerary: &Itinerary, measure_from: Timestamp) -> MeasuredSessions {
        let examples = vec![None; itinerary.steps.len()];
        MeasuredSessions { books: SessionBooks::new(itinerary), examples, measure_from }
    }

    /// As [`MeasuredFlows::disappointed`].
    fn disappointed(&mut self, flow: &Flow, course: &Course, why: String) {
        let example = &mut self.examples[course.last_move(flow) as usize];
        if course.intended >= self.measure_from && example.is_none() {
            *example = Some((course.intended, why));
        }
    }

    fn record(&mut self, intended: Timestamp, issued: u32, end: SessionEnd, time: Nanos) {
        if intended >= self.measure_from {
            self.books.record(issued, end, time);
        }
    }

    /// Writes down a session that has ended.
    fn close(&mut self, course: &mut Course, how: SessionEnd, end: Timestamp) {
        course.is_open = false;
        let time = end.since(course.intended).saturating_sub(course.thought);
        self.record(course.intended, course.issued, how, time);
        if course.intended >= self.measure_from {
            self.books.sample(&course.trail, how, end, course.thought);
        }
    }

    /// Writes down a pass through a step that may be several requests, of a session that arrived at `intended`.
    fn pass_ended(&mut self, flow: &Flow, step: u32, intended: Timestamp, ended: impl FnOnce() -> EndedPass) {
        if flow.steps[step as usize].asks_again() && intended >= self.measure_from {
            self.books.pass(step, ended());
        }
    }

    /// The same of the step that a session is in.
    fn left(&mut self, flow: &Flow, course: &Course, how: SessionEnd, end: Timestamp) {
        let step = course.last_move(flow);
        self.pass_ended(flow, step, course.intended, || EndedPass::new(course.pass, time_of_pass(how), end));
    }

    /// As [`MeasuredFlows::think`].
    fn think(&mut self, flow: &Flow, course: &mut Course) -> Option<Nanos> {
        match course.next {
            Next::Thinks(think) => {
                self.left(flow, course, SessionEnd::Completed, course.end);
                Some(think)
            }
            Next::Follows => Some(Nanos::ZERO),
            Next::Retries(interval) => Some(interval),
            Next::Ends(how) => {
                let end = course.end;
                self.left(flow, course, how, end);
                self.close(course, how, end);
                None
            }
            Next::Waits => None,
        }
    }

    /// As [`MeasuredFlows::never_issued`].
    fn never_issued(&mut self, flow: &Flow, course: Option<&mut Course>, arrival: Arrival, now: Timestamp) -> u32 {
        let Some(course) = course else {
            let intended = arrival.intended_start;
            self.record(intended, 0, SessionEnd::NeverBegun, now.since(intended));
            let pass = Pass::never_begun(intended);
            self.pass_ended(flow, flow.moves[0], intended, || EndedPass::new(pass, SessionTime::Censored, now));
            return flow.moves[0];
        };
        let step = course.step(flow);
        let stays = course.next.stays();
        let pass = if stays { course.pass } else { Pass::never_begun(arrival.intended_start) };
        let intended = course.intended;
        self.pass_ended(flow, step, intended, || EndedPass::new(pass, SessionTime::Censored, now));
        // The planned think time before this request was over.
        course.thought += course.thinks();
        self.close(course, SessionEnd::InFlight, now);
        step
    }

    /// The run is over while its user thinks, or waits to try again.
    fn cut_off(&mut self, flow: &Flow, course: &mut Course, now: Timestamp) {
        // To think is the user's own time; the interval of a retry is waited for the service.
        let end = if course.next.stays() { now.max(course.end) } else { course.end };
        if course.next.stays() {
            self.left(flow, course, SessionEnd::InFlight, end);
        }
        self.close(course, SessionEnd::InFlight, end);
    }
}

/// The time of a pass that this session end followed, or that all was well with. With an answer it has its time, whatever that
/// answer was, as a request has.
const fn time_of_pass(how: SessionEnd) -> SessionTime {
    match how {
        SessionEnd::InFlight | SessionEnd::NeverBegun | SessionEnd::Early(EarlyEnd::TimedOut) => SessionTime::Censored,
        SessionEnd::Early(EarlyEnd::ConnectFailed | EarlyEnd::Reset | EarlyEnd::Malformed) => SessionTime::Failed,
        SessionEnd::Early(_) | SessionEnd::Completed => SessionTime::Completed,
    }
}
