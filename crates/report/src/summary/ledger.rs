//! Where the time went, with the times that the service reported.

use truetail_analysis::figures::quantile_name;
use truetail_analysis::part_names::UNATTRIBUTED;
use truetail_run::{Findings, LedgerPart, LedgerRow, Run};

use super::spans::span_sentences;
use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

const INDENT: usize = 2;
/// Cells of a bar that is a whole response time.
const BAR: f64 = 24.0;

/// Returns a table with a row for each part, a column for each quantile, and a bar for the last quantile. Sentences
/// below it say what is odd about the reported times.
pub(super) fn table(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let Some(last) = findings.ledger.last() else { return sentences(run, findings, style) };
    let mut columns = vec![("where the time went".to_owned(), Align::Left)];
    columns.extend(findings.ledger.iter().map(|row| (quantile_name(row.q), Align::Right)));
    columns.push((format!("share at {}", quantile_name(last.q)), Align::Left));
    let heads: Vec<(&str, Align)> = columns.iter().map(|(head, align)| (head.as_str(), *align)).collect();
    let mut table = TextTable::new(&heads);
    for name in ledger_parts(findings) {
        let cells = findings.ledger.iter().map(|row| part_of(row, &name).map_or("–".to_owned(), mean));
        let share = share_of(last, &name);
        let bar = "█".repeat((share.max(0.0) * BAR).round() as usize);
        let share = format!("{:>6} {bar}", number::share(share));
        table.row([name.clone()].into_iter().chain(cells).chain([share]).collect());
    }
    let total = findings.ledger.iter().map(|row| number::time(row.response_time_ns.round() as u64));
    table.row(["response time".to_owned()].into_iter().chain(total).chain([String::new()]).collect());
    let requests = findings.ledger.iter().map(|row| number::count(row.requests));
    table.row(["answers".to_owned()].into_iter().chain(requests).chain([String::new()]).collect());
    let mut lines = table.lines(INDENT, style);
    lines.extend(sentences(run, findings, style));
    lines
}

fn sentences(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let sentences = ledger_sentences(run, findings);
    let wrapped = sentences.iter().flat_map(|text| style.wrap(&style.printable(text), style.columns() - INDENT));
    wrapped.map(|line| format!("  {}", style.emphasize(Emphasis::Faint, &line))).collect()
}

/// Returns the names of the parts of all rows, in order.
pub fn ledger_parts(findings: &Findings) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in findings.ledger.iter().flat_map(|row| &row.parts) {
        if part.name != UNATTRIBUTED && !names.contains(&part.name) {
            names.push(part.name.clone());
        }
    }
    names.push(UNATTRIBUTED.to_owned());
    names
}

/// Column heads of [`ledger_rows`].
pub fn ledger_heads(findings: &Findings) -> Vec<String> {
    let rows = findings.ledger.iter().map(|row| quantile_name(row.q));
    ["part".to_owned()].into_iter().chain(rows).collect()
}

/// Returns a row for each part: its mean and the interval of the mean, around each quantile. The last rows are the
/// response time and the number of answers.
pub fn ledger_rows(findings: &Findings) -> Vec<Vec<String>> {
    let row = |name: String| {
        let cells = findings.ledger.iter().map(|row| part_of(row, &name).map_or("–".to_owned(), with_interval));
        [name.clone()].into_iter().chain(cells).collect()
    };
    let mut rows: Vec<Vec<String>> = ledger_parts(findings).into_iter().map(row).collect();
    let last = |name: &str, cell: fn(&LedgerRow) -> String| {
        [name.to_owned()].into_iter().chain(findings.ledger.iter().map(cell)).collect()
    };
    rows.push(last("response time", |row| number::time(row.response_time_ns.round() as u64)));
    rows.push(last("answers", |row| number::count(row.requests)));
    rows
}

/// Returns sentences about the reported times that do not fit the response times, and about answers without any.
pub fn ledger_sentences(run: &Run, findings: &Findings) -> Vec<String> {
    let Some(timing) = &run.facts.server_timing else { return Vec::new() };
    if let Some(books) = &timing.spans {
        return span_sentences(timing, books, findings);
    }
    if timing.answers == 0 {
        let sources = timing.sources.join(", ");
        return vec![format!(
            "No answer had a time that could be read ({sources}), so nothing is known behind the server's door."
        )];
    }
    let mut sentences = Vec::new();
    if timing.without > 0 {
        let all = timing.answers.saturating_add(timing.without);
        sentences.push(format!(
            "{} of {} answers reported no time; theirs is unattributed.",
            number::count(timing.without),
            number::count(all)
        ));
    }
    for part in findings.reported_parts.iter().filter(|part| part.longer_than_service > 0) {
        sentences.push(format!(
            "{} is longer than the whole service time in {} of {} answers: check its unit.",
            part.name,
            number::count(part.longer_than_service),
            number::count(part.count)
        ));
    }
    let is_negative = |row: &LedgerRow| row.parts.iter().any(|part| part.mean_ns < 0.0);
    if findings.ledger.iter().any(is_negative) {
        sentences.push(
            "The reported times add up to more than the service time. If one contains another, say so: \
             --server-timing-order 'outer > inner'."
                .to_owned(),
        );
    }
    if timing.unread > 0 {
        let unread = number::count(timing.unread);
        sentences.push(format!("{unread} reported times could not be read, or had more than 8 names."));
    }
    sentences
}

/// Returns the share of a part in the mean response time of a row.
fn share_of(row: &LedgerRow, name: &str) -> f64 {
    part_of(row, name).map_or(0.0, |part| part.mean_ns / row.response_time_ns.max(1.0))
}

fn part_of<'a>(row: &'a LedgerRow, name: &str) -> Option<&'a LedgerPart> {
    row.parts.iter().find(|part| part.name == name)
}

fn mean(part: &LedgerPart) -> String {
    signed(part.mean_ns)
}

fn with_interval(part: &LedgerPart) -> String {
    match part.low_ns.zip(part.high_ns) {
        Some((low, high)) => format!("{} ({} … {})", mean(part), signed(low), signed(high)),
        None => mean(part),
    }
}

fn signed(ns: f64) -> String {
    let time = number::time(ns.abs().round() as u64);
    if ns < -0.5 { format!("−{time}") } else { time }
}
