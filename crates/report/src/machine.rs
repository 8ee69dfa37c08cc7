//! Findings about a machine (`truetail doctor`).

use truetail_analysis::machine::{MachineFinding, MachineState};

use crate::style::{Emphasis, Style};

/// Width of the longest name.
const NAMES: usize = 18;
const STATES: usize = 8;
const INDENT: usize = 2;

/// Returns a line for each finding, with consequence and remedy below it, and one sentence at the beginning.
pub fn machine_findings(findings: &[MachineFinding], style: Style) -> String {
    let mut text = format!("{}\n\n", sentence(findings));
    let room = style.columns().saturating_sub(INDENT + NAMES + 1 + STATES + 1);
    let below = " ".repeat(INDENT + NAMES + 1 + STATES + 1);
    for finding in findings {
        let (word, emphasis) = match finding.state {
            MachineState::Fine => ("ok", Emphasis::Good),
            MachineState::Unknown => ("unknown", Emphasis::Faint),
            MachineState::Limits => ("limits", Emphasis::Doubt),
            MachineState::Disturbs => ("DISTURBS", Emphasis::Bad),
        };
        let state = style.emphasize(emphasis, &format!("{word:<STATES$}"));
        let found = style.printable(&finding.found);
        text.push_str(&format!("  {:<NAMES$} {state} {found}\n", finding.name));
        for line in finding.effect.iter().flat_map(|effect| style.wrap(effect, room)) {
            text.push_str(&format!("{below}{line}\n"));
        }
        // A command stays in one line, so that it can be copied.
        if let Some(remedy) = &finding.remedy {
            text.push_str(&format!("{below}{}\n", style.emphasize(Emphasis::Bold, &format!("→ {remedy}"))));
        }
    }
    text
}

fn sentence(findings: &[MachineFinding]) -> String {
    let count = |state: MachineState| findings.iter().filter(|finding| finding.state == state).count();
    let things = |count: usize| if count == 1 { "1 thing".to_owned() } else { format!("{count} things") };
    match (count(MachineState::Disturbs), count(MachineState::Limits)) {
        (0, 0) => "Nothing on this machine is known to disturb a measurement.".to_owned(),
        (0, limits) => format!("No finding disturbs most measurements; {} can limit a demanding one.", things(limits)),
        (disturbs, _) => format!("{} on this machine will disturb a measurement.", things(disturbs)),
    }
}
