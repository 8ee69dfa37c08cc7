//! What the generator did to the load, as far as it bears on a gate.

use truetail_model::workload::LoadModelKind;
use truetail_run::{Findings, Reason, Verdict, VerdictState};

/// What a run's verdict says of its load. The reasons are told apart by their codes, which are stable.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct LoadEffects {
    /// The generator made requests late: response times are longer than the truth, and a closed loop asked less than it
    /// could.
    pub(crate) late: bool,
    /// Requests came in bursts that nobody planned: the service had more to do at once than it should have had.
    pub(crate) bursts: bool,
    /// The service got a smaller load than was asked for.
    pub(crate) lower_load: bool,
    /// The backlog grew without end: times, and failures, only grow with the length of the run.
    pub(crate) saturated: bool,
    /// Nothing in this run is known: its books do not balance, or its verdict has a reason that this program does not know.
    pub(crate) unknown: bool,
}

impl LoadEffects {
    /// The generator may have been the limit of how much was sent. A schedule is sent whole by a generator that was late,
    /// too; the users of a closed loop ask less.
    pub(super) fn generator_bound(self, model: LoadModelKind) -> bool {
        self.lower_load || self.bursts || self.late && model == LoadModelKind::Closed
    }

    pub(crate) fn of(verdict: &Verdict) -> LoadEffects {
        verdict.reasons.iter().map(LoadEffects::of_reason).fold(LoadEffects::default(), LoadEffects::and)
    }

    /// Those of a run. Requests were late if a quantile shows it, also where its range leaves no doubt.
    pub(crate) fn of_findings(findings: &Findings) -> LoadEffects {
        let told = LoadEffects::of(&findings.verdict);
        LoadEffects { late: told.late || crate::verdict::is_moved(findings), ..told }
    }

    fn of_reason(reason: &Reason) -> LoadEffects {
        let none = LoadEffects::default();
        let invalid = reason.state == VerdictState::Invalid;
        match reason.code.as_str() {
            "generator_lag" | "generator_busy" | "cpu_throttled" => LoadEffects { late: true, ..none },
            "generator_paused" | "arrivals_off_schedule" => LoadEffects { late: true, bursts: invalid, ..none },
            "rate_not_reached" | "generator_limit" => LoadEffects { lower_load: invalid, ..none },
            "saturated" => LoadEffects { saturated: true, ..none },
            // They are about the cap, about what the service did, or about how much can be said of it.
            "no_answers" | "all_failed" | "too_few_samples" | "censored_tail" | "connection_wait"
            | "not_stationary" => none,
            _ => LoadEffects { unknown: invalid, ..none },
        }
    }

    fn and(self, other: LoadEffects) -> LoadEffects {
        LoadEffects {
            late: self.late || other.late,
            bursts: self.bursts || other.bursts,
            lower_load: self.lower_load || other.lower_load,
            saturated: self.saturated || other.saturated,
            unknown: self.unknown || other.unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(code: &str, state: VerdictState) -> LoadEffects {
        let reason = Reason { code: code.to_owned(), state, message: String::new(), numbers: Default::default() };
        LoadEffects::of(&Verdict { state, reasons: vec![reason] })
    }

    #[test]
    fn a_doubt_of_an_unknown_kind_makes_nothing_known_where_it_invalidates() {
        assert!(effects("books_unbalanced", VerdictState::Invalid).unknown);
        assert!(effects("something_new", VerdictState::Invalid).unknown);
        assert_eq!(effects("something_new", VerdictState::Suspect), LoadEffects::default());
    }

    #[test]
    fn a_slow_generator_is_another_load_only_where_the_run_is_invalid() {
        for code in ["rate_not_reached", "generator_limit"] {
            assert_eq!(effects(code, VerdictState::Suspect), LoadEffects::default());
            assert!(effects(code, VerdictState::Invalid).lower_load);
        }
        for code in ["generator_paused", "arrivals_off_schedule"] {
            assert!(!effects(code, VerdictState::Suspect).bursts);
            assert!(effects(code, VerdictState::Invalid).bursts);
        }
    }
}
