//! A series of runs and its changes, as text and as JSON.

use serde::Serialize;
use truetail_analysis::figures::quantile_name;
use truetail_analysis::history::{Change, FEWEST_RUNS, History, HistoryFigure, Member, PercentileHistory};
use truetail_run::GateFinding;

use crate::compare::gate_line;
use crate::json::pretty_json;
use crate::number;
use crate::style::Style;
use crate::sweep::time_label;

/// Limit on the runs left out that the text names.
const MAX_LISTED: usize = 20;

/// A series of runs with the results of its conditions.
#[derive(Clone, PartialEq, Debug)]
pub struct HistoryReport {
    /// The series.
    pub history: History,
    /// Results of the conditions.
    pub gates: Vec<GateFinding>,
}

/// Returns the text for a terminal.
pub fn history_text(report: &HistoryReport, style: Style) -> String {
    let History { runs, percentiles } = &report.history;
    let used = runs.iter().filter(|run| run.left_out.is_none()).count();
    let left_out: Vec<_> = runs.iter().filter_map(|run| Some((run, run.left_out.as_ref()?))).collect();
    let mut lines = vec![format!("{} of one load, {} left out", runs_of(used), left_out.len())];
    lines.extend(left_out.iter().take(MAX_LISTED).map(|(run, why)| format!("  {}: {why}", run.folder)));
    if left_out.len() > MAX_LISTED {
        lines.push(format!("  and {} more, which --json lists", left_out.len() - MAX_LISTED));
    }
    lines.push(String::new());
    let sentences: Vec<String> = percentiles.iter().flat_map(|found| sentences(found, runs)).collect();
    lines.extend(sentences);
    lines.extend(lines_without_change(percentiles));
    if percentiles.iter().any(|found| !found.figure.is_within_runs_known()) {
        let honest = "Times of streams and output tokens have no interval within a run, so each run counts the same.";
        lines.push(honest.to_owned());
    }
    let lines = lines.into_iter().map(|line| style.printable(&line));
    let text: String = lines.map(|line| line + "\n").collect();
    let gates: String = report.gates.iter().map(|gate| gate_line(gate, style)).collect();
    text + &gates
}

fn sentences(found: &PercentileHistory, runs: &[Member]) -> Vec<String> {
    found.changes.iter().map(|change| change_sentence(found.figure, change, runs)).collect()
}

/// Returns a sentence about a change of a figure: `p99 12.10ms → 14.00ms (+13.0 … +18.2 %) between run A (commit a) and
/// run B (commit b)`.
pub fn change_sentence(figure: HistoryFigure, change: &Change, runs: &[Member]) -> String {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let Change { ratio: _, low, high, .. } = shown(figure, change);
    format!(
        "{} {} → {} ({:+.1} … {:+.1} %) between {} and {}",
        label(figure),
        value(figure, change.before_ns),
        value(figure, change.after_ns),
        percent(low),
        percent(high),
        named(&runs[change.before]),
        named(&runs[change.after]),
    )
}

/// Returns the name of a figure for people.
fn label(figure: HistoryFigure) -> String {
    match figure {
        HistoryFigure::ResponseTime(q) => quantile_name(q),
        HistoryFigure::StreamTime(metric, q) => format!("{} {}", time_label(metric.name()), quantile_name(q)),
        HistoryFigure::OutputTokens => "output tokens".to_owned(),
    }
}

/// Formats a level. That of tokens is the time from one to the next.
fn value(figure: HistoryFigure, ns: f64) -> String {
    if figure == HistoryFigure::OutputTokens { number::rate(1e9 / ns) } else { number::time(ns.round() as u64) }
}

/// Returns a change with the ratio of the figure as people see it: of tokens that of their rates.
fn shown(figure: HistoryFigure, change: &Change) -> Change {
    match figure {
        HistoryFigure::OutputTokens => {
            Change { ratio: 1.0 / change.ratio, low: 1.0 / change.high, high: 1.0 / change.low, ..*change }
        }
        HistoryFigure::ResponseTime(_) | HistoryFigure::StreamTime(..) => *change,
    }
}

fn named(run: &Member) -> String {
    match &run.commit {
        Some(commit) => format!("{} (commit {commit})", run.folder),
        None => run.folder.clone(),
    }
}

/// Returns a line about each percentile without a change: the shift that would show, or the number of runs.
pub fn lines_without_change(percentiles: &[PercentileHistory]) -> Vec<String> {
    let line = |found: &PercentileHistory| {
        let name = label(found.figure);
        let runs = found.points.len();
        match runs < FEWEST_RUNS {
            true => format!("{name} cannot tell: {} have it, and {FEWEST_RUNS} are needed", runs_of(runs)),
            false => format!(
                "{name} no change found in {}; a shift of {:.1} % would show within 5 more",
                runs_of(runs),
                found.smallest_shown * 100.0
            ),
        }
    };
    percentiles.iter().filter(|found| found.changes.is_empty()).map(line).collect()
}

fn runs_of(n: usize) -> String {
    if n == 1 { "1 run".to_owned() } else { format!("{n} runs") }
}

#[derive(Serialize)]
struct HistoryFile<'a> {
    schema: &'static str,
    runs: Vec<MemberEntry<'a>>,
    changes: Vec<ChangeEntry<'a>>,
    percentiles: Vec<PercentileEntry>,
    gates: &'a [GateFinding],
}

#[derive(Serialize)]
struct MemberEntry<'a> {
    folder: &'a str,
    used: bool,
    why: Option<&'a str>,
    commit: Option<&'a str>,
}

impl<'a> MemberEntry<'a> {
    fn new(member: &'a Member) -> MemberEntry<'a> {
        MemberEntry {
            folder: &member.folder,
            used: member.left_out.is_none(),
            why: member.left_out.as_deref(),
            commit: member.commit.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct ChangeEntry<'a> {
    figure: String,
    q: Option<f64>,
    before: &'a str,
    after: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_per_second: Option<f64>,
    ratio: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct PercentileEntry {
    figure: String,
    q: Option<f64>,
    runs: usize,
    smallest_shown: Option<f64>,
}

/// Returns JSON, version 1.
pub fn history_json(report: &HistoryReport) -> String {
    let History { runs, percentiles } = &report.history;
    let change = |figure: HistoryFigure, change: &Change| {
        let is_rate = figure == HistoryFigure::OutputTokens;
        let [before_ns, after_ns] = [change.before_ns, change.after_ns].map(|ns| (!is_rate).then(|| ns.round() as u64));
        let [before_per_second, after_per_second] =
            [change.before_ns, change.after_ns].map(|ns| is_rate.then(|| 1e9 / ns));
        let Change { ratio, low, high, .. } = shown(figure, change);
        ChangeEntry {
            figure: figure.name(),
            q: figure.q(),
            before: runs[change.before].folder.as_str(),
            after: runs[change.after].folder.as_str(),
            before_ns,
            after_ns,
            before_per_second,
            after_per_second,
            ratio,
            low,
            high,
        }
    };
    let percentile = |found: &PercentileHistory| PercentileEntry {
        figure: found.figure.name(),
        q: found.figure.q(),
        runs: found.points.len(),
        smallest_shown: Some(found.smallest_shown).filter(|_| found.points.len() >= FEWEST_RUNS),
    };
    pretty_json(&HistoryFile {
        schema: "truetail.history/1",
        runs: runs.iter().map(MemberEntry::new).collect(),
        changes: percentiles
            .iter()
            .flat_map(|found| found.changes.iter().map(|one| change(found.figure, one)).collect::<Vec<_>>())
            .collect(),
        percentiles: percentiles.iter().map(percentile).collect(),
        gates: &report.gates,
    })
}
