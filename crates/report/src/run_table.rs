//! Several runs in a row, as a table and as JSON.

use serde::Serialize;
use serde_json::Value;
use truetail_analysis::compare::{Difference, QuantileComparison};
use truetail_analysis::figures::quantile_name;
use truetail_analysis::gates::{self, RunOutcome};
use truetail_run::{Findings, GateState, Run, VerdictState};

use crate::compare::CompareReport;
use crate::json::pretty_json;
use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// Percentiles that are compared with the baseline.
const QUANTILES: [f64; 2] = [0.5, 0.99];

/// Line of one run in the table.
#[derive(Clone, PartialEq, Debug)]
pub struct RunLine {
    name: String,
    result: String,
    emphasis: Emphasis,
    /// Value and comparison with the baseline, for each of [`QUANTILES`].
    cells: Vec<[String; 2]>,
    saved: String,
}

impl RunLine {
    /// Returns the line of a run. `saved` is its folder.
    pub fn for_run(
        name: &str,
        (run, findings): (&Run, &Findings),
        compared: Option<&CompareReport>,
        saved: Option<&str>,
    ) -> RunLine {
        let (result, emphasis) = result(run, findings);
        let cells = QUANTILES.map(|q| [value(findings, q), against(compared, q)]).to_vec();
        RunLine { name: name.to_owned(), result, emphasis, cells, saved: saved.unwrap_or("–").to_owned() }
    }

    /// Returns the line of a run without a result, with the reason.
    pub fn without_result(name: &str, why: &str) -> RunLine {
        let cells = QUANTILES.map(|_| ["–".to_owned(), "–".to_owned()]).to_vec();
        RunLine {
            name: name.to_owned(), result: why.to_owned(), emphasis: Emphasis::Bad, cells, saved: "–".to_owned()
        }
    }
}

fn result(run: &Run, findings: &Findings) -> (String, Emphasis) {
    let count = |state: GateState| findings.gates.iter().filter(|gate| gate.state == state).count();
    let gates = |n: usize| if n == 1 { "1 gate".to_owned() } else { format!("{n} gates") };
    let verdict = findings.verdict.state;
    match (count(GateState::Fails), count(GateState::Open), findings.gates.len()) {
        (failed @ 1.., ..) => (format!("FAILED {}", gates(failed)), Emphasis::Bad),
        _ if gates::outcome(run, findings) == RunOutcome::Failed => ("FAILED a check".to_owned(), Emphasis::Bad),
        (0, open @ 1.., _) => (format!("OPEN {}", gates(open)), Emphasis::Doubt),
        (0, 0, all @ 1..) => (format!("PASSED {}", gates(all)), Emphasis::Good),
        (0, 0, 0) => (
            verdict.name().to_owned(),
            match verdict {
                VerdictState::Valid => Emphasis::Good,
                VerdictState::Suspect => Emphasis::Doubt,
                VerdictState::Invalid => Emphasis::Bad,
            },
        ),
    }
}

fn value(findings: &Findings, q: f64) -> String {
    let quantile = findings.response_time.quantiles.iter().find(|quantile| quantile.q == q && quantile.supported);
    quantile.and_then(|quantile| quantile.value_ns).map_or("–".to_owned(), number::time)
}

fn against(compared: Option<&CompareReport>, q: f64) -> String {
    let Some(compared) = compared else { return "no baseline".to_owned() };
    let Some(comparison) = &compared.comparison else { return "not compared".to_owned() };
    comparison.at(q).map_or("–".to_owned(), ratio)
}

/// Formats `× 1.043 slower`.
fn ratio(quantile: &QuantileComparison) -> String {
    let word = match quantile.difference {
        Difference::Slower => "slower",
        Difference::Faster => "faster",
        Difference::NoDifferenceShown => "no difference shown",
        Difference::CannotTell => return "cannot tell".to_owned(),
    };
    quantile.ratio.map_or(word.to_owned(), |ratio| format!("× {ratio:.3} {word}"))
}

/// Returns the table, one line per run.
pub fn run_table(lines: &[RunLine], style: Style) -> String {
    let names = QUANTILES.map(quantile_name);
    let of_quantiles = names.iter().flat_map(|name| [(name.as_str(), Align::Right), ("to baseline", Align::Left)]);
    let heads: Vec<_> =
        [("run", Align::Left), ("", Align::Left)].into_iter().chain(of_quantiles).chain([("", Align::Left)]).collect();
    let mut table = TextTable::new(&heads);
    for line in lines {
        let first = [style.printable(&line.name), style.emphasize(line.emphasis, &style.printable(&line.result))];
        let last = style.printable(&line.saved);
        table.row(first.into_iter().chain(line.cells.iter().flatten().cloned()).chain([last]).collect());
    }
    table.lines(0, style).into_iter().map(|line| line + "\n").collect()
}

/// One of several runs, for programs.
#[derive(Debug, Serialize)]
pub struct RunEntry {
    /// Name of the run in truetail.toml.
    pub name: String,
    /// Exit code that the run would have on its own; `None` if it was not made.
    pub exit_code: Option<u8>,
    /// Reason for a missing result or file.
    pub error: Option<String>,
    /// Folder of the saved run.
    pub folder: Option<String>,
    /// Its `run.json`.
    pub run: Option<Value>,
    /// Comparison with its baseline, as in `truetail compare --json`.
    pub comparison: Option<Value>,
}

#[derive(Serialize)]
struct RunsFile<'a> {
    schema: &'static str,
    exit_code: u8,
    runs: &'a [RunEntry],
}

/// Returns JSON, version 1.
pub fn runs_json(runs: &[RunEntry], exit_code: u8) -> String {
    pretty_json(&RunsFile { schema: "truetail.runs/1", exit_code, runs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_a_line() {
        let lines = [RunLine::without_result("api", "not made"), RunLine::without_result("o\u{1b}rders", "ERROR")];
        let text = run_table(&lines, Style::default());
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("to baseline") && text.contains("not made") && !text.contains('\u{1b}'), "{text}");
    }
}
