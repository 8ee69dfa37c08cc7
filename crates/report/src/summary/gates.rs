//! The gates.

use truetail_run::{Findings, GateFinding, GateState};

use super::labelled::labelled_text;
use crate::style::Style;

/// Each gate, whether the service passed it or not.
pub(super) fn lines(findings: &Findings, style: Style) -> Vec<String> {
    let one = |(number, gate): (usize, &GateFinding)| {
        let word = match gate.state {
            GateState::Holds => "PASSED",
            GateState::Fails => "FAILED",
            GateState::Open => "OPEN",
        };
        let text = format!("{word} {}: {}", gate.text, gate.message);
        labelled_text(if number == 0 { "Gates" } else { "" }, &text, style)
    };
    findings.gates.iter().enumerate().flat_map(one).collect()
}
