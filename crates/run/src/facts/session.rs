//! What became of sessions (`--flow`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::record::CompactHistogram;

use super::sampled_sessions::SampledSessions;

/// The sessions of a run: how they ended, and how far they came. Sessions of the warm-up are in none of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SessionFacts {
    /// What each session does: the name of the file.
    pub flow: String,
    /// How they ended.
    pub tally: SessionTally,
    /// Their steps, in order.
    pub steps: Vec<StepFacts>,
    /// The times, which are saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: SessionTimes,
    /// A few in full, which are saved in `sessions.json`; `None` where a run was saved without them.
    #[serde(skip)]
    pub sampled: Option<SampledSessions>,
}

impl SessionFacts {
    /// Adds those of another part of the run. A file may hold any counts, so sums saturate.
    pub fn merge(&mut self, other: &SessionFacts) {
        self.tally.merge(&other.tally);
        self.steps.iter_mut().zip(&other.steps).for_each(|(whole, part)| whole.merge(part));
        self.times.merge(&other.times);
        // What one part does not have is not known of the whole.
        self.sampled = match (self.sampled.take(), &other.sampled) {
            (Some(mut sampled), Some(part)) => {
                sampled.merge(part);
                Some(sampled)
            }
            _ => None,
        };
    }

    /// The sessions do the same, so that the two may be added.
    pub fn is_alike(&self, other: &SessionFacts) -> bool {
        let steps = |facts: &SessionFacts| -> Vec<(String, u64)> {
            facts.steps.iter().map(|step| (step.name.clone(), step.per_session)).collect()
        };
        self.flow == other.flow && steps(self) == steps(other)
    }

    /// Why this is what no run can have: `None` where its books balance.
    pub fn imbalance(&self) -> Option<String> {
        let SessionTally { planned, begun, never_begun, completed, ended_early, in_flight_at_end } = self.tally;
        if sum(&[begun, never_begun]) != planned {
            return Some(format!("{begun} sessions begun and {never_begun} never begun are not the {planned} planned"));
        }
        if sum(&[completed, ended_early, in_flight_at_end]) != begun {
            return Some(format!(
                "{completed} sessions completed, {ended_early} ended early and {in_flight_at_end} in flight at the end are \
                 not the {begun} begun"
            ));
        }
        let times: Vec<u64> = SessionTime::ALL.into_iter().map(|time| self.times.of(time).count()).collect();
        if sum(&times) != planned || times[SessionTime::Completed as usize] != completed {
            return Some(format!("{} sessions have a time, of {planned} planned", sum(&times)));
        }
        let causes: Vec<u64> = self.steps.iter().flat_map(|step| step.ended_here.values().copied()).collect();
        if sum(&causes) != ended_early {
            return Some(format!("{} sessions have a step that ended them, of {ended_early}", sum(&causes)));
        }
        self.steps.iter().find_map(|step| step.imbalance(planned))
    }

    /// Why the sampled sessions cannot be some of these; `None` where they can, or where there are none.
    pub fn imbalance_of_sample(&self) -> Option<&'static str> {
        self.sampled.as_ref()?.problem(&self.tally, &self.steps)
    }
}

fn sum(parts: &[u64]) -> u64 {
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
    fn merge(&mut self, other: &SessionTally) {
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
    /// Its requests that were issued.
    pub reached: u64,
    /// Its requests that were not, and why.
    pub not_reached: NotReached,
    /// Sessions that it ended, by cause.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ended_here: BTreeMap<EarlyEnd, u64>,
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
}

impl NotReached {
    /// All of them.
    pub fn total(&self) -> u64 {
        sum(&[self.never_begun, self.ended_early, self.run_ended])
    }
}

impl StepFacts {
    fn merge(&mut self, other: &StepFacts) {
        let (mine, theirs) = (&mut self.not_reached, other.not_reached);
        let sums = [
            (&mut self.reached, other.reached),
            (&mut mine.never_begun, theirs.never_begun),
            (&mut mine.ended_early, theirs.ended_early),
            (&mut mine.run_ended, theirs.run_ended),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
        for (cause, count) in &other.ended_here {
            let sum = self.ended_here.entry(*cause).or_default();
            *sum = sum.saturating_add(*count);
        }
    }

    /// How many sessions it ended.
    pub fn ended(&self) -> u64 {
        sum(&self.ended_here.values().copied().collect::<Vec<_>>())
    }

    fn imbalance(&self, sessions: u64) -> Option<String> {
        let (reached, not_reached) = (self.reached, self.not_reached.total());
        let planned = sessions.saturating_mul(self.per_session);
        if sum(&[reached, not_reached]) != planned {
            let name = &self.name;
            return Some(format!("step {name} was reached {reached} times and {not_reached} times not, of {planned}"));
        }
        (self.ended() > reached).then(|| format!("step {} ended more sessions than reached it", self.name))
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
        }
    }
}

/// A time of sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionTime {
    /// From the intended arrival to the end, less the planned think time, of sessions that were completed.
    Completed,
    /// The same of those that might have gone on: what was waited for them.
    Censored,
    /// The same of those that ended early by an answer or a failure.
    Failed,
}

impl SessionTime {
    /// All of them, in the order in which they are declared.
    pub const ALL: [SessionTime; 3] = [SessionTime::Completed, SessionTime::Censored, SessionTime::Failed];

    /// Its tag in `histograms.hlog`.
    pub const fn tag(self) -> &'static str {
        match self {
            SessionTime::Completed => "session_time",
            SessionTime::Censored => "session_time_censored",
            SessionTime::Failed => "session_time_failed",
        }
    }
}

/// The distribution of each [`SessionTime`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SessionTimes([CompactHistogram; SessionTime::ALL.len()]);

impl SessionTimes {
    /// The distribution of one.
    pub fn of(&self, time: SessionTime) -> &CompactHistogram {
        &self.0[time as usize]
    }

    /// The same, to be added to.
    pub fn of_mut(&mut self, time: SessionTime) -> &mut CompactHistogram {
        &mut self.0[time as usize]
    }

    /// Those with a value, with their tags.
    pub fn tagged(&self) -> impl Iterator<Item = (&'static str, &CompactHistogram)> {
        SessionTime::ALL.into_iter().map(|time| (time.tag(), self.of(time))).filter(|(_, times)| times.count() > 0)
    }

    /// Adds those of another part of the run.
    pub fn merge(&mut self, other: &SessionTimes) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}
