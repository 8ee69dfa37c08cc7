//! The first lines: target and load, verdict, answers, checks and gates.

use truetail_run::{CheckCounts, Findings, GateFinding, GateState, Reason, Run, VerdictState};

use super::labelled::{beside_margin, labelled, labelled_lines, labelled_texts};
use super::sessions::sessions;
use super::streams::{goodput, streams};
use super::{answers, load};
use crate::style::{Emphasis, Style};

pub(super) fn lines(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let mut lines = style.wrap(&load::headline(run), style.columns());
    for line in &mut lines {
        *line = style.emphasize(Emphasis::Bold, line);
    }
    lines.extend(verdict(findings, style));
    lines.extend(answers::lines(run, findings, style));
    lines.extend(labelled_texts(sessions(run), style));
    lines.extend(labelled_texts(streams(run).into_iter().chain(goodput(run, findings)), style));
    lines.extend(checks(run, style));
    lines.extend(gates(&findings.gates, style));
    lines
}

fn verdict(findings: &Findings, style: Style) -> Vec<String> {
    let verdict = &findings.verdict;
    let state = style.emphasize(emphasis_of(verdict.state), verdict.state.name());
    let mut lines = vec![labelled("Measurement", &state, style)];
    lines.extend(verdict.reasons.iter().flat_map(|why| reason(why, style)));
    lines
}

const fn emphasis_of(state: VerdictState) -> Emphasis {
    match state {
        VerdictState::Valid => Emphasis::Good,
        VerdictState::Suspect => Emphasis::Doubt,
        VerdictState::Invalid => Emphasis::Bad,
    }
}

fn reason(reason: &Reason, style: Style) -> Vec<String> {
    let mark = match reason.state {
        VerdictState::Valid => "-",
        VerdictState::Suspect => "?",
        VerdictState::Invalid => "!",
    };
    let lines = style.wrap(&format!("{}: {}", reason.code, reason.message), style.columns().saturating_sub(6));
    let mark = style.emphasize(emphasis_of(reason.state), mark);
    let before = |i: usize| if i == 0 { format!("    {mark} ") } else { "      ".to_owned() };
    lines.iter().enumerate().map(|(i, line)| format!("{}{line}", before(i))).collect()
}

fn checks(run: &Run, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, check) in run.facts.checks.iter().enumerate() {
        let failed = if check.failed == 0 { String::new() } else { format!(", {} failed", check.failed) };
        let state = state_of_check(check);
        let text = format!("{} {}: {} passed{failed}", decision(state), check.text, check.passed);
        lines.extend(decided(if number == 0 { "Checks" } else { "" }, &text, emphasis_of_gate(state), style));
    }
    lines
}

fn gates(gates: &[GateFinding], style: Style) -> Vec<String> {
    let one = |(number, gate): (usize, &GateFinding)| {
        let text = format!("{} {}: {}", decision(gate.state), gate.text, gate.message);
        decided(if number == 0 { "Gates" } else { "" }, &text, emphasis_of_gate(gate.state), style)
    };
    gates.iter().enumerate().flat_map(one).collect()
}

/// Returns the result of a gate or a check: `PASSED`, `FAILED` or `OPEN`.
pub const fn decision(state: GateState) -> &'static str {
    match state {
        GateState::Holds => "PASSED",
        GateState::Fails => "FAILED",
        GateState::Open => "OPEN",
    }
}

/// Returns the state of a check: failed if an answer fails it, open without any answer.
pub const fn state_of_check(check: &CheckCounts) -> GateState {
    match (check.passed, check.failed) {
        (0, 0) => GateState::Open,
        (_, 0) => GateState::Holds,
        _ => GateState::Fails,
    }
}

const fn emphasis_of_gate(state: GateState) -> Emphasis {
    match state {
        GateState::Holds => Emphasis::Good,
        GateState::Fails => Emphasis::Bad,
        GateState::Open => Emphasis::Doubt,
    }
}

/// Formats text whose first word, the decision, is emphasized.
fn decided(label: &str, text: &str, emphasis: Emphasis, style: Style) -> Vec<String> {
    let emphasized = |line: &str| match line.split_once(' ') {
        Some((word, rest)) => format!("{} {rest}", style.emphasize(emphasis, word)),
        None => style.emphasize(emphasis, line),
    };
    let first = |(i, line): (usize, String)| if i == 0 { emphasized(&line) } else { line };
    labelled_lines(label, beside_margin(text, style).into_iter().enumerate().map(first), style)
}
