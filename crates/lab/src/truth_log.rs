//! Reads the truth log of a server.

use std::path::Path;

use serde::Deserialize;
use truetail_analysis::league::ServerView;

/// The columns that are used.
#[derive(Deserialize)]
struct Row {
    epoch: u32,
    arrived_ns: u64,
    answered_ns: Option<u64>,
}

/// The requests that the server saw in the last epoch of its fault clock.
///
/// # Errors
/// What is wrong with the file, in one line.
pub(crate) fn read(path: &Path) -> Result<ServerView, String> {
    let broken = |error: csv::Error| format!("{}: {error}", path.display());
    let mut reader = csv::Reader::from_path(path).map_err(broken)?;
    let rows: Vec<Row> = reader.deserialize().collect::<Result<_, _>>().map_err(broken)?;
    let last = rows.iter().map(|row| row.epoch).max().unwrap_or_default();
    let of_last = rows.iter().filter(|row| row.epoch == last);
    Ok(ServerView::new(of_last.map(|row| (row.arrived_ns, row.answered_ns)).collect()))
}
