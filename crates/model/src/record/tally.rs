//! The books: every planned arrival has exactly one outcome.

use serde::{Deserialize, Serialize};

use super::Outcome;

/// Numbers of arrivals, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// Arrivals of the schedule.
    pub planned: u64,
    /// Arrivals that were attempted.
    pub issued: u64,
    /// Arrivals that were never attempted.
    pub never_issued: u64,
    /// Whole answers, with any status.
    pub responses: u64,
    /// See [`Outcome::ConnectFailed`].
    pub connect_failed: u64,
    /// See [`Outcome::Reset`].
    pub reset: u64,
    /// See [`Outcome::Malformed`].
    pub malformed: u64,
    /// See [`Outcome::TimedOut`].
    pub timed_out: u64,
    /// See [`Outcome::InFlightAtEnd`].
    pub in_flight_at_end: u64,
}

/// Error of books that do not balance, which is a bug in truetail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the books do not balance: planned {planned}, accounted for {accounted}; this is a bug in truetail, please report it"
)]
pub struct Unbalanced {
    /// Arrivals that were planned.
    pub planned: u64,
    /// Arrivals with an outcome.
    pub accounted: u64,
}

impl Tally {
    /// Counts one arrival with this outcome, and as issued unless it never was. [`Tally::plan`] counts planned arrivals
    /// separately, at their source: otherwise the books would balance by construction.
    pub fn count(&mut self, outcome: Outcome) {
        let class = match outcome {
            Outcome::Response { .. } => &mut self.responses,
            Outcome::ConnectFailed(_) => &mut self.connect_failed,
            Outcome::Reset(_) => &mut self.reset,
            Outcome::Malformed(_) => &mut self.malformed,
            Outcome::TimedOut => &mut self.timed_out,
            Outcome::InFlightAtEnd => &mut self.in_flight_at_end,
            Outcome::NeverIssued => &mut self.never_issued,
        };
        *class += 1;
        if outcome != Outcome::NeverIssued {
            self.issued += 1;
        }
    }

    /// Counts `n` planned arrivals.
    pub fn plan(&mut self, n: u64) {
        self.planned += n;
    }

    /// Counts `n` planned arrivals that were never issued.
    pub fn plan_unissued(&mut self, n: u64) {
        self.planned += n;
        self.never_issued += n;
    }

    /// Returns the number of arrivals without an answer, issued or not.
    pub fn unanswered(&self) -> u64 {
        self.censored() + self.failed()
    }

    /// Returns the number of arrivals that timed out, were in flight at the end or were never issued.
    pub fn censored(&self) -> u64 {
        self.timed_out + self.in_flight_at_end + self.never_issued
    }

    /// Returns the number of arrivals with a failed connect, a reset or a malformed answer.
    pub fn failed(&self) -> u64 {
        self.connect_failed + self.reset + self.malformed
    }

    /// Checks that planned = issued + never issued, and issued = the sum of its outcomes. After a successful check, no
    /// sum of this tally overflows.
    ///
    /// # Errors
    /// [`Unbalanced`] with both sides if they differ; `accounted` saturates at `u64::MAX`.
    pub fn check(&self) -> Result<(), Unbalanced> {
        // A tally read from a file may hold any numbers, so the sums must not overflow.
        let [planned, issued, never_issued] = [self.planned, self.issued, self.never_issued].map(u128::from);
        let failed = [self.connect_failed, self.reset, self.malformed];
        let others = [self.responses, self.timed_out, self.in_flight_at_end];
        let outcomes: u128 = failed.into_iter().chain(others).map(u128::from).sum();
        if issued != outcomes || planned != issued + never_issued {
            let accounted = u64::try_from(outcomes + never_issued).unwrap_or(u64::MAX);
            return Err(Unbalanced { planned: self.planned, accounted });
        }
        Ok(())
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Tally) {
        self.planned += other.planned;
        self.issued += other.issued;
        self.never_issued += other.never_issued;
        self.responses += other.responses;
        self.connect_failed += other.connect_failed;
        self.reset += other.reset;
        self.malformed += other.malformed;
        self.timed_out += other.timed_out;
        self.in_flight_at_end += other.in_flight_at_end;
    }
}
