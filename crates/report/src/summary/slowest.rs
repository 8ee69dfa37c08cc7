//! A row for each of the slowest requests.

use truetail_analysis::part_names::PARTS;
use truetail_run::{Findings, Run, SlowRequest};

use super::answers::status_of;
use crate::number;
use crate::style::Style;
use crate::table::{Align, TextTable};

/// Number of rows on a screen without `--details`, if requests have trace ids.
const SHOWN: usize = 3;
const LONGEST_TARGET: usize = 40;
const INDENT: usize = 2;

/// Returns the slowest requests with their largest parts and the links to their traces. With `details`, returns all of
/// them; otherwise the first three, and none if requests have no trace ids.
pub(super) fn table(run: &Run, findings: &Findings, details: bool, style: Style) -> Vec<String> {
    let shown = match (details, &run.facts.trace) {
        (true, _) => findings.slowest.len(),
        (false, Some(_)) => SHOWN,
        (false, None) => 0,
    };
    let rows = &findings.slowest[..shown.min(findings.slowest.len())];
    if rows.is_empty() {
        return Vec::new();
    }
    let has_ids = rows.iter().any(|request| request.trace_id.is_some());
    let has_targets = rows.iter().any(|request| request.target != rows[0].target);
    // A column without any text is left out.
    let shown = |is_shown: bool, text: String| if is_shown { text } else { String::new() };
    let mut table = TextTable::new(&[
        ("slowest", Align::Right),
        ("due at", Align::Right),
        (if has_targets { "target" } else { "" }, Align::Left),
        ("answer", Align::Left),
        ("mostly", Align::Left),
        (if has_ids { "trace" } else { "" }, Align::Left),
    ]);
    for request in rows {
        let target = request.target.as_deref().map_or("–".to_owned(), |name| clipped(&style.printable(name)));
        table.row(vec![
            number::time(request.response_time_ns),
            number::time(request.intended_start_ns),
            shown(has_targets, target),
            answer(run, request),
            largest_part(request),
            shown(has_ids, trace(request)),
        ]);
    }
    // If space is short, the target goes first, then the answer. The id is there to be copied, so it stays whole.
    let mut lines = table.fitting(style.columns() - INDENT, &[2, 3], style).lines(INDENT, style);
    lines.extend(link(run, &rows[0]).map(|link| format!("  {}", style.printable(&link))));
    lines
}

/// Column heads of [`slowest_rows`].
pub fn slowest_heads(findings: &Findings) -> Vec<String> {
    let heads = ["due at", "target", "answer", "trace id", "response time"].map(str::to_owned);
    heads.into_iter().chain(parts_of(findings)).collect()
}

/// Returns the names of all parts: those of the client in their order, then those that the service reported.
fn parts_of(findings: &Findings) -> Vec<String> {
    let mut names = PARTS.map(str::to_owned).to_vec();
    for name in findings.slowest.iter().flat_map(|request| request.parts.keys()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns a row for each of the slowest requests: when it was due, its target, its answer, its trace id, its response
/// time and the parts of it.
pub fn slowest_rows(run: &Run, findings: &Findings) -> Vec<Vec<String>> {
    let parts = parts_of(findings);
    let row = |request: &SlowRequest| {
        let part = |name: &String| request.parts.get(name).map_or("–".to_owned(), |ns| number::time(*ns));
        let target = request.target.clone().unwrap_or("–".to_owned());
        let words = [number::time(request.intended_start_ns), target, answer(run, request), trace(request)];
        words.into_iter().chain([number::time(request.response_time_ns)]).chain(parts.iter().map(part)).collect()
    };
    findings.slowest.iter().map(row).collect()
}

/// Returns the address of the page about the trace of a request, if its trace was to be recorded.
pub fn link(run: &Run, request: &SlowRequest) -> Option<String> {
    let trace_id = request.trace_id.as_ref().filter(|_| request.trace_sampled)?;
    run.facts.trace.as_ref()?.link_to(trace_id)
}

fn answer(run: &Run, request: &SlowRequest) -> String {
    match request.status {
        Some(status) => status_of(run, status),
        None if request.outcome == "response" => "answered".to_owned(),
        None => request.outcome.replace('_', " "),
    }
}

fn largest_part(request: &SlowRequest) -> String {
    let largest = request.parts.iter().max_by_key(|(_, ns)| **ns);
    largest.map_or("–".to_owned(), |(name, ns)| format!("{name} {}", number::time(*ns)))
}

fn trace(request: &SlowRequest) -> String {
    match &request.trace_id {
        Some(id) if request.trace_sampled => id.clone(),
        Some(id) => format!("{id} (not sampled)"),
        None => "–".to_owned(),
    }
}

fn clipped(name: &str) -> String {
    let length = name.chars().count();
    if length <= LONGEST_TARGET {
        return name.to_owned();
    }
    let kept: String = name.chars().skip(length + 1 - LONGEST_TARGET).collect();
    format!("…{kept}")
}
