//! The sessions of one flow, or of all flows, and the check of their books.

use super::session_books::{SessionTally, StepFacts, sum};
use super::session_times::{SessionTime, SessionTimes};

/// The sessions of one flow, or of all flows.
#[derive(Clone, Copy, Debug)]
pub struct SessionPart<'a> {
    /// Counts of the sessions by ending.
    pub tally: &'a SessionTally,
    /// Their session times.
    pub times: &'a SessionTimes,
    /// Index of their first step among the steps of all flows.
    pub first_step: usize,
    /// Their steps.
    pub steps: &'a [StepFacts],
}

impl<'a> SessionPart<'a> {
    /// Returns step `nth` of all flows, if it belongs to these sessions.
    pub fn step(&self, nth: u32) -> Option<&'a StepFacts> {
        self.steps.get((nth as usize).checked_sub(self.first_step)?)
    }

    pub(super) fn imbalance(self) -> Option<String> {
        let causes: Vec<u64> = self.steps.iter().flat_map(|step| step.ended_here.values().copied()).collect();
        let ended_early = self.tally.ended_early;
        let of_causes = || {
            (sum(&causes) != ended_early)
                .then(|| format!("{} sessions have a step that ended them, of {ended_early}", sum(&causes)))
        };
        let of_steps = || self.steps.iter().find_map(|step| step.imbalance(self.tally));
        self.imbalance_of_ends().or_else(of_causes).or_else(of_steps)
    }

    pub(super) fn imbalance_of_ends(self) -> Option<String> {
        let SessionTally { planned, begun, never_begun, completed, ended_early, in_flight_at_end } = *self.tally;
        if sum(&[begun, never_begun]) != planned {
            return Some(format!("{begun} sessions begun and {never_begun} never begun are not the {planned} planned"));
        }
        if sum(&[completed, ended_early, in_flight_at_end]) != begun {
            return Some(format!(
                "{completed} sessions completed, {ended_early} ended early and {in_flight_at_end} in flight at the end are \
                 not the {begun} begun"
            ));
        }
        let times: Vec<u64> = SessionTime::ALL.into_iter().map(|time| self.times.get(time).count()).collect();
        let is_timed = sum(&times) == planned && times[SessionTime::Completed as usize] == completed;
        (!is_timed).then(|| format!("{} sessions have a time, of {planned} planned", sum(&times)))
    }
}
