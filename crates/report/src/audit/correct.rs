//! Result of a correction, as text and JSON.

use serde::Serialize;
use truetail_analysis::audit::{Corrected, CorrectedInterval, Correction, QUANTILES, ReportedQuantile};
use truetail_analysis::figures::{self, quantile_name};
use truetail_model::record::Histogram;
use truetail_run::UnusedRows;

use super::json::{Unused, unused};
use super::words;
use super::{items, note_lines};
use crate::json::pretty_json;
use crate::number;
use crate::style::Style;
use crate::table::{Align, TextTable};

/// Latencies before and after HdrHistogram's correction.
#[derive(Clone, Debug)]
pub struct CorrectReport {
    /// Name of the file.
    pub file: String,
    /// Warnings to read before using the result.
    pub warnings: Vec<String>,
    /// Parts of the file that could not be used.
    pub damage: UnusedRows,
    /// Notes for readers of its numbers.
    pub notes: Vec<String>,
    /// Latencies before and after, as a whole and by interval.
    pub correction: Correction,
}

/// Returns the text for the terminal.
pub fn correct_text(report: &CorrectReport, style: Style) -> String {
    let Corrected { before, after, added } = &report.correction.whole;
    let counts = format!(
        "{}: {}, and {} that HdrHistogram's correction added. These were never measured.",
        report.file,
        number::counted(before.count(), "request"),
        added
    );
    let mut lines = style.wrap(&counts, style.columns());
    lines
        .extend(report.warnings.iter().flat_map(|warning| style.wrap(&format!("Warning: {warning}"), style.columns())));
    lines.push(String::new());
    lines.extend(whole_table(before, after).lines(0, style));
    lines.extend(by_interval(&report.correction.intervals, style));
    let below: Vec<String> =
        items(&words::unused(&report.damage), style).into_iter().chain(note_lines(&report.notes, style)).collect();
    lines.extend((!below.is_empty()).then(String::new));
    lines.extend(below);
    lines.into_iter().map(|line| line + "\n").collect()
}

fn whole_table(before: &Histogram, after: &Histogram) -> TextTable {
    let mut table = TextTable::new(&[("", Align::Left), ("before", Align::Right), ("after", Align::Right)]);
    for (before, after) in values(before).into_iter().zip(values(after)) {
        table.row(vec![quantile_name(before.q), number::time(before.value_ns), number::time(after.value_ns)]);
    }
    table
}

/// Limit on the rows of the table. Beyond it, each row covers several intervals.
const MAX_ROWS: usize = 32;

fn by_interval(intervals: &[CorrectedInterval], style: Style) -> Vec<String> {
    let Some(first) = intervals.first() else { return Vec::new() };
    let heads = ["from", "to", "requests", "added", "p99", "corrected", "max"].map(|head| (head, Align::Right));
    let mut table = TextTable::new(&heads);
    let each = intervals.len().div_ceil(MAX_ROWS);
    for some in intervals.chunks(each) {
        table.row(interval_row(some, first.from_ns));
    }
    let note = if each > 1 { format!(", {each} intervals of the file in a row") } else { String::new() };
    let heading = format!("By interval, in seconds since the first{note}:");
    let lines = [String::new(), style.printable(&heading)];
    lines.into_iter().chain(table.fitting(style.width, &[1, 6, 2], style).lines(0, style)).collect()
}

fn interval_row(some: &[CorrectedInterval], origin_ns: u64) -> Vec<String> {
    let sum = |of: fn(&Corrected) -> &Histogram| {
        let mut sum = Histogram::new();
        some.iter().for_each(|one| sum.merge(of(&one.corrected)));
        sum
    };
    let before = sum(|one| &one.before);
    let after = sum(|one| &one.after);
    let seconds = |ns: Option<u64>| seconds_text(ns.unwrap_or_default().saturating_sub(origin_ns));
    let p99 = |histogram: &Histogram| histogram.quantile(0.99).map_or(String::new(), |value| number::time(value.0));
    vec![
        seconds(some.first().map(|one| one.from_ns)),
        seconds(some.iter().map(|one| one.to_ns).max()),
        number::count(before.count()),
        number::count(some.iter().map(|one| one.corrected.added).sum()),
        p99(&before),
        p99(&after),
        before.max().map_or(String::new(), |value| number::time(value.0)),
    ]
}

/// Formats seconds to the millisecond.
fn seconds_text(ns: u64) -> String {
    figures::without_zeros(&format!("{:.3}", ns as f64 / 1e9)).to_owned()
}

#[derive(Serialize)]
struct CorrectFile<'a> {
    schema: &'static str,
    file: &'a str,
    #[serde(flatten)]
    whole: CorrectedJson,
    intervals: Vec<IntervalJson>,
    warnings: &'a [String],
    #[serde(flatten)]
    unused: Unused<'a>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Counted {
    count: u64,
    quantiles: Vec<ReportedQuantile>,
}

fn values(histogram: &Histogram) -> Vec<ReportedQuantile> {
    let value = |q: f64| Some(ReportedQuantile { q, value_ns: histogram.quantile(q)?.0 });
    QUANTILES.into_iter().filter_map(value).collect()
}

#[derive(Serialize)]
struct CorrectedJson {
    before: Counted,
    after: Counted,
    added: u64,
}

#[derive(Serialize)]
struct IntervalJson {
    /// On the clock of the file.
    from_ns: u64,
    to_ns: u64,
    #[serde(flatten)]
    corrected: CorrectedJson,
}

fn corrected_json(corrected: &Corrected) -> CorrectedJson {
    let counted = |histogram: &Histogram| Counted { count: histogram.count(), quantiles: values(histogram) };
    CorrectedJson { before: counted(&corrected.before), after: counted(&corrected.after), added: corrected.added }
}

/// Returns JSON, version 1.
pub fn correct_json(report: &CorrectReport) -> String {
    let interval = |one: &CorrectedInterval| IntervalJson {
        from_ns: one.from_ns,
        to_ns: one.to_ns,
        corrected: corrected_json(&one.corrected),
    };
    pretty_json(&CorrectFile {
        schema: "truetail.correct/1",
        file: &report.file,
        whole: corrected_json(&report.correction.whole),
        intervals: report.correction.intervals.iter().map(interval).collect(),
        warnings: &report.warnings,
        unused: unused(&report.damage),
        notes: &report.notes,
    })
}
