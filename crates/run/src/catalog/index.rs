//! `runs.jsonl`: a copy of the lines of a list. It may be deleted at any time.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::places::Stamp;
use super::saved_run::SavedRun;
use crate::folder::{SaveError, write_file};
use crate::input;

/// Name of the index, in the folder that is listed.
pub const INDEX: &str = "runs.jsonl";
/// Form of the lines. Another version of truetail may read other figures out of the same run, so it reads the runs.
const HEAD: Head = Head { schema: "truetail.runs-index/1", version: env!("CARGO_PKG_VERSION") };

#[derive(Serialize)]
struct Head {
    schema: &'static str,
    version: &'static str,
}

/// A run, and the state of its files when it was read.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) stamp: Stamp,
    pub(super) run: SavedRun,
}

/// Returns the lines by folder; none if the index is missing or of another version. A damaged line is passed over.
pub(super) fn read(parent: &Path) -> HashMap<String, Line> {
    let bytes = input::read(&parent.join(INDEX), input::LONGEST).unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    let mut lines = text.lines();
    if lines.next() != Some(head().as_str()) {
        return HashMap::new();
    }
    let read = lines.filter_map(|line| serde_json::from_str::<Line>(line).ok());
    read.map(|line| (line.run.folder.clone(), line)).collect()
}

/// Writes the index under a temporary name, and renames it.
pub(super) fn write(parent: &Path, lines: &[Line]) -> Result<(), SaveError> {
    write_file(parent, INDEX, |out| {
        writeln!(out, "{}", head())?;
        lines.iter().try_for_each(|line| {
            serde_json::to_writer(&mut *out, line).map_err(io::Error::from)?;
            out.write_all(b"\n")
        })
    })
}

fn head() -> String {
    serde_json::to_string(&HEAD).expect("two texts")
}
