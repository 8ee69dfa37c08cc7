//! The league as one HTML page with its pictures, which loads nothing from elsewhere.

use std::fmt::Write;

use super::grid::Grid;
use super::table::{self, LeagueTable};
use crate::markup::escaped;
use crate::plot::Picture;
use crate::table::Align;

const STYLE: &str = "\
body{font:16px/1.45 Inter,'Helvetica Neue',Arial,sans-serif;color:#1a1a1a;background:#fff;max-width:1000px;\
margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}\
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}\
th,td{padding:.25rem .6rem;text-align:left;white-space:nowrap;border-bottom:1px solid #e3e3e3}\
th{color:#595959;font-weight:500}.r{text-align:right}tr.truth td{font-weight:600}\
svg{width:100%;height:auto;margin:1rem 0}dt{font-weight:600}dd{margin:0 0 .5rem 1rem}footer{color:#595959}";

/// Returns the page. `made` names date, machine and version of the league.
pub fn html(league: &LeagueTable<'_>, pictures: &[(String, Picture)], made: &str) -> String {
    let name = escaped(&league.scenario.name);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{name}: load tools</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n<p>{}</p>\n",
        escaped(&league.scenario.about)
    );
    for grid in table::grids(league) {
        push_grid(&mut page, &grid);
    }
    for (_, picture) in pictures {
        page.push_str(picture.svg());
    }
    push_remarks(&mut page, league);
    let toml = escaped(&league.scenario.to_toml());
    push(&mut page, format_args!("<h2>The scenario</h2>\n<pre>{toml}</pre>\n<footer>{}</footer>\n", escaped(made)));
    page + "</body>\n</html>\n"
}

fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a String takes everything");
}

fn push_grid(page: &mut String, grid: &Grid) {
    let class = |align: Align| if align == Align::Right { " class=\"r\"" } else { "" };
    push(page, format_args!("<h2>{}</h2>\n<div class=\"wide\"><table>\n<tr>", escaped(grid.caption)));
    for (head, align) in &grid.heads {
        push(page, format_args!("<th{}>{}</th>", class(*align), escaped(head)));
    }
    page.push_str("</tr>\n");
    for row in &grid.rows {
        let truth = row.first().is_some_and(|cell| cell.starts_with('('));
        page.push_str(if truth { "<tr class=\"truth\">" } else { "<tr>" });
        for (cell, (_, align)) in row.iter().zip(&grid.heads) {
            push(page, format_args!("<td{}>{}</td>", class(*align), escaped(cell)));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

fn push_remarks(page: &mut String, league: &LeagueTable<'_>) {
    let remarks: Vec<_> = league.rows.iter().filter_map(|row| Some((&row.tool, table::remarks(row)?))).collect();
    if remarks.is_empty() {
        return;
    }
    page.push_str("<h2>Remarks</h2>\n<dl>\n");
    for (tool, words) in remarks {
        push(page, format_args!("<dt>{}</dt><dd>{}</dd>\n", escaped(tool), escaped(&words)));
    }
    page.push_str("</dl>\n");
}
