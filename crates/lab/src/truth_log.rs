//! Reader of a server's truth logs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use truetail_analysis::league::{ServerView, StreamView};

#[derive(Deserialize)]
struct RequestRow {
    epoch: u32,
    number: u64,
    arrived_ns: u64,
    answered_ns: Option<u64>,
}

#[derive(Deserialize)]
struct EventRow {
    epoch: u32,
    number: u64,
    kind: String,
    left_ns: u64,
}

/// Reads the requests that the server saw in the last epoch of its fault clock. An error describes the problem in one
/// line.
pub(crate) fn read(path: &Path) -> Result<ServerView, String> {
    Ok(ServerView::new(read_last_epoch(path)?.into_iter().map(|row| (row.arrived_ns, row.answered_ns)).collect()))
}

/// Reads the streams that the server sent in the last epoch of its fault clock. Fails like [`read`].
pub(crate) fn read_streams(requests: &Path, events: &Path) -> Result<StreamView, String> {
    let rows = read_last_epoch(requests)?;
    let epoch = rows.first().map(|row| row.epoch);
    let mut content: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in rows_of::<EventRow>(events)?.into_iter().filter(|row| Some(row.epoch) == epoch && row.kind == "content")
    {
        content.entry(row.number).or_default().push(row.left_ns);
    }
    let events_of = |number: &u64| content.get(number).map_or(&[][..], Vec::as_slice);
    Ok(StreamView::new(rows.iter().map(|row| (row.arrived_ns, events_of(&row.number)))))
}

fn read_last_epoch(path: &Path) -> Result<Vec<RequestRow>, String> {
    let mut rows: Vec<RequestRow> = rows_of(path)?;
    let last = rows.iter().map(|row| row.epoch).max().unwrap_or_default();
    rows.retain(|row| row.epoch == last);
    Ok(rows)
}

fn rows_of<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let broken = |error: csv::Error| format!("{}: {error}", path.display());
    csv::Reader::from_path(path).map_err(broken)?.deserialize().collect::<Result<_, _>>().map_err(broken)
}
