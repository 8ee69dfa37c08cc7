//! Saved runs, as a table and as JSON.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;
use truetail_run::GateState;
use truetail_run::catalog::{ListedGate, ListedLoad, ListedTime, SavedRun};

use crate::json::pretty_json;
use crate::number;
use crate::style::Style;
use crate::table::{Align, TextTable};

/// Columns of the table, and those that a narrow terminal omits first.
const HEADS: [(&str, Align); 11] = [
    ("started (UTC)", Align::Left),
    ("run", Align::Left),
    ("load", Align::Left),
    ("verdict", Align::Left),
    ("p50", Align::Right),
    ("p99", Align::Right),
    ("max", Align::Right),
    ("errors", Align::Right),
    ("gates", Align::Left),
    ("tags", Align::Left),
    ("folder", Align::Left),
];
const LEAST_IMPORTANT: [usize; 8] = [9, 6, 2, 0, 8, 7, 1, 4];
/// Longest name or URL in the table, characters.
const LONGEST_NAME: usize = 36;
/// Longest value of a label in the table, characters: enough for the short form of a commit.
const LONGEST_TAG: usize = 12;

/// Returns the table, a line for each run in `parent`.
pub fn run_list(parent: &str, runs: &[SavedRun], style: Style) -> String {
    let mut table = TextTable::new(&HEADS);
    runs.iter().for_each(|run| table.row(row(parent, run).to_vec()));
    let table = table.fitting(style.width, &LEAST_IMPORTANT, style);
    table.lines(0, style).into_iter().map(|line| line + "\n").collect()
}

/// Returns a line about a run that names it: `2026-11-27 01:02:03  GET http://…  truetail-runs/…`.
pub fn run_list_line(parent: &str, run: &SavedRun, style: Style) -> String {
    let [started, name, .., folder] = row(parent, run);
    style.printable(&format!("{started}  {name}  {folder}"))
}

/// The figures of a saved run as words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunWords {
    /// Start, `2026-11-27 01:02:03` UTC; a dash in virtual time.
    pub started: String,
    /// Name or else URL, at most 36 characters.
    pub name: String,
    /// The load: `1000/s 30s`.
    pub load: String,
    /// Verdict, or `unfinished`.
    pub verdict: &'static str,
    /// Median of the response time.
    pub p50: String,
    /// 99th percentile.
    pub p99: String,
    /// Largest known value.
    pub max: String,
    /// Number of planned arrivals without a good answer.
    pub errors: String,
    /// `2 passed`, or the gates that did not pass; empty without gates.
    pub gates: String,
    /// Labels: `branch=main commit=0123abc`.
    pub tags: Vec<String>,
}

/// Returns the figures of a saved run as words.
pub fn run_words(run: &SavedRun) -> RunWords {
    RunWords {
        started: run.started_at_unix_ns.map_or("–".to_owned(), utc_time),
        name: cut(name(run), LONGEST_NAME),
        load: cut(&load(&run.load), LONGEST_NAME),
        verdict: if run.unfinished { "unfinished" } else { run.verdict.name() },
        p50: time(run.times.p50),
        p99: time(run.times.p99),
        max: run.times.max_ns.map_or("–".to_owned(), number::time),
        errors: number::count(run.errors),
        gates: gates(&run.gates),
        tags: run.tags.iter().map(|(key, value)| format!("{key}={}", cut(value, LONGEST_TAG))).collect(),
    }
}

fn row(parent: &str, run: &SavedRun) -> [String; 11] {
    let words = run_words(run);
    [
        words.started,
        words.name,
        words.load,
        words.verdict.to_owned(),
        words.p50,
        words.p99,
        words.max,
        words.errors,
        words.gates,
        words.tags.join(" "),
        path(parent, run),
    ]
}

/// Formats `2026-11-27 01:02:03`.
pub fn utc_time(unix_ns: u64) -> String {
    utc(unix_ns).replace('T', " ").replace('Z', "")
}

/// Formats `2026-11-27T01:02:03Z`.
pub fn utc(unix_ns: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(unix_ns)).to_string()
}

fn path(parent: &str, run: &SavedRun) -> String {
    match parent.trim_end_matches('/') {
        "." => run.folder.clone(),
        parent => format!("{parent}/{}", run.folder),
    }
}

fn name(run: &SavedRun) -> &str {
    run.series().unwrap_or("–")
}

/// Returns the text, or its beginning and `…` if it is longer than `most` characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// Formats `1000/s 30s`.
fn load(load: &ListedLoad) -> String {
    let users = load.users_over_time.clone().or(load.users.map(|users| number::count(users.into())));
    let users = users.map(|users| format!("{users} users"));
    let length = load.duration_ns.map(number::round_time);
    let parts: Vec<String> = [users, load.profile.clone(), length].into_iter().flatten().collect();
    parts.join(" ")
}

fn time(time: ListedTime) -> String {
    match (time.needs_n, time.value_ns) {
        (Some(needs_n), _) => format!("n≥{}", number::count(needs_n)),
        (None, None) => "–".to_owned(),
        (None, Some(_)) if time.no_answer => number::NO_ANSWER.to_owned(),
        (None, Some(value)) if time.at_least => format!("≥{}", number::time(value)),
        (None, Some(value)) => number::time(value),
    }
}

/// Formats `2 passed`, or the gates that did not pass: `1 FAILED`, `1 OPEN`.
fn gates(gates: &[ListedGate]) -> String {
    let count = |state: GateState| gates.iter().filter(|gate| gate.state == state).count();
    match (count(GateState::Fails), count(GateState::Open), gates.len()) {
        (0, 0, 0) => String::new(),
        (0, 0, passed) => format!("{passed} passed"),
        (0, open, _) => format!("{open} OPEN"),
        (failed, ..) => format!("{failed} FAILED"),
    }
}

#[derive(Serialize)]
struct ListedRun<'a> {
    folder: String,
    name: Option<&'a str>,
    started: Option<String>,
    url: Option<&'a str>,
    load: &'a ListedLoad,
    verdict: &'static str,
    unfinished: bool,
    planned: u64,
    errors: u64,
    #[serde(flatten)]
    times: ListedTimes,
    gates: &'a [ListedGate],
    tags: &'a BTreeMap<String, String>,
}

/// Times in JSON. A percentile that is not known is null.
#[derive(Serialize)]
struct ListedTimes {
    p50_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
}

/// Returns the runs in `parent` as a JSON array.
pub fn run_list_json(parent: &str, runs: &[SavedRun]) -> String {
    pretty_json(&runs.iter().map(|run| listed(parent, run)).collect::<Vec<_>>())
}

fn listed<'a>(parent: &str, run: &'a SavedRun) -> ListedRun<'a> {
    let times = run.times;
    ListedRun {
        folder: path(parent, run),
        name: run.name.as_deref(),
        started: run.started_at_unix_ns.map(utc),
        url: run.url.as_deref(),
        load: &run.load,
        verdict: run.verdict.name(),
        unfinished: run.unfinished,
        planned: run.planned,
        errors: run.errors,
        times: ListedTimes { p50_ns: times.p50.known_ns(), p99_ns: times.p99.known_ns(), max_ns: times.max_ns },
        gates: &run.gates,
        tags: &run.tags,
    }
}
