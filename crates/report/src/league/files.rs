//! All files of a league.

use super::table::LeagueTable;
use super::{csv, html, json, markdown, pictures, text};
use crate::output_file::OutputFile;
use crate::plot::PictureError;
use crate::style::Style;

/// Returns the tables as `league.txt`, `.json`, `.csv`, `.html` and `.md`, then each picture as SVG and PNG. `made`
/// names date, machine and version of the league. Fails if there is no memory for the pixels.
pub fn files(
    league: &LeagueTable<'_>,
    tools: &[pictures::ToolData<'_>],
    made: &str,
) -> Result<Vec<OutputFile>, PictureError> {
    let pictures = pictures::pictures(league, tools);
    let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
    let mut files = vec![
        OutputFile::text("league.txt", text::text(league, Style { width: 100, ..Style::default() })),
        OutputFile::text("league.json", json::json(league)),
        OutputFile::text("league.csv", csv::csv(league)),
        OutputFile::text("league.html", html::html(league, &pictures, made)),
        OutputFile::text("league.md", markdown::markdown(league, &names, made)),
    ];
    for (name, picture) in &pictures {
        files.extend(picture.files(name)?);
    }
    Ok(files)
}
