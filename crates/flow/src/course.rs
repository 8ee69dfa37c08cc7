//! How far a session has come: what of it does not depend on what its answers say.

use truetail_model::arrival::Arrival;
use truetail_model::random::mix64;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{EarlyEnd, SessionFacts, SessionTime, SessionTrail};

use crate::books::{Itinerary, SessionBooks, SessionEnd};
use crate::flow::Flow;
use crate::pass::{EndedPass, Pass};
use crate::step::Step;
use crate::syntax::Delay;

/// What a session does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Its request is under way.
    Waits,
    /// It thinks for so long, and comes to the next step.
    Thinks(Nanos),
    /// It follows a redirect at once, in the same step.
    Follows,
    /// It tries the same step again, after so long.
    Retries(Nanos),
    /// It has ended.
    Ends(SessionEnd),
}

impl Next {
    /// Another request of the same step.
    const fn stays(self) -> bool {
        matches!(self, Next::Follows | Next::Retries(_))
    }
}

/// How far a session has come. Its room is used again by the next one.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// It was begun and has not ended.
    is_open: bool,
    pub(crate) intended: Timestamp,
    /// When its last request ended.
    end: Timestamp,
    /// Planned think time of the requests that were issued.
    thought: Nanos,
    /// Steps that it has begun.
    issued: u32,
    pub(crate) next: Next,
    /// Its way through the step that it is in.
    pub(crate) pass: Pass,
    /// Of its think times alone, so that they are the same whatever else is drawn.
    random: u64,
    /// Its requests so far.
    trail: SessionTrail,
}

impl Course {
    pub(crate) fn new() -> Course {
        Course {
            is_open: false,
            intended: Timestamp::ZERO,
            end: Timestamp::ZERO,
            thought: Nanos::ZERO,
            issued: 0,
            next: Next::Waits,
            pass: Pass::begin(Timestamp::ZERO),
            random: 0,
            trail: SessionTrail::default(),
        }
    }

    /// Session `number` begins, unless one is under way. True if it does.
    pub(crate) fn open(&mut self, number: u64, arrival: Arrival, seed: u64) -> bool {
        if self.is_open {
            return false;
        }
        let (intended, random) = (arrival.intended_start, mix64(mix64(seed) ^ number));
        let mut trail = std::mem::take(&mut self.trail);
        trail.restart(intended.0);
        *self = Course { is_open: true, intended, end: intended, random, trail, ..Course::new() };
        true
    }

    /// The step that it is in, or comes to next.
    pub(crate) fn step(&self, flow: &Flow) -> u32 {
        if self.next.stays() {
            return self.last_move(flow);
        }
        flow.moves[(self.issued as usize).min(flow.moves.len() - 1)]
    }

    /// The number of the step whose request it made last.
    pub(crate) fn last_move(&self, flow: &Flow) -> u32 {
        flow.moves[self.issued as usize - 1]
    }

    /// The step whose request it made last.
    pub(crate) fn last_step<'a>(&self, flow: &'a Flow) -> &'a Step {
        &flow.steps[self.last_move(flow) as usize]
    }

    /// Its next request goes out, which was due at `due`.
    pub(crate) fn issue(&mut self, flow: &Flow, due: Timestamp) {
        self.trail.issue(self.step(flow), due.0);
        match self.next {
            Next::Follows => self.pass.hop(),
            Next::Retries(_) => self.pass.retry(),
            _ => {
                self.thought += self.thinks();
                self.issued += 1;
                self.pass = Pass::begin(due);
            }
        }
        self.next = Next::Waits;
    }

    /// The planned think time before its next request.
    fn thinks(&self) -> Nanos {
        if let Next::Thinks(think) = self.next { think } else { Nanos::ZERO }
    }

    /// Its request was sent at `start` and answered at `end`.
    pub(crate) fn answered(&mut self, start: Timestamp, end: Timestamp) {
        self.end = end;
        self.trail.end(start.0, Some(end.0));
    }

    /// The answer was what its step expects: the step that comes next, and when; `None` after the last one.
    pub(crate) fn go_on<'a>(&mut self, flow: &'a Flow) -> Option<(&'a Step, Timestamp)> {
        let Some(step) = flow.moves.get(self.issued as usize).map(|step| &flow.steps[*step as usize]) else {
            self.next = Next::Ends(SessionEnd::Completed);
            return None;
        };
        let think = match step.delay {
            None => Nanos::ZERO,
            Some(Delay::Fixed(time)) => time,
            Some(Delay::Exponential(mean)) => {
                self.random = mix64(self.random);
                exponential(mean, self.random)
            }
        };
        self.next = Next::Thinks(think);
        Some((step, self.end + think))
    }

    /// The answer is a redirect, which it follows.
    pub(crate) fn follow(&mut self) {
        self.next = Next::Follows;
    }

    /// When the step whose request failed is tried again; `None`: it is not.
    pub(crate) fn retry_due(&self, flow: &Flow) -> Option<Timestamp> {
        let further = self.last_step(flow).further;
        let is_over = self.next == Next::Ends(SessionEnd::InFlight);
        (!is_over && self.pass.retries < further.retries).then(|| self.end + further.retry_interval)
    }

    /// The step whose request failed is tried again at `due`. The time until then is no think time: nobody would wait so long
    /// if the answer were right.
    pub(crate) fn retry(&mut self, due: Timestamp) {
        self.next = Next::Retries(due.since(self.end));
    }

    /// It ends with the answer that it had.
    pub(crate) fn end_early(&mut self, cause: EarlyEnd) {
        self.next = Next::Ends(SessionEnd::Early(cause));
    }

    /// Its request was sent at `start` and ended at `end` without an answer.
    pub(crate) fn unanswered(&mut self, outcome: Outcome, start: Timestamp, end: Timestamp) {
        self.end = end;
        let is_cut_off = matches!(outcome, Outcome::InFlightAtEnd | Outcome::NeverIssued);
        self.trail.end(start.0, (!is_cut_off).then_some(end.0));
        self.next = Next::Ends(match outcome {
            Outcome::InFlightAtEnd | Outcome::NeverIssued => SessionEnd::InFlight,
            Outcome::TimedOut => SessionEnd::Early(EarlyEnd::TimedOut),
            Outcome::ConnectFailed(_) => SessionEnd::Early(EarlyEnd::ConnectFailed),
            Outcome::Reset(_) => SessionEnd::Early(EarlyEnd::Reset),
            Outcome::Malformed(_) | Outcome::Response { .. } => SessionEnd::Early(EarlyEnd::Malformed),
        });
    }
}

/// The first answer that disappointed at a step: when its session arrived, and why.
pub(crate) type Example = Option<(Timestamp, String)>;

/// The books of sessions, as far as they are measured.
#[derive(Debug)]
pub(crate) struct MeasuredSessions {
    books: SessionBooks,
    /// By step.
    pub(crate) examples: Vec<Example>,
    /// Sessions that arrive before this are not counted.
    measure_from: Timestamp,
}

impl MeasuredSessions {
    pub(crate) fn new(itinerary: &Itinerary, measure_from: Timestamp) -> MeasuredSessions {
        let examples = vec![None; itinerary.steps.len()];
        MeasuredSessions { books: SessionBooks::new(itinerary), examples, measure_from }
    }

    /// The books in the form in which they are kept.
    pub(crate) fn facts(&self, flow: &Flow, itinerary: &Itinerary) -> SessionFacts {
        self.books.facts(flow.name(), itinerary)
    }

    /// The answer to the last request of a session is not what its step expects.
    pub(crate) fn disappointed(&mut self, flow: &Flow, course: &Course, why: String) {
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

    /// The request of a session has ended: how long its user waits before the next one; `None`: the session has ended, and is
    /// written down.
    pub(crate) fn think(&mut self, flow: &Flow, course: &mut Course) -> Option<Nanos> {
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

    /// The run ended at `now` before `arrival`, of the session that goes through `course` or of one that did not begin. Returns
    /// the step that it would have been.
    pub(crate) fn never_issued(
        &mut self,
        flow: &Flow,
        course: Option<&mut Course>,
        arrival: Arrival,
        now: Timestamp,
    ) -> u32 {
        let Some(course) = course.filter(|course| course.is_open) else {
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

    /// The run is over. Who still thinks is in flight: what was waited for so far is known.
    pub(crate) fn finish<'a>(&mut self, flow: &Flow, courses: impl Iterator<Item = &'a mut Course>) {
        for course in courses.filter(|course| course.is_open) {
            let end = course.end;
            // What would have followed is left out: its step was not over.
            if course.next.stays() {
                self.left(flow, course, SessionEnd::InFlight, end);
            }
            self.close(course, SessionEnd::InFlight, end);
        }
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

/// An exponentially distributed time, from 64 random bits.
fn exponential(mean: Nanos, bits: u64) -> Nanos {
    let uniform = ((bits >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    Nanos((-uniform.ln() * mean.0 as f64) as u64)
}
