//! A row for each target, if there are several.

use truetail_run::{Findings, Run, TargetBooks, TargetFindings};

use crate::number;
use crate::style::Style;
use crate::table::{Align, TextTable};

/// Maximum number of targets shown; `run.json` has all of them.
const SHOWN: usize = 10;
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];
/// Minimum width of a shortened name, in columns.
const SHORTEST_NAME: usize = 16;
const INDENT: usize = 2;

/// Returns each target's requests, failed requests and response times, if known. Empty for a single target.
pub(super) fn table(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let books = &run.facts.by_target;
    let all = books.len().max(findings.targets.len());
    if all < 2 {
        return Vec::new();
    }
    let rows: Vec<TargetRow> =
        (0..all.min(SHOWN)).map(|i| TargetRow::new(findings.targets.get(i), books.get(i))).collect();
    let longest = rows.iter().map(|row| style.printable(&row.name).chars().count()).max().unwrap_or(0);
    let room = style.columns() - INDENT;
    let too_wide = text_table(&rows, longest).width(style).saturating_sub(room);
    let table = text_table(&rows, longest.saturating_sub(too_wide).max(SHORTEST_NAME));
    // If space is short, p90 goes first, then p50.
    let mut lines = table.fitting(room, &[4, 3], style).lines(INDENT, style);
    if all > SHOWN {
        lines.push(format!("  and {} more targets, in run.json", all - SHOWN));
    }
    lines
}

/// Column heads of [`target_rows`].
pub fn target_heads() -> Vec<String> {
    let heads = ["target", "requests", "errors"].map(str::to_owned);
    heads.into_iter().chain(QUANTILES.map(number::quantile_name)).collect()
}

/// Returns name, requests, failed requests and response times of at most `most` targets. Empty for a single target.
pub fn target_rows(run: &Run, findings: &Findings, most: usize) -> Vec<Vec<String>> {
    let books = &run.facts.by_target;
    let all = books.len().max(findings.targets.len());
    let shown = if all < 2 { 0 } else { all.min(most) };
    let row = |i| TargetRow::new(findings.targets.get(i), books.get(i));
    (0..shown).map(row).map(|row| [row.name].into_iter().chain(row.figures).collect()).collect()
}

struct TargetRow {
    name: String,
    figures: Vec<String>,
}

impl TargetRow {
    fn new(found: Option<&TargetFindings>, books: Option<&TargetBooks>) -> TargetRow {
        let name = found.map(|found| found.name.clone());
        let tally = found.map(|found| found.tally).or(books.map(|books| books.tally)).unwrap_or_default();
        let error_statuses: u64 = books.map_or(0, |books| books.statuses.range(400..).map(|(_, n)| n).sum());
        let quantiles = found.map_or(&[][..], |found| &found.response_time.quantiles);
        let at = |q| quantiles.iter().find(|quantile| quantile.q == q).map_or("–".to_owned(), number::bracketed);
        let counts = [tally.planned, tally.unanswered() + error_statuses].map(number::count);
        TargetRow {
            name: name.or(books.map(|books| format!("{} {}", books.method, books.url))).unwrap_or_default(),
            figures: counts.into_iter().chain(QUANTILES.map(at)).collect(),
        }
    }
}

fn text_table(rows: &[TargetRow], longest_name: usize) -> TextTable {
    let names = QUANTILES.map(number::quantile_name);
    let mut columns = vec![("target", Align::Left), ("requests", Align::Right), ("errors", Align::Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    for row in rows {
        table.row([shortened(&row.name, longest_name)].into_iter().chain(row.figures.iter().cloned()).collect());
    }
    table
}

/// Shortens `name` to at most `most` characters. It keeps the end, because paths of one service differ in it.
fn shortened(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let kept = most.saturating_sub(1);
    format!("…{}", name.chars().skip(length - kept).collect::<String>())
}
