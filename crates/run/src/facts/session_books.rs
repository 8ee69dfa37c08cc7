//! Books of sessions: how they ended, and the results of each step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::session_times::SessionTimes;

/// Returns the sum. It saturates, since files may hold any counts.
pub(super) fn sum(parts: &[u64]) -> u64 {
    parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part))
}

/// Counts of sessions: planned = begun + never begun, begun = completed + ended early + in flight at end.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct SessionTally {
    /// Sessions of the schedule.
    pub planned: u64,
    /// Sessions whose first request was issued.
    pub begun: u64,
    /// Sessions whose first request was never issued.
    pub never_begun: u64,
    /// Sessions whose every step was answered as expected.
    pub completed: u64,
    /// Sessions that a failed step ended.
    pub ended_early: u64,
    /// Sessions that were in progress when the run ended.
    pub in_flight_at_end: u64,
}

impl SessionTally {
    pub(super) fn merge(&mut self, other: &SessionTally) {
        let sums = [
            (&mut self.planned, other.planned),
            (&mut self.begun, other.begun),
            (&mut self.never_begun, other.never_begun),
            (&mut self.completed, other.completed),
            (&mut self.ended_early, other.ended_early),
            (&mut self.in_flight_at_end, other.in_flight_at_end),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
    }
}

/// One step in all sessions.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct StepFacts {
    /// Name of the step.
    pub name: String,
    /// Line of the step in the flow's file.
    pub line: u64,
    /// Number of times that a session does the step; if `planned` is there, the most that any does.
    pub per_session: u64,
    /// Number of times that all planned sessions were to do the step, if that differs between sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// Number of times that the step's first request was issued.
    pub reached: u64,
    /// Number of times that it was not issued, by cause.
    pub not_reached: NotReached,
    /// Further requests in the step that follow a redirect.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hops: u64,
    /// Further requests in the step that try it again after a failure.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u64,
    /// Further requests in the step, in sessions that repeated it at will.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeats: u64,
    /// Highest number of requests that a session made in one pass through the step, or in all its passes if it repeats
    /// the step at will. 0 if the step is always one request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub most_requests: u64,
    /// Sessions that the step ended, by cause.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ended_here: BTreeMap<EarlyEnd, u64>,
    /// Time from when the step was due to the end of its last answer, saved in `histograms.hlog`. Empty if the step is
    /// always one request: the response time of its target is then the same.
    #[serde(skip)]
    pub times: SessionTimes,
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Requests of a step that were not issued, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct NotReached {
    /// The session was never begun.
    pub never_begun: u64,
    /// The session had ended early.
    pub ended_early: u64,
    /// The run ended before.
    pub run_ended: u64,
    /// The session was completed without the step.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_asked: u64,
}

impl NotReached {
    /// Returns the sum over all causes.
    pub fn total(&self) -> u64 {
        sum(&[self.never_begun, self.ended_early, self.run_ended, self.not_asked])
    }

    /// Adds other counts. Sums saturate, since files may hold any counts.
    pub fn add(&mut self, other: NotReached) {
        let sums = [
            (&mut self.never_begun, other.never_begun),
            (&mut self.ended_early, other.ended_early),
            (&mut self.run_ended, other.run_ended),
            (&mut self.not_asked, other.not_asked),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
    }
}

impl StepFacts {
    pub(super) fn merge(&mut self, other: &StepFacts) {
        self.not_reached.add(other.not_reached);
        self.planned = self.planned.zip(other.planned).map(|(sum, part)| sum.saturating_add(part));
        let sums = [
            (&mut self.reached, other.reached),
            (&mut self.hops, other.hops),
            (&mut self.retries, other.retries),
            (&mut self.repeats, other.repeats),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
        for (cause, count) in &other.ended_here {
            let sum = self.ended_here.entry(*cause).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.most_requests = self.most_requests.max(other.most_requests);
        self.times.merge(&other.times);
    }

    /// Returns the number of times that `sessions` planned sessions were to do the step.
    pub fn planned_in(&self, sessions: u64) -> u64 {
        self.planned.unwrap_or(sessions.saturating_mul(self.per_session))
    }

    /// Returns the number of sessions that the step ended.
    pub fn ended(&self) -> u64 {
        sum(&self.ended_here.values().copied().collect::<Vec<_>>())
    }

    pub(super) fn imbalance(&self, sessions: &SessionTally) -> Option<String> {
        let reached = self.reached;
        let not_reached = self.not_reached.total();
        let at_most = sessions.planned.saturating_mul(self.per_session);
        let planned = self.planned.unwrap_or(at_most);
        if planned > at_most {
            return Some(format!("step {} was planned {planned} times, and at most {at_most} are possible", self.name));
        }
        if sum(&[reached, not_reached]) != planned {
            let name = &self.name;
            return Some(format!("step {name} was reached {reached} times and {not_reached} times not, of {planned}"));
        }
        if self.ended() > reached {
            return Some(format!("step {} ended more sessions than reached it", self.name));
        }
        if self.not_reached.not_asked > sessions.completed.saturating_mul(self.per_session) {
            return Some(format!("step {} was left out by more sessions than were completed", self.name));
        }
        self.imbalance_of_passes()
    }

    /// Returns true if only `other` has times although this step was reached: the steps belong to different flows.
    pub(super) fn lacks_times_of(&self, other: &StepFacts) -> bool {
        self.reached > 0 && self.times.count() == 0 && other.times.count() > 0
    }

    pub(super) fn most_in_session(&self) -> u64 {
        self.per_session.saturating_mul(self.most_requests.max(1))
    }

    /// Returns the number of hops, retries and repeats.
    pub fn further(&self) -> u64 {
        sum(&[self.hops, self.retries, self.repeats])
    }

    /// A step that was due but never begun has a time too: the time that its session waited for it.
    fn imbalance_of_passes(&self) -> Option<String> {
        let name = &self.name;
        let reached = self.reached;
        let timed = self.times.count();
        let further = self.further();
        let due = sum(&[reached, self.not_reached.run_ended, self.not_reached.never_begun]);
        let has_passes = timed > 0 || self.hops > 0 || self.retries > 0;
        if has_passes && !(reached..=due).contains(&timed) {
            return Some(format!("step {name} has {timed} times, and was reached {reached} times"));
        }
        let possible = reached.saturating_mul(self.most_requests.saturating_sub(1));
        let what = "hops, retries and repeats";
        (further > possible).then(|| format!("step {name} has {further} {what}, more than the {possible} possible"))
    }
}

/// Reason why a session ended before its last step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlyEnd {
    /// Connecting failed.
    ConnectFailed,
    /// The connection broke before an answer.
    Reset,
    /// The answer was malformed.
    Malformed,
    /// The request timed out.
    TimedOut,
    /// The status was unexpected.
    Status,
    /// An assert failed.
    Assert,
    /// A capture found nothing.
    Capture,
    /// The body was too long to be kept for captures and asserts.
    BodyTooLong,
    /// The next request could not be built from the captured values.
    Request,
    /// A redirect led outside the flow's origins, or exceeded the limit.
    Redirect,
    /// The Python function raised an exception.
    Raised,
    /// The answer of a language model was not complete.
    Incomplete,
}

impl EarlyEnd {
    /// Returns a description for counts: `3 timed out`.
    pub const fn describe(self) -> &'static str {
        match self {
            EarlyEnd::ConnectFailed => "could not connect",
            EarlyEnd::Reset => "reset",
            EarlyEnd::Malformed => "malformed",
            EarlyEnd::TimedOut => "timed out",
            EarlyEnd::Status => "other status",
            EarlyEnd::Assert => "failed an assert",
            EarlyEnd::Capture => "captured nothing",
            EarlyEnd::BodyTooLong => "body too long",
            EarlyEnd::Request => "next request impossible",
            EarlyEnd::Redirect => "redirect not followed",
            EarlyEnd::Raised => "raised an exception",
            EarlyEnd::Incomplete => "answer incomplete",
        }
    }
}
