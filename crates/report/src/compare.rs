//! Whether something got slower, as text, JSON and rows of a history.

use serde::Serialize;
use truetail_analysis::compare::{Comparison, Difference, QuantileComparison};
use truetail_analysis::figures::quantile_name;
use truetail_run::{Findings, GateFinding, GateState, Run};

use crate::json::pretty_json;
use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// Everything that is said of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct CompareReport {
    /// What the runs of A are called.
    pub a: Vec<String>,
    /// What the runs of B are called.
    pub b: Vec<String>,
    /// Why they should not be compared; empty where nothing speaks against it.
    pub objections: Vec<String>,
    /// They are compared in spite of the objections.
    pub anyway: bool,
    /// `None` where they are not compared.
    pub comparison: Option<Comparison>,
    /// What becomes of the conditions.
    pub gates: Vec<GateFinding>,
}

/// The screen.
pub fn compare_text(report: &CompareReport, style: Style) -> String {
    let mut text = String::new();
    for (side, runs) in [("A", &report.a), ("B", &report.b)] {
        push_lines(&mut text, &format!("{side}: {}", runs.join(", ")), style);
    }
    for objection in &report.objections {
        let word = if report.anyway { "note:" } else { "Not compared:" };
        push_lines(&mut text, &format!("{word} {objection}"), style);
    }
    let Some(comparison) = &report.comparison else { return text };
    text.push('\n');
    text.push_str(&table(comparison, style));
    text.push('\n');
    push_lines(&mut text, basis(comparison), style);
    for gate in &report.gates {
        text.push_str(&gate_line(gate, style));
    }
    text
}

fn push_lines(text: &mut String, words: &str, style: Style) {
    for line in style.wrap(words, style.columns()) {
        text.push_str(&line);
        text.push('\n');
    }
}

fn table(comparison: &Comparison, style: Style) -> String {
    let heads = [
        ("", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("B/A", Align::Right),
        ("95 % interval", Align::Right),
        ("", Align::Left),
    ];
    let mut table = TextTable::new(&heads);
    comparison.quantiles.iter().for_each(|quantile| table.row(row(quantile)));
    table.lines(0, style).into_iter().map(|line| line + "\n").collect()
}

fn row(quantile: &QuantileComparison) -> Vec<String> {
    let time = |ns: Option<u64>| ns.map_or("–".to_owned(), number::time);
    let interval = match (quantile.ratio_low, quantile.ratio_high) {
        (Some(low), Some(high)) => format!("{low:.3} … {high:.3}"),
        (Some(low), None) => format!("≥ {low:.3}"),
        (None, _) => String::new(),
    };
    vec![
        quantile_name(quantile.q),
        time(quantile.a_ns),
        time(quantile.b_ns),
        quantile.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}")),
        interval,
        words(quantile.difference).to_owned(),
    ]
}

fn words(difference: Difference) -> &'static str {
    match difference {
        Difference::Slower => "B is slower",
        Difference::Faster => "B is faster",
        Difference::NoDifferenceShown => "no difference shown",
        Difference::CannotTell => "cannot tell",
    }
}

fn basis(comparison: &Comparison) -> &'static str {
    if comparison.between_runs_known() {
        "The intervals include how much the runs of a side differ from each other."
    } else {
        "One run on each side: how much runs differ from each other is unknown, so a difference may be chance. Repeat each \
         side three times or more to find out."
    }
}

fn gate_line(gate: &GateFinding, style: Style) -> String {
    let (word, emphasis) = match gate.state {
        GateState::Holds => ("PASSED", Emphasis::Good),
        GateState::Fails => ("FAILED", Emphasis::Bad),
        GateState::Open => ("OPEN", Emphasis::Doubt),
    };
    format!("{} {}\n", style.emphasize(emphasis, word), style.printable(&format!("{}: {}", gate.text, gate.message)))
}

/// The schema of the JSON.
const SCHEMA: &str = "truetail.compare/1";

#[derive(Serialize)]
struct CompareFile<'a> {
    schema: &'static str,
    comparable: bool,
    reasons: &'a [String],
    runs: RunCounts,
    between_runs_known: bool,
    quantiles: &'a [QuantileComparison],
    gates: &'a [GateFinding],
}

#[derive(Serialize)]
struct RunCounts {
    a: usize,
    b: usize,
}

/// JSON, version 1. `comparable` is false where something speaks against the comparison; `quantiles` is empty where it was
/// not made.
pub fn compare_json(report: &CompareReport) -> String {
    pretty_json(&CompareFile {
        schema: SCHEMA,
        comparable: report.objections.is_empty(),
        reasons: &report.objections,
        runs: RunCounts { a: report.a.len(), b: report.b.len() },
        between_runs_known: report.comparison.as_ref().is_some_and(Comparison::between_runs_known),
        quantiles: report.comparison.as_ref().map_or(&[], |comparison| &comparison.quantiles),
        gates: &report.gates,
    })
}

/// The columns of the history that are quantiles.
const HISTORY: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Rows of a history, one a run: when it began (seconds since 1970 UTC), its name, verdict, throughput and response times in
/// milliseconds; what is not known is empty. With the header row if `with_header`.
pub fn compare_history(runs: &[(&str, &Run, &Findings)], with_header: bool) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    if with_header {
        let quantiles = HISTORY.map(|q| format!("{}_ms", quantile_name(q)));
        let head = ["time", "run", "verdict", "requests", "throughput_per_s"].map(str::to_owned);
        out.write_record(head.iter().chain(&quantiles)).expect("a Vec takes everything");
    }
    for (name, run, findings) in runs {
        out.write_record(history_row(name, run, findings)).expect("a Vec takes everything");
    }
    String::from_utf8(out.into_inner().expect("a Vec takes everything")).expect("every cell is text")
}

fn history_row(name: &str, run: &Run, findings: &Findings) -> Vec<String> {
    let time = run.facts.started_at_unix_ns.map_or(String::new(), |ns| (ns / 1_000_000_000).to_string());
    let throughput = findings.throughput_per_second.map_or(String::new(), |rate| format!("{rate:.3}"));
    let state = findings.verdict.state.name().to_owned();
    let quantile = |q: f64| {
        let all = &findings.response_time.quantiles;
        let found = all.iter().find(|quantile| quantile.q == q && quantile.supported && !quantile.at_least);
        found.and_then(|quantile| quantile.value_ns).map_or(String::new(), |ns| format!("{:.6}", ns as f64 / 1e6))
    };
    let mut row = vec![time, name.to_owned(), state, findings.tally.planned.to_string(), throughput];
    row.extend(HISTORY.map(quantile));
    row
}
