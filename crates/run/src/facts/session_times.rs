//! Times of sessions, and of steps that may consist of several requests.

use truetail_model::record::CompactHistogram;

/// A time of sessions, or of steps that may consist of several requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionTime {
    /// From the intended arrival to the end, less the planned think time, of completed sessions.
    Completed,
    /// Like [`SessionTime::Completed`], of sessions that were given up and might have continued.
    Censored,
    /// Like [`SessionTime::Completed`], of sessions that an answer or a failure ended early.
    Failed,
}

impl SessionTime {
    /// All times, in the order of their declaration.
    pub const ALL: [SessionTime; 3] = [SessionTime::Completed, SessionTime::Censored, SessionTime::Failed];

    /// Returns the tag in `histograms.hlog`.
    pub const fn tag(self) -> &'static str {
        match self {
            SessionTime::Completed => "session_time",
            SessionTime::Censored => "session_time_censored",
            SessionTime::Failed => "session_time_failed",
        }
    }

    /// Returns the tag of this time for the sessions of flow `nth`, from 0.
    pub fn flow_tag(self, nth: usize) -> String {
        format!("{}@{}", self.tag(), nth + 1)
    }

    /// Returns the tag of this time for step `nth`, from 0.
    pub fn step_tag(self, nth: usize) -> String {
        self.tag().replacen("session", "step", 1) + &format!("@{}", nth + 1)
    }
}

/// The distribution of each [`SessionTime`], of sessions or of one step.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SessionTimes([CompactHistogram; SessionTime::ALL.len()]);

impl SessionTimes {
    /// Returns the distribution of one time.
    pub fn get(&self, time: SessionTime) -> &CompactHistogram {
        &self.0[time as usize]
    }

    /// Returns the distribution of one time, to add to.
    pub fn get_mut(&mut self, time: SessionTime) -> &mut CompactHistogram {
        &mut self.0[time as usize]
    }

    /// Returns the distributions that are not empty.
    pub fn recorded(&self) -> impl Iterator<Item = (SessionTime, &CompactHistogram)> {
        SessionTime::ALL.into_iter().map(|time| (time, self.get(time))).filter(|(_, times)| times.count() > 0)
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, times| sum.saturating_add(times.count()))
    }

    /// Adds the times of another part of the run.
    pub fn merge(&mut self, other: &SessionTimes) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}
