//! Response times by the value of a response header.

use truetail_run::{Findings, HeaderGroup, HeaderGroupKind, Run};

use crate::number;
use crate::style::Style;
use crate::table::{Align, TextTable};

const INDENT: usize = 2;
/// Limit on the values shown; `run.json` has all of them.
const SHOWN: usize = 8;
/// Limit on the characters of a value.
const LONGEST_VALUE: usize = 40;
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];

/// Returns a table for each kept header.
pub(super) fn tables(run: &Run, findings: &Findings, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, groups) in header_groups(run, findings) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let heads = header_heads(name);
        let columns: Vec<(&str, Align)> = heads
            .iter()
            .enumerate()
            .map(|(nth, head)| (head.as_str(), if nth == 0 { Align::Left } else { Align::Right }))
            .collect();
        let mut table = TextTable::new(&columns);
        header_rows(groups).into_iter().take(SHOWN).for_each(|row| table.row(row));
        // If space is short, p90 goes first, then the share.
        lines.extend(table.fitting(style.columns() - INDENT, &[4, 2], style).lines(INDENT, style));
        if groups.len() > SHOWN {
            lines.push(format!("  and {} more, in run.json", groups.len() - SHOWN));
        }
    }
    lines
}

/// Returns the name and the groups of each kept header.
pub fn header_groups<'a>(run: &'a Run, findings: &'a Findings) -> impl Iterator<Item = (&'a str, &'a [HeaderGroup])> {
    let headers = run.facts.kept_headers.iter().flat_map(|kept| &kept.headers);
    headers.zip(&findings.header_groups).map(|(header, groups)| (header.name.as_str(), groups.as_slice()))
}

/// Column heads of [`header_rows`].
pub fn header_heads(name: &str) -> Vec<String> {
    let counts = [name, "answers", "share"].map(str::to_owned);
    counts.into_iter().chain(QUANTILES.map(number::quantile_name)).collect()
}

/// Returns value, number, share and response times of the answers of each group.
pub fn header_rows(groups: &[HeaderGroup]) -> Vec<Vec<String>> {
    let all: u64 = groups.iter().map(|group| group.answers).sum();
    let row = |group: &HeaderGroup| {
        let quantiles = &group.response_time.quantiles;
        let at = |q| quantiles.iter().find(|quantile| quantile.q == q).map_or("–".to_owned(), number::bracketed);
        let share = group.answers as f64 / all.max(1) as f64;
        let counts = [name_of(group), number::count(group.answers), number::share(share)];
        counts.into_iter().chain(QUANTILES.map(at)).collect()
    };
    groups.iter().map(row).collect()
}

fn name_of(group: &HeaderGroup) -> String {
    match (group.kind, &group.value) {
        (HeaderGroupKind::Without, _) => "(no such header)".to_owned(),
        (HeaderGroupKind::Value, Some(value)) => shortened(value),
        (HeaderGroupKind::Further | HeaderGroupKind::Value, _) => "(other values)".to_owned(),
    }
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
