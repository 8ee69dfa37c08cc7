//! Progress of a session, as far as it does not depend on the content of answers.

use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{EarlyEnd, SessionTrail};

use crate::books::SessionOutcome;
use crate::flow::Flow;
use crate::how_far::SessionReach;
use crate::pass::Pass;
use crate::step::Step;

/// Next action of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextAction {
    /// It waits for the answer to its request.
    Waits,
    /// It thinks for this long and then comes to the next step.
    Thinks(Nanos),
    /// It follows a redirect at once, in the same step.
    Follows,
    /// It tries the same step again after this time.
    Retries(Nanos),
    /// It has ended.
    Ends(SessionOutcome),
}

impl NextAction {
    /// Returns true if the next request belongs to the same step.
    pub(crate) const fn stays(self) -> bool {
        matches!(self, NextAction::Follows | NextAction::Retries(_))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionStart {
    /// Index of its flow among the flows of the run.
    pub(crate) flow: u32,
    /// Index of the flow's first step among the steps of all flows.
    pub(crate) first_step: u32,
    /// The first step of the session, as an index in its flow.
    pub(crate) first_move: u32,
    /// Number of steps of a session that chooses its steps; otherwise 0.
    pub(crate) choices: usize,
    /// Seed of its think times.
    pub(crate) random: u64,
}

/// Position of a session between two steps of its flow.
#[derive(Clone, Copy, Default, Debug)]
struct Position {
    /// Index of the flow's first step among the steps of all flows.
    first_step: u32,
    /// The step of its last request.
    last: u32,
    /// The current or next step.
    next: u32,
}

/// Progress of a session. Later sessions reuse its memory.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// The session has begun and has not ended.
    pub(crate) is_open: bool,
    /// Index of its flow among the flows of the run.
    pub(crate) flow: u32,
    pub(crate) intended: Timestamp,
    /// End of its last request.
    pub(crate) end: Timestamp,
    /// Planned think time of the requests that were issued.
    pub(crate) thought: Nanos,
    /// Number of steps that it has begun.
    issued: u32,
    between: Position,
    /// If it chooses its steps: how often it has begun each.
    visits: Vec<u32>,
    pub(crate) next: NextAction,
    /// Its pass through the current step.
    pub(crate) pass: Pass,
    /// Used only for think times, so that other random draws do not change them.
    random: u64,
    /// Its requests until now.
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
            between: Position::default(),
            visits: Vec::new(),
            next: NextAction::Waits,
            pass: Pass::begin(Timestamp::ZERO),
            random: 0,
            trail: SessionTrail::default(),
        }
    }

    /// Starts a session that arrived at `intended`.
    pub(crate) fn open(&mut self, as_it_says: SessionStart, intended: Timestamp) {
        let SessionStart { flow, first_step, first_move, choices, random } = as_it_says;
        let mut trail = std::mem::take(&mut self.trail);
        let mut visits = std::mem::take(&mut self.visits);
        trail.restart(intended.0);
        visits.clear();
        visits.resize(choices, 0);
        let between = Position { first_step, last: first_move, next: first_move };
        let opened = Course { is_open: true, flow, intended, end: intended, ..Course::new() };
        *self = Course { between, visits, random, trail, ..opened };
    }

    /// Returns the current or next step, as an index in its flow.
    pub(crate) fn step(&self) -> u32 {
        self.between.next
    }

    /// Returns the index of the current or next step among the steps of all flows.
    pub(crate) fn global_step(&self) -> u32 {
        self.between.first_step + self.between.next
    }

    /// Returns the index of the step of its last request.
    pub(crate) fn last_step_index(&self) -> u32 {
        self.between.last
    }

    /// Returns the step of its last request.
    pub(crate) fn last_step<'a>(&self, flow: &'a Flow) -> &'a Step {
        &flow.steps[self.last_step_index() as usize]
    }

    /// Returns the number of steps that it has begun, including repeats.
    pub(crate) fn issued(&self) -> u32 {
        self.issued
    }

    pub(crate) fn reach(&self) -> SessionReach<'_> {
        SessionReach { issued: self.issued, last_step: self.last_step_index(), visits: &self.visits }
    }

    /// Records that the next request goes out, which was due at `due`.
    pub(crate) fn issue(&mut self, due: Timestamp) {
        self.trail.issue(self.global_step(), due.0);
        self.between.last = self.between.next;
        match self.next {
            NextAction::Follows => self.pass.hop(),
            NextAction::Retries(_) => self.pass.retry(),
            _ => {
                self.thought += self.pending_think_time();
                self.issued += 1;
                if let Some(visits) = self.visits.get_mut(self.between.next as usize) {
                    *visits += 1;
                }
                self.pass = Pass::begin(due);
            }
        }
        self.next = NextAction::Waits;
    }

    /// Returns the planned think time before the next request.
    pub(crate) fn pending_think_time(&self) -> Nanos {
        if let NextAction::Thinks(think) = self.next { think } else { Nanos::ZERO }
    }

    /// Records that the last request was sent at `start` and answered at `end`.
    pub(crate) fn record_answer(&mut self, start: Timestamp, end: Timestamp) {
        self.end = end;
        self.trail.end(start.0, Some(end.0));
    }

    /// Continues after an expected answer. Returns the next step and its due time, or `None` after the last step or if
    /// the next one is not wanted.
    pub(crate) fn plan_next_step<'a>(
        &mut self,
        flow: &'a Flow,
        is_wanted: impl FnOnce(&Step) -> bool,
    ) -> Option<(&'a Step, Timestamp)> {
        let next = flow.moves.get(self.issued as usize).map(|next| (*next, &flow.steps[*next as usize]));
        let Some((next, step)) = next.filter(|(_, step)| is_wanted(step)) else {
            self.complete();
            return None;
        };
        let think = step.coming.delay.map_or(Nanos::ZERO, |delay| delay.time(&mut self.random));
        Some((step, self.plan_step(next, think)))
    }

    /// Plans `step` after the think time `think`. Returns its due time.
    pub(crate) fn plan_step(&mut self, step: u32, think: Nanos) -> Timestamp {
        self.next = NextAction::Thinks(think);
        self.between.next = step;
        self.end + think
    }

    pub(crate) fn complete(&mut self) {
        self.next = NextAction::Ends(SessionOutcome::Completed);
    }

    /// Ends the session because the run ends.
    pub(crate) fn cut_off(&mut self) {
        self.next = NextAction::Ends(SessionOutcome::InFlight);
    }

    /// Plans to follow a redirect.
    pub(crate) fn plan_hop(&mut self) {
        self.next = NextAction::Follows;
    }

    /// Returns the due time of a retry of the step that failed, or `None` without a retry.
    pub(crate) fn retry_due(&self, flow: &Flow) -> Option<Timestamp> {
        let further = self.last_step(flow).further;
        let is_over = self.next == NextAction::Ends(SessionOutcome::InFlight);
        (!is_over && self.pass.retries < further.retries).then(|| self.end + further.retry_interval)
    }

    /// Plans a retry of the failed step at `due`. The wait is not think time: only the failure makes the user wait.
    pub(crate) fn plan_retry(&mut self, due: Timestamp) {
        self.next = NextAction::Retries(due.since(self.end));
    }

    /// Ends the session after an answer.
    pub(crate) fn end_early(&mut self, cause: EarlyEnd) {
        self.next = NextAction::Ends(SessionOutcome::Early(cause));
    }

    /// Records that the last request was sent at `start` and ended at `end` without an answer.
    pub(crate) fn record_unanswered(&mut self, outcome: Outcome, start: Timestamp, end: Timestamp) {
        self.end = end;
        let is_cut_off = matches!(outcome, Outcome::InFlightAtEnd | Outcome::NeverIssued);
        self.trail.end(start.0, (!is_cut_off).then_some(end.0));
        self.next = NextAction::Ends(match outcome {
            Outcome::InFlightAtEnd | Outcome::NeverIssued => SessionOutcome::InFlight,
            Outcome::TimedOut => SessionOutcome::Early(EarlyEnd::TimedOut),
            Outcome::ConnectFailed(_) => SessionOutcome::Early(EarlyEnd::ConnectFailed),
            Outcome::Reset(_) => SessionOutcome::Early(EarlyEnd::Reset),
            Outcome::Malformed(_) | Outcome::Response { .. } => SessionOutcome::Early(EarlyEnd::Malformed),
        });
    }
}
