//! How far a session has come: what of it does not depend on what its answers say.

use truetail_model::random::mix64;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{EarlyEnd, SessionTrail};

use crate::books::SessionEnd;
use crate::flow::Flow;
use crate::how_far::Reach;
use crate::pass::Pass;
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
    pub(crate) const fn stays(self) -> bool {
        matches!(self, Next::Follows | Next::Retries(_))
    }
}

/// How a session begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// The flow that it follows, among those of the run.
    pub(crate) flow: u32,
    /// The place of the first step of that flow among those of all flows.
    pub(crate) first_step: u32,
    /// The step of the flow that it comes to first.
    pub(crate) first_move: u32,
    /// Where it chooses its steps, how many there are; else 0.
    pub(crate) choices: usize,
    /// What its think times are drawn from.
    pub(crate) random: u64,
}

/// The steps between which a session stands, of its flow.
#[derive(Clone, Copy, Default, Debug)]
struct Between {
    /// The place of the first step of its flow among those of all flows.
    first_step: u32,
    /// The step whose request it made last.
    last: u32,
    /// The one that it is in, or comes to next.
    next: u32,
}

/// How far a session has come. Its room is used again by the next one.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// It was begun and has not ended.
    pub(crate) is_open: bool,
    /// The flow that it follows, among those of the run.
    pub(crate) flow: u32,
    pub(crate) intended: Timestamp,
    /// When its last request ended.
    pub(crate) end: Timestamp,
    /// Planned think time of the requests that were issued.
    pub(crate) thought: Nanos,
    /// Steps that it has begun.
    issued: u32,
    between: Between,
    /// Where it chooses its steps, how often it has begun each.
    visits: Vec<u32>,
    pub(crate) next: Next,
    /// Its way through the step that it is in.
    pub(crate) pass: Pass,
    /// Of its think times alone, so that they are the same whatever else is drawn.
    random: u64,
    /// Its requests so far.
    pub(crate) trail: SessionTrail,
}

impl Course {
    pub(crate) fn new() -> Course {
        Course {
            is_open: false,
            flow: 0,
            intended: Timestamp::ZERO,
            end: Timestamp::ZERO,
            thought: Nanos::ZERO,
            issued: 0,
            between: Between::default(),
            visits: Vec::new(),
            next: Next::Waits,
            pass: Pass::begin(Timestamp::ZERO),
            random: 0,
            trail: SessionTrail::default(),
        }
    }

    /// A session begins that arrived at this instant.
    pub(crate) fn open(&mut self, as_it_says: Beginning, intended: Timestamp) {
        let Beginning { flow, first_step, first_move, choices, random } = as_it_says;
        let (mut trail, mut visits) = (std::mem::take(&mut self.trail), std::mem::take(&mut self.visits));
        trail.restart(intended.0);
        visits.clear();
        visits.resize(choices, 0);
        let between = Between { first_step, last: first_move, next: first_move };
        let opened = Course { is_open: true, flow, intended, end: intended, ..Course::new() };
        *self = Course { between, visits, random, trail, ..opened };
    }

    /// The step of its flow that it is in, or comes to next.
    pub(crate) fn step(&self) -> u32 {
        self.between.next
    }

    /// The same among the steps of all flows.
    pub(crate) fn step_of_all(&self) -> u32 {
        self.between.first_step + self.between.next
    }

    /// The number of the step whose request it made last.
    pub(crate) fn last_move(&self) -> u32 {
        self.between.last
    }

    /// The step whose request it made last.
    pub(crate) fn last_step<'a>(&self, flow: &'a Flow) -> &'a Step {
        &flow.steps[self.last_move() as usize]
    }

    /// How many steps it has begun, one done again included.
    pub(crate) fn issued(&self) -> u32 {
        self.issued
    }

    /// How far it has come.
    pub(crate) fn reach(&self) -> Reach<'_> {
        Reach { issued: self.issued, last_step: self.last_move(), visits: &self.visits }
    }

    /// Its next request goes out, which was due at `due`.
    pub(crate) fn issue(&mut self, due: Timestamp) {
        self.trail.issue(self.step_of_all(), due.0);
        self.between.last = self.between.next;
        match self.next {
            Next::Follows => self.pass.hop(),
            Next::Retries(_) => self.pass.retry(),
            _ => {
                self.thought += self.thinks();
                self.issued += 1;
                if let Some(visits) = self.visits.get_mut(self.between.next as usize) {
                    *visits += 1;
                }
                self.pass = Pass::begin(due);
            }
        }
        self.next = Next::Waits;
    }

    /// The planned think time before its next request.
    pub(crate) fn thinks(&self) -> Nanos {
        if let Next::Thinks(think) = self.next { think } else { Nanos::ZERO }
    }

    /// Its request was sent at `start` and answered at `end`.
    pub(crate) fn answered(&mut self, start: Timestamp, end: Timestamp) {
        self.end = end;
        self.trail.end(start.0, Some(end.0));
    }

    /// The answer was what its step expects: the step that comes next, and when; `None` after the last one.
    pub(crate) fn go_on<'a>(&mut self, flow: &'a Flow) -> Option<(&'a Step, Timestamp)> {
        let Some(next) = flow.moves.get(self.issued as usize) else {
            self.complete();
            return None;
        };
        let step = &flow.steps[*next as usize];
        let think = match step.delay {
            None => Nanos::ZERO,
            Some(Delay::Fixed(time)) => time,
            Some(Delay::Exponential(mean)) => {
                self.random = mix64(self.random);
                exponential(mean, self.random)
            }
        };
        Some((step, self.think(*next, think)))
    }

    /// It comes to this step after so much planned think time: when that is due.
    pub(crate) fn think(&mut self, step: u32, think: Nanos) -> Timestamp {
        self.next = Next::Thinks(think);
        self.between.next = step;
        self.end + think
    }

    /// It has done what it was to do.
    pub(crate) fn complete(&mut self) {
        self.next = Next::Ends(SessionEnd::Completed);
    }

    /// It ends because the run does.
    pub(crate) fn cut_off(&mut self) {
        self.next = Next::Ends(SessionEnd::InFlight);
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

/// An exponentially distributed time, from 64 random bits.
fn exponential(mean: Nanos, bits: u64) -> Nanos {
    let uniform = ((bits >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
    Nanos((-uniform.ln() * mean.0 as f64) as u64)
}
