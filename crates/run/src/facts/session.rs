//! What became of sessions (`--flow`).

use serde::{Deserialize, Serialize};

use super::sampled_sessions::SampledSessions;
use super::session_books::{SessionTally, StepFacts, sum};
use super::session_times::{SessionTime, SessionTimes};

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
        let pairs = || self.steps.iter().zip(&other.steps);
        self.flow == other.flow
            && steps(self) == steps(other)
            && !pairs().any(|(mine, theirs)| mine.lacks_times_of(theirs) || theirs.lacks_times_of(mine))
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
