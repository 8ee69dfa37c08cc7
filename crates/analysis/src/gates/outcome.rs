//! Outcome of a run from its gates and checks, for an exit code.

use truetail_run::{Findings, GateState, Run, VerdictState};

use super::gate::Gate;

/// Outcome of a run with gates or checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// Every gate holds. Without gates: the measurement is not INVALID.
    Passed,
    /// A gate or a check fails.
    Failed,
    /// Nothing fails, but a gate is open or nothing was checked. Without gates: the measurement is INVALID.
    Open,
}

/// Returns the outcome of a run after its gates were judged.
pub fn outcome(run: &Run, findings: &Findings) -> RunOutcome {
    let worst = findings.gates.iter().map(|gate| gate.state).max();
    let invalid = worst.is_none() && findings.verdict.state == VerdictState::Invalid;
    if worst == Some(GateState::Fails) || a_check_fails(run, findings) {
        RunOutcome::Failed
    } else if worst == Some(GateState::Open) || invalid || nothing_was_checked(run) {
        RunOutcome::Open
    } else {
        RunOutcome::Passed
    }
}

fn nothing_was_checked(run: &Run) -> bool {
    run.facts.checks.iter().any(|check| check.passed + check.failed == 0)
}

/// Returns true if any answer failed a check. A gate on `check-failures` overrides this rule.
pub fn a_check_fails(run: &Run, findings: &Findings) -> bool {
    let is_tolerated =
        findings.gates.iter().any(|gate| gate.text.parse().is_ok_and(|gate: Gate| gate.is_about_checks()));
    !is_tolerated && run.facts.checks.iter().any(|check| check.failed > 0)
}
