//! The books of sessions: how they ended, and what became of each step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::session_times::SessionTimes;

/// A file may hold any counts, so sums saturate.
pub(super) fn sum(parts: &[u64]) -> u64 {
    parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part))
}

/// The books of sessions: planned = begun + never begun, begun = completed + ended early + in flight at end.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct SessionTally {
    /// Sessions that the schedule has.
    pub planned: u64,
    /// Their first request was issued.
    pub begun: u64,
    /// It was not.
    pub never_begun: u64,
    /// Every step was answered as expected.
    pub completed: u64,
    /// A step failed, and no other followed.
    pub ended_early: u64,
    /// The run ended before they did.
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

/// One step of all sessions.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct StepFacts {
    /// What it is called.
    pub name: String,
    /// The line of the flow that it stands in.
    pub line: u64,
    /// How often a session does it.
    pub per_session: u64,
    /// How often it was begun: its first request was issued.
    pub reached: u64,
    /// How often it was not, and why.
    pub not_reached: NotReached,
    /// Further requests in it, each of which followed a redirect.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hops: u64,
    /// Further requests in it, each of which tried it again after it had failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u64,
    /// Further requests in it, in sessions that did it again of their own accord.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeats: u64,
    /// The most requests that a session made in it before it went on, or, where it does it again of its own accord, in all; 0
    /// where it is always one request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub most_requests: u64,
    /// Sessions that it ended, by cause.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ended_here: BTreeMap<EarlyEnd, u64>,
    /// From when it was due to the end of its last answer. Empty where it is always one request: then this is the response time
    /// of its target. Saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: SessionTimes,
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Why requests of a step were not issued.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct NotReached {
    /// Their session was never begun.
    pub never_begun: u64,
    /// Their session had ended early.
    pub ended_early: u64,
    /// The run ended before.
    pub run_ended: u64,
    /// Their session was completed without it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_asked: u64,
}

impl NotReached {
    /// All of them.
    pub fn total(&self) -> u64 {
        sum(&[self.never_begun, self.ended_early, self.run_ended, self.not_asked])
    }

    /// Adds others. A file may hold any counts, so sums saturate.
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

    /// How many sessions it ended.
    pub fn ended(&self) -> u64 {
        sum(&self.ended_here.values().copied().collect::<Vec<_>>())
    }

    pub(super) fn imbalance(&self, sessions: &SessionTally) -> Option<String> {
        let (reached, not_reached) = (self.reached, self.not_reached.total());
        let planned = sessions.planned.saturating_mul(self.per_session);
        if sum(&[reached, not_reached]) != planned {
            let name = &self.name;
            return Some(format!("step {name} was reached {reached} times and {not_reached} times not, of {planned}"));
        }
        if self.ended() > reached {
            return Some(format!("step {} ended more sessions than reached it", self.name));
        }
        if self.not_reached.not_asked > sessions.completed {
            return Some(format!("step {} was left out by more sessions than were completed", self.name));
        }
        self.imbalance_of_passes()
    }

    /// It was reached without times of its own, which the other one has: that one is of another flow.
    pub(super) fn lacks_times_of(&self, other: &StepFacts) -> bool {
        self.reached > 0 && self.times.count() == 0 && other.times.count() > 0
    }

    /// The most requests that a session can have made in it.
    pub(super) fn most_in_session(&self) -> u64 {
        self.per_session.saturating_mul(self.most_requests.max(1))
    }

    /// Its requests beyond the first one of each pass, and of each session that did it again.
    pub fn further(&self) -> u64 {
        sum(&[self.hops, self.retries, self.repeats])
    }

    /// A step that was due and never begun has a time too: what was waited for it.
    fn imbalance_of_passes(&self) -> Option<String> {
        let (name, reached, timed, further) = (&self.name, self.reached, self.times.count(), self.further());
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

/// Why a session ended before its last step was done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlyEnd {
    /// Connecting failed.
    ConnectFailed,
    /// The connection broke before an answer.
    Reset,
    /// What came was no whole answer.
    Malformed,
    /// The time limit was over.
    TimedOut,
    /// The status was another than the expected one.
    Status,
    /// An assert failed.
    Assert,
    /// A capture found nothing.
    Capture,
    /// The body was longer than what is kept for captures and asserts.
    BodyTooLong,
    /// The next request could not be made from what was captured.
    Request,
    /// A redirect led where the flow does not go, or to too many others.
    Redirect,
    /// The function that says what comes next raised an exception.
    Raised,
}

impl EarlyEnd {
    /// In words, for counts: `3 timed out`.
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
        }
    }
}
