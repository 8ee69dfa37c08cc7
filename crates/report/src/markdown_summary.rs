//! A run as a short page in Markdown, for a pull request or the summary of a job.

use truetail_analysis::verdict::code;
use truetail_model::record::{Metric, Tally};
use truetail_run::{Distribution, Findings, GateState, Run, VerdictState};

use crate::markdown::{escaped, table};
use crate::number;
use crate::summary::measured;
use crate::table::Align::{Left, Right};

/// Limit on the targets in the page; `run.json` has all of them.
const TARGETS_SHOWN: usize = 50;

/// Quantiles of each target in the page.
const QUANTILES_OF_TARGETS: [f64; 3] = [0.5, 0.99, 1.0];

/// Returns the page: verdict, gates, checks, quantiles, targets.
pub fn markdown_summary(run: &Run, findings: &Findings) -> String {
    let sections =
        [heading(run, findings), gates(findings), checks(run), quantiles(findings), targets(findings), notes(run)];
    sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

fn heading(run: &Run, findings: &Findings) -> String {
    let what = measured(run).unwrap_or_else(|| "a run".to_owned());
    let mark = match findings.verdict.state {
        VerdictState::Valid => "✅",
        VerdictState::Suspect => "⚠️",
        VerdictState::Invalid => "❌",
    };
    let mut text = format!("## truetail: {}\n\n", escaped(&what));
    text += &format!("{mark} Measurement **{}**. {}\n", findings.verdict.state.name(), escaped(&books(findings)));
    let reasons = findings.verdict.reasons.iter();
    let lines: String = reasons.map(|reason| format!("- `{}`: {}\n", reason.code, escaped(&reason.message))).collect();
    if lines.is_empty() { text } else { format!("{text}\n{lines}") }
}

fn books(findings: &Findings) -> String {
    let tally = &findings.tally;
    let errors = findings.response_time_error_status.as_ref().map_or(0, |errors| errors.count);
    let parts = [
        Some(format!(
            "{} requests planned at {}",
            number::count(tally.planned),
            number::rate_if_any(findings.offered_per_second)
        )),
        Some(format!("{} answered", number::count(tally.responses))),
        (errors > 0).then(|| format!("{} with an error status", number::count(errors))),
        (tally.unanswered() > 0).then(|| format!("{} without an answer", number::count(tally.unanswered()))),
    ];
    format!("{}.", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn gates(findings: &Findings) -> String {
    let row = |gate: &truetail_run::GateFinding| {
        let word = match gate.state {
            GateState::Holds => "✅ passed",
            GateState::Fails => "❌ FAILED",
            GateState::Open => "❔ open",
        };
        vec![word.to_owned(), gate.text.clone(), gate.message.clone()]
    };
    let rows: Vec<_> = findings.gates.iter().map(row).collect();
    section(&[("Gate", Left), ("Fails if", Left), ("", Left)], &rows)
}

fn checks(run: &Run) -> String {
    let row = |check: &truetail_run::CheckCounts| {
        vec![check.text.clone(), number::count(check.passed), number::count(check.failed)]
    };
    let rows: Vec<_> = run.facts.checks.iter().map(row).collect();
    section(&[("Check", Left), ("Passed", Right), ("Failed", Right)], &rows)
}

fn quantiles(findings: &Findings) -> String {
    if findings.verdict.has(code::SATURATED) {
        return "Percentiles omitted: under overload they only grow with run length.\n".to_owned();
    }
    let service_time = &findings.metrics[Metric::ServiceTime];
    let row = |quantile: &truetail_run::Quantile| {
        vec![
            number::quantile_name(quantile.q),
            number::bracketed(quantile),
            if number::is_bracketed(quantile) {
                String::new()
            } else {
                number::time_range(quantile.low_ns, quantile.high_ns)
            },
            at(service_time, quantile.q),
        ]
    };
    let rows: Vec<_> = findings.response_time.quantiles.iter().map(row).collect();
    section(&[("", Left), ("Response time", Right), ("95 % interval", Left), ("Service time", Right)], &rows)
}

fn at(distribution: &Distribution, q: f64) -> String {
    let found = distribution.quantiles.iter().find(|quantile| quantile.q == q);
    found.map_or_else(String::new, number::quantile)
}

fn targets(findings: &Findings) -> String {
    let row = |target: &truetail_run::TargetFindings| {
        let Tally { planned, .. } = target.tally;
        let mut row = vec![target.name.clone(), number::count(planned), number::count(target.tally.unanswered())];
        row.extend(QUANTILES_OF_TARGETS.map(|q| at(&target.response_time, q)));
        row
    };
    let rows: Vec<_> = findings.targets.iter().take(TARGETS_SHOWN).map(row).collect();
    let names = QUANTILES_OF_TARGETS.map(number::quantile_name);
    let mut columns = vec![("Target", Left), ("Requests", Right), ("Unanswered", Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Right)));
    let hidden = findings.targets.len().saturating_sub(TARGETS_SHOWN);
    let more = if hidden > 0 { format!("\n… and {hidden} more targets.\n") } else { String::new() };
    section(&columns, &rows) + &more
}

fn notes(run: &Run) -> String {
    run.facts.notes.iter().map(|note| format!("- {}\n", escaped(note))).collect()
}

fn section(columns: &[(&str, crate::table::Align)], rows: &[Vec<String>]) -> String {
    if rows.is_empty() { String::new() } else { table(columns, rows.iter()) }
}
