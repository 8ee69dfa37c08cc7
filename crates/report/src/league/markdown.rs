//! The league as a Markdown page of a repository, with links to the pictures beside it.

use super::table::{self, Grid, LeagueTable};
use crate::table::Align;

/// The page. `pictures` are file names without an ending; `made` says when, on which machine and by which version the
/// league was made.
pub fn markdown(league: &LeagueTable<'_>, pictures: &[&str], made: &str) -> String {
    let mut page = format!("# {}\n\n{}\n", league.scenario.name, escaped(&league.scenario.about));
    for name in pictures {
        page.push_str(&format!("\n![{}](./{name}.svg)\n", name.replace('-', " ")));
    }
    for grid in table::grids(league) {
        page.push_str(&format!("\n## {}\n\n", escaped(grid.caption)));
        page.push_str(&table(&grid));
    }
    let remarks: Vec<String> = league
        .rows
        .iter()
        .filter_map(|row| Some(format!("- **{}**: {}\n", escaped(&row.tool), escaped(&table::remarks(row)?))))
        .collect();
    if !remarks.is_empty() {
        page.push_str(&format!("\n## Remarks\n\n{}", remarks.concat()));
    }
    page + &format!("\n{}\n", escaped(made))
}

fn table(grid: &Grid) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut text = line(&mut grid.heads.iter().map(|(head, _)| escaped(head)));
    let rule = |align: Align| if align == Align::Right { "--:" } else { "---" };
    text.push_str(&line(&mut grid.heads.iter().map(|(_, align)| rule(*align).to_owned())));
    for row in &grid.rows {
        text.push_str(&line(&mut row.iter().map(|cell| escaped(cell))));
    }
    text
}

/// `text` escaped, so that text from tools cannot inject markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()) {
        match c {
            '<' => escaped.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}
