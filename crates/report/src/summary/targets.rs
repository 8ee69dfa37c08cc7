//! A row a target, where there are several.

use truetail_run::{Findings, Run, TargetBooks, TargetFindings};

use crate::number;
use crate::style::{Emphasis, Style};
use crate::table::{Align, TextTable};

/// The most targets that are shown; `run.json` has them all.
const SHOWN: usize = 10;
/// The quantiles that are shown of each.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];
/// The fewest columns that a name is cut to.
const SHORTEST_NAME: usize = 16;
/// Columns before the table.
const INDENT: usize = 2;

/// Each target's arrivals, how many of them failed, and its response times; empty where there is but one target.
pub(super) fn table(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let targets = &findings.targets;
    if targets.len() < 2 {
        return Vec::new();
    }
    let shown = &targets[..targets.len().min(SHOWN)];
    let figures: Vec<Vec<String>> =
        shown.iter().enumerate().map(|(i, target)| figures(target, run.facts.by_target.get(i))).collect();
    let longest = shown.iter().map(|target| style.printable(&target.name).chars().count()).max().unwrap_or(0);
    let whole = text_table(shown, &figures, longest).width(style);
    let too_wide = (whole + INDENT).saturating_sub(style.columns());
    let table = text_table(shown, &figures, longest.saturating_sub(too_wide).max(SHORTEST_NAME));
    // Without room for all: p90 goes first, then p50.
    let mut lines = table.fitting(style.columns() - INDENT, &[4, 3], style).lines(INDENT, style);
    if targets.len() > shown.len() {
        let more = format!("  and {} more targets, in run.json", targets.len() - shown.len());
        lines.push(style.emphasize(Emphasis::Faint, &more));
    }
    lines
}

fn text_table(targets: &[TargetFindings], figures: &[Vec<String>], longest_name: usize) -> TextTable {
    let names = QUANTILES.map(number::quantile_name);
    let mut columns = vec![("target", Align::Left), ("requests", Align::Right), ("errors", Align::Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = TextTable::new(&columns);
    for (target, figures) in targets.iter().zip(figures) {
        table.row([shortened(&target.name, longest_name)].into_iter().chain(figures.iter().cloned()).collect());
    }
    table
}

fn figures(target: &TargetFindings, books: Option<&TargetBooks>) -> Vec<String> {
    let error_statuses: u64 = books.map_or(0, |books| books.statuses.range(400..).map(|(_, n)| n).sum());
    let counts = [target.tally.planned, target.tally.unanswered() + error_statuses].map(number::count);
    let at = |q| target.response_time.quantiles.iter().find(|quantile| quantile.q == q);
    let quantiles = QUANTILES.map(|q| at(q).map_or("–".to_owned(), number::bracketed));
    counts.into_iter().chain(quantiles).collect()
}

/// `name` in at most `most` characters. The end is kept, for that is what the paths of one service differ in.
fn shortened(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let kept = most.saturating_sub(1);
    format!("…{}", name.chars().skip(length - kept).collect::<String>())
}
