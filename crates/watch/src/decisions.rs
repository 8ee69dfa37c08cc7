//! The current verdict, gates and checks.

use truetail_report::words;
use truetail_run::{Findings, GateState, Run, VerdictState};

use crate::look::{Emphasis, TerminalStyle};
use crate::text::Labelled;

pub(crate) fn verdict(findings: &Findings, look: TerminalStyle, columns: u16) -> Labelled {
    let mut text = Labelled::new(look, columns);
    let verdict = &findings.verdict;
    text.add("Measurement", &format!("{} so far", verdict.state.name()), emphasis_of(verdict.state), false);
    for reason in &verdict.reasons {
        let mark = match reason.state {
            VerdictState::Valid => "-",
            VerdictState::Suspect => "?",
            VerdictState::Invalid => "!",
        };
        text.add("", &format!("{mark} {}: {}", reason.code, reason.message), emphasis_of(reason.state), false);
    }
    text
}

const fn emphasis_of(state: VerdictState) -> Emphasis {
    match state {
        VerdictState::Valid => Emphasis::Good,
        VerdictState::Suspect => Emphasis::Doubt,
        VerdictState::Invalid => Emphasis::Bad,
    }
}

/// Returns each gate, then each check with known counts.
pub(crate) fn gates(run: &Run, findings: &Findings, look: TerminalStyle, columns: u16) -> Labelled {
    let mut text = Labelled::new(look, columns);
    for (number, gate) in findings.gates.iter().enumerate() {
        let label = if number == 0 { "Gates" } else { "" };
        let line = format!("{} {}: {}", words::decision(gate.state), gate.text, gate.message);
        text.add(label, &line, emphasis_of_gate(gate.state), false);
    }
    for (number, check) in run.facts.checks.iter().enumerate() {
        let label = if number == 0 { "Checks" } else { "" };
        let state = words::state_of_check(check);
        let line =
            format!("{} {}: {} passed, {} failed", words::decision(state), check.text, check.passed, check.failed);
        text.add(label, &line, emphasis_of_gate(state), false);
    }
    text
}

const fn emphasis_of_gate(state: GateState) -> Emphasis {
    match state {
        GateState::Holds => Emphasis::Good,
        GateState::Fails => Emphasis::Bad,
        GateState::Open => Emphasis::Doubt,
    }
}
