//! The tables for a terminal.

use super::grid::Grid;
use super::table::{self, LeagueTable};
use crate::style::{Emphasis, Style};
use crate::table::TextTable;

/// Returns the tables, each below its caption, and then the remarks on single tools.
pub fn text(league: &LeagueTable<'_>, style: Style) -> String {
    let title = format!("{}: {}", league.scenario.name, league.scenario.about);
    let wrapped = style.wrap(&title, style.columns() - 2);
    let mut lines: Vec<String> =
        wrapped.iter().map(|line| format!("  {}", style.emphasize(Emphasis::Bold, line))).collect();
    for grid in table::grids(league) {
        lines.push(String::new());
        lines.extend(style.wrap(grid.caption, style.columns() - 2).iter().map(|line| format!("  {line}")));
        let least_important = grid.least_important;
        lines.extend(table(grid).fitting(style.width.saturating_sub(2), least_important, style).lines(2, style));
    }
    let remarks: Vec<String> = league.rows.iter().flat_map(|row| remark(row, style)).collect();
    if !remarks.is_empty() {
        lines.push(String::new());
        lines.extend(remarks);
    }
    lines.join("\n") + "\n"
}

fn table(grid: Grid) -> TextTable {
    let mut table = TextTable::new(&grid.heads);
    grid.rows.into_iter().for_each(|row| table.row(row));
    table
}

fn remark(row: &truetail_analysis::league::LeagueRow, style: Style) -> Vec<String> {
    let Some(words) = table::remarks(row) else { return Vec::new() };
    let lines = style.wrap(&format!("{}: {words}", row.tool), style.columns() - 4);
    let indent = |n: usize| if n == 0 { "  " } else { "    " };
    lines.into_iter().enumerate().map(|(n, line)| format!("{}{line}", indent(n))).collect()
}
