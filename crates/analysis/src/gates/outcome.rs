//! What gates and checks make of a run, for an exit code.

use truetail_run::{Findings, GateState, Run, VerdictState};

use super::gate::Gate;

/// What becomes of a run that was asked a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// Every gate holds; without gates, the measurement is not INVALID.
    Passed,
    /// A gate fails, or a check.
    Failed,
    /// No gate or check fails, and a gate is open or nothing was checked; without gates, the measurement is INVALID.
    Open,
}

/// The outcome of a run whose gates were judged.
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

/// There are checks, and no answer that could have passed or failed them.
fn nothing_was_checked(run: &Run) -> bool {
    run.facts.checks.iter().any(|check| check.passed + check.failed == 0)
}

/// One failed answer fails a check, unless a gate on `check-failures` says how many may.
pub fn a_check_fails(run: &Run, findings: &Findings) -> bool {
    let is_tolerated =
        findings.gates.iter().any(|gate| gate.text.parse().is_ok_and(|gate: Gate| gate.is_about_checks()));
    !is_tolerated && run.facts.checks.iter().any(|check| check.failed > 0)
}
