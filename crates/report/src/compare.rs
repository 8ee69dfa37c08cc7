//! Comparison of runs as text, JSON and rows of a history.

use serde::Serialize;
use truetail_analysis::compare::{Comparison, QuantileComparison, StreamsComparison};
use truetail_analysis::figures::quantile_name;
use truetail_run::{Findings, GateFinding, GateState, Run};

use crate::compare_rows::{heads, quantile_row, stream_rows};
use crate::json::pretty_json;
use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// Head of the first column of the table of streams.
const STREAMS: &str = "streams";

/// Results of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub struct CompareReport {
    /// Names of the runs of A.
    pub a: Vec<String>,
    /// Names of the runs of B.
    pub b: Vec<String>,
    /// Number of runs of A and of B.
    pub runs: [usize; 2],
    /// Reasons against comparing the runs, if any.
    pub objections: Vec<String>,
    /// The way to compare them nevertheless, if there is one.
    pub help: Option<&'static str>,
    /// True if they are compared in spite of the objections.
    pub anyway: bool,
    /// The comparison; `None` if the runs are not compared.
    pub comparison: Option<Comparison>,
    /// Results of the gates.
    pub gates: Vec<GateFinding>,
    /// Set if the runs were made for this comparison, in turns.
    pub rounds: Option<RoundsReport>,
}

/// Rounds of runs that were made in turns.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RoundsReport {
    /// Number of complete rounds: one run of A and one of B each.
    pub done: u32,
    /// Highest possible number of rounds.
    pub most: u32,
    /// Number of looks at the result that could have ended the rounds.
    pub looks: u32,
    /// Reason for the end of the rounds.
    pub ended: RoundsEnd,
    /// Runs that the generator spoilt. They were repeated, and are not compared.
    pub spoilt: u32,
    /// Folder with the folders of the runs; `None` if no run was saved.
    pub folder: Option<String>,
}

/// Reason for the end of the rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundsEnd {
    /// All rounds were done.
    AllDone,
    /// Every gate was decided.
    Decided,
    /// A run is INVALID for another reason than the generator.
    Invalid,
    /// A signal.
    Interrupted,
    /// The generator spoilt too many runs.
    GeneratorLimit,
    /// A run could not be made.
    Failed,
}

/// Returns the text for the terminal.
pub fn compare_text(report: &CompareReport, style: Style) -> String {
    let mut text = String::new();
    for (side, runs) in [("A", &report.a), ("B", &report.b)] {
        push_lines(&mut text, &format!("{side}: {}", runs.join(", ")), style);
    }
    if let Some(rounds) = &report.rounds {
        push_lines(&mut text, &rounds_line(rounds), style);
    }
    for objection in &report.objections {
        let word = if report.anyway { "note:" } else { "Not compared:" };
        push_lines(&mut text, &format!("{word} {objection}"), style);
    }
    if let Some(help) = report.help {
        push_lines(&mut text, help, style);
    }
    let Some(comparison) = &report.comparison else { return text };
    text.push('\n');
    text.push_str(&table(&heads("", comparison), comparison.quantiles.iter().map(quantile_row), style));
    text.push('\n');
    if let Some(streams) = &comparison.streams {
        text.push_str(&table(&heads(STREAMS, comparison), stream_rows(streams).into_iter(), style));
        text.push('\n');
    }
    for sentence in basis(comparison) {
        push_lines(&mut text, sentence, style);
    }
    for gate in &report.gates {
        text.push_str(&gate_line(gate, style));
    }
    text
}

fn rounds_line(rounds: &RoundsReport) -> String {
    let RoundsReport { done, most, looks, ended, spoilt, folder } = rounds;
    let number = match ended {
        RoundsEnd::AllDone => number::counted(u64::from(*done), "round"),
        RoundsEnd::Decided => {
            format!("{} of at most {most}, until decided", number::counted(u64::from(*done), "round"))
        }
        RoundsEnd::Invalid => format!("{done} of {most} rounds, then a run was INVALID"),
        RoundsEnd::Interrupted => format!("{done} of {most} rounds, then interrupted"),
        RoundsEnd::GeneratorLimit => {
            format!("{done} of {most} rounds, then too many runs were spoilt by the generator")
        }
        RoundsEnd::Failed => format!("{done} of {most} rounds, then a run failed"),
    };
    let looks = if *looks > 1 { format!(", up to {looks} looks paid for") } else { String::new() };
    let spoilt = match *spoilt {
        0 => String::new(),
        n => format!(", {} spoilt by the generator", number::counted(u64::from(n), "run")),
    };
    let folder = folder.as_ref().map_or(String::new(), |folder| format!("; runs in {folder}"));
    format!("Rounds: {number}{looks}{spoilt}{folder}")
}

fn push_lines(text: &mut String, words: &str, style: Style) {
    for line in style.wrap(words, style.columns()) {
        text.push_str(&line);
        text.push('\n');
    }
}

fn table(heads: &[String], rows: impl Iterator<Item = Vec<String>>, style: Style) -> String {
    let aligned = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left];
    let heads: Vec<(&str, Align)> = heads.iter().map(String::as_str).zip(aligned).collect();
    let mut table = TextTable::new(&heads);
    rows.for_each(|row| table.row(row));
    table.lines(0, style).into_iter().map(|line| line + "\n").collect()
}

/// Words about a comparison, for a page.
#[derive(Clone, PartialEq, Debug)]
pub struct CompareWords {
    /// Column heads of the table.
    pub heads: Vec<String>,
    /// Rows of the table, one per percentile; empty if nothing was compared.
    pub rows: Vec<Vec<String>>,
    /// Column heads of the table of streams.
    pub stream_heads: Vec<String>,
    /// Rows of the table of streams; empty without streams.
    pub stream_rows: Vec<Vec<String>>,
    /// Sentences: results of the gates, contents of the intervals, reasons for not comparing.
    pub remarks: Vec<String>,
}

/// Returns the words of the screen, for a page.
pub fn compare_words(report: &CompareReport) -> CompareWords {
    let gates = report.gates.iter().map(|gate| format!("{} {}: {}", gate_word(gate.state), gate.text, gate.message));
    let word = if report.anyway { "Compared anyway:" } else { "Not compared:" };
    let objections = report.objections.iter().map(|objection| format!("{word} {objection}."));
    let rounds = report.rounds.iter().map(|rounds| format!("{}.", rounds_line(rounds)));
    let basis = report.comparison.iter().flat_map(basis).map(str::to_owned);
    let heads_of = |what| report.comparison.as_ref().map_or(Vec::new(), |comparison| heads(what, comparison));
    let streams = report.comparison.as_ref().and_then(|comparison| comparison.streams.as_ref());
    CompareWords {
        heads: heads_of(""),
        rows: report.comparison.iter().flat_map(|comparison| comparison.quantiles.iter().map(quantile_row)).collect(),
        stream_heads: heads_of(STREAMS),
        stream_rows: streams.map_or(Vec::new(), stream_rows),
        remarks: gates.chain(objections).chain(report.help.map(str::to_owned)).chain(basis).chain(rounds).collect(),
    }
}

/// Returns sentences about the contents of the intervals.
fn basis(comparison: &Comparison) -> impl Iterator<Item = &'static str> {
    let between_runs = if comparison.between_runs_known() {
        "The intervals include how much the runs of a side differ from each other."
    } else {
        "One run on each side: how much runs differ from each other is unknown, so a difference may be chance. Repeat each \
         side three times or more to find out."
    };
    let streams = comparison.streams.as_ref();
    let of_streams = "Figures of streams have no interval within a run, so one run on each side shows their values but decides \
                      nothing.";
    let only_some = "Streams are not compared, because only some of the runs have them.";
    let goodput = "Goodput is not compared, because the runs have different objectives of each request.";
    let told = [
        (true, between_runs),
        (streams.is_some() && !comparison.between_runs_known(), of_streams),
        (streams.is_some_and(|streams| streams.objectives_differ), goodput),
        (comparison.only_some_have_streams, only_some),
    ];
    told.into_iter().filter(|(is_told, _)| *is_told).map(|(_, sentence)| sentence)
}

pub(crate) fn gate_line(gate: &GateFinding, style: Style) -> String {
    let emphasis = match gate.state {
        GateState::Holds => Emphasis::Good,
        GateState::Fails => Emphasis::Bad,
        GateState::Open => Emphasis::Doubt,
    };
    format!(
        "{} {}\n",
        style.emphasize(emphasis, gate_word(gate.state)),
        style.printable(&format!("{}: {}", gate.text, gate.message))
    )
}

fn gate_word(state: GateState) -> &'static str {
    match state {
        GateState::Holds => "PASSED",
        GateState::Fails => "FAILED",
        GateState::Open => "OPEN",
    }
}

const SCHEMA: &str = "truetail.compare/1";

#[derive(Serialize)]
struct CompareFile<'a> {
    schema: &'static str,
    comparable: bool,
    reasons: &'a [String],
    runs: RunCounts,
    between_runs_known: bool,
    confidence: Option<f64>,
    quantiles: &'a [QuantileComparison],
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<&'a StreamsComparison>,
    gates: &'a [GateFinding],
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<&'a RoundsReport>,
}

#[derive(Serialize)]
struct RunCounts {
    a: usize,
    b: usize,
}

/// Returns JSON, version 1. `comparable` is false if there are objections or a side has no run. `quantiles` is empty if
/// nothing was compared.
pub fn compare_json(report: &CompareReport) -> String {
    pretty_json(&CompareFile {
        schema: SCHEMA,
        comparable: report.objections.is_empty() && report.comparison.is_some(),
        reasons: &report.objections,
        runs: RunCounts { a: report.runs[0], b: report.runs[1] },
        between_runs_known: report.comparison.as_ref().is_some_and(Comparison::between_runs_known),
        confidence: report.comparison.as_ref().map(|comparison| comparison.confidence),
        quantiles: report.comparison.as_ref().map_or(&[], |comparison| &comparison.quantiles),
        streams: report.comparison.as_ref().and_then(|comparison| comparison.streams.as_ref()),
        gates: &report.gates,
        rounds: report.rounds.as_ref(),
    })
}

const HISTORY: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Returns rows of a history, one per run: start (seconds since 1970 UTC), name, verdict, planned requests, throughput,
/// and response times in milliseconds. Unknown values are empty. `with_header` adds the header row.
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
