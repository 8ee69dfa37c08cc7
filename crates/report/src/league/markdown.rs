//! The league as a Markdown page of a repository, with links to the pictures beside it.

use super::table::{self, LeagueTable};
use crate::markdown::{self, escaped};

/// Returns the page. `pictures` are file names without extension; `made` names date, machine and version of the league.
pub fn markdown(league: &LeagueTable<'_>, pictures: &[&str], made: &str) -> String {
    let mut page = format!("# {}\n\n{}\n", league.scenario.name, escaped(&league.scenario.about));
    for name in pictures {
        page.push_str(&format!("\n![{}](./{name}.svg)\n", name.replace('-', " ")));
    }
    for grid in table::grids(league) {
        page.push_str(&format!("\n## {}\n\n", escaped(grid.caption)));
        page.push_str(&markdown::table(&grid.heads, grid.rows.iter()));
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
