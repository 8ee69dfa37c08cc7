//! Effects of the generator on the load that matter for gates.

use truetail_model::workload::LoadModelKind;
use truetail_run::{Findings, Reason, Verdict, VerdictState};

use crate::verdict::code;

/// Effects on the load, as stated by a run's verdict. Reasons are recognized by their stable codes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct LoadEffects {
    /// The generator sent requests late. Response times are longer than the truth, and a closed loop sent fewer
    /// requests than it could.
    pub(crate) late: bool,
    /// Requests came in unplanned bursts: the service had more to do at once than it should.
    pub(crate) bursts: bool,
    /// The service got less load than requested.
    pub(crate) lower_load: bool,
    /// The backlog kept growing: times and failures only grow with the length of the run.
    pub(crate) saturated: bool,
    /// Nothing is known: the books do not balance, or an INVALID reason is unknown to this program.
    pub(crate) unknown: bool,
}

impl LoadEffects {
    /// Returns true if the generator may have limited the number of requests. A late generator still sends a whole
    /// schedule, but the users of a closed loop send fewer requests.
    pub(super) fn generator_bound(self, model: LoadModelKind) -> bool {
        self.lower_load || self.bursts || self.late && model == LoadModelKind::Closed
    }

    pub(crate) fn from_verdict(verdict: &Verdict) -> LoadEffects {
        verdict.reasons.iter().map(LoadEffects::from_reason).fold(LoadEffects::default(), LoadEffects::and)
    }

    /// Effects on a run. Requests also count as late if a quantile shows it, even if its range leaves no doubt.
    pub(crate) fn from_findings(findings: &Findings) -> LoadEffects {
        let told = LoadEffects::from_verdict(&findings.verdict);
        LoadEffects { late: told.late || crate::verdict::is_moved(findings), ..told }
    }

    fn from_reason(reason: &Reason) -> LoadEffects {
        let none = LoadEffects::default();
        let invalid = reason.state == VerdictState::Invalid;
        match reason.code.as_str() {
            code::GENERATOR_LAG | code::GENERATOR_BUSY | code::CPU_THROTTLED => LoadEffects { late: true, ..none },
            code::GENERATOR_PAUSED | code::ARRIVALS_OFF_SCHEDULE => LoadEffects { late: true, bursts: invalid, ..none },
            code::RATE_NOT_REACHED | code::GENERATOR_LIMIT => LoadEffects { lower_load: invalid, ..none },
            code::SATURATED => LoadEffects { saturated: true, ..none },
            // These concern the connection limit, the service, or the strength of the evidence.
            code::NO_ANSWERS
            | code::ALL_FAILED
            | code::TOO_FEW_SAMPLES
            | code::CENSORED_TAIL
            | code::CONNECTION_WAIT
            | code::NOT_STATIONARY => none,
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
        LoadEffects::from_verdict(&Verdict { state, reasons: vec![reason] })
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
