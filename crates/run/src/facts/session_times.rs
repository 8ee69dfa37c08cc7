//! The times of sessions, and of steps that may be several requests.

use truetail_model::record::CompactHistogram;

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

    /// The tag of the same time of the sessions of flow `nth`, counted from 0.
    pub fn flow_tag(self, nth: usize) -> String {
        format!("{}@{}", self.tag(), nth + 1)
    }

    /// The tag of the same time of step `nth`, counted from 0.
    pub fn step_tag(self, nth: usize) -> String {
        self.tag().replacen("session", "step", 1) + &format!("@{}", nth + 1)
    }
}

/// The distribution of each [`SessionTime`], of sessions or of one step.
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

    /// Those with a value.
    pub fn recorded(&self) -> impl Iterator<Item = (SessionTime, &CompactHistogram)> {
        SessionTime::ALL.into_iter().map(|time| (time, self.of(time))).filter(|(_, times)| times.count() > 0)
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, times| sum.saturating_add(times.count()))
    }

    /// Adds those of another part of the run.
    pub fn merge(&mut self, other: &SessionTimes) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}
