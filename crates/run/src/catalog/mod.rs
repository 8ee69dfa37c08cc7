//! The saved runs below a folder: a line about each, from its `run.json`.
//!
//! | module | content |
//! |---|---|
//! | `saved_run` | what a list says of a run |
//! | `places` | the folders that hold runs, and the stamps of their files |
//! | `index` | `runs.jsonl`: a copy of the lines, used if the stamps agree |
//! | `filter`, `order` | a part of a list, and its order |
//! | `removal` | removing the files of a run |
//! | `watched` | a list that is read again and again |
//! | `shape` | the course of response times over a run, for a list |

mod filter;
mod index;
mod order;
mod places;
mod removal;
mod saved_run;
mod shape;
mod watched;

pub use filter::{RunFilter, TagFilter};
pub use index::INDEX;
pub use order::RunOrder;
pub use removal::{Removal, remove};
pub use saved_run::{ListedGate, ListedLoad, ListedTime, ListedTimes, SavedRun};
pub use shape::times_over_run;
pub use watched::WatchedCatalog;

use std::collections::HashMap;
use std::io;
use std::path::Path;

use crate::folder::load_run_file;
use index::Line;
use places::Place;

/// Use of the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexUse {
    /// Take a line from the index if the files of its run have not changed, and update the index.
    Trusted,
    /// Read every run, and leave the index alone: for decisions that cannot be undone.
    Ignored,
}

/// The saved runs below a folder.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Catalog {
    /// The runs, in the order of their folders.
    pub runs: Vec<SavedRun>,
    /// Runs that cannot be read: the path below the folder, and the reason.
    pub unreadable: Vec<(String, String)>,
    /// Number of runs that were taken from the index.
    pub from_index: usize,
}

/// Reads the runs in the folders in `parent`, and in the folders in these. Symbolic links are not followed.
///
/// # Errors
/// If the folder cannot be read, or holds more folders than a list can have.
pub fn read(parent: &Path, index_use: IndexUse) -> io::Result<Catalog> {
    let places = places::below(parent)?;
    let known = match index_use {
        IndexUse::Trusted => index::read(parent),
        IndexUse::Ignored => HashMap::new(),
    };
    let was_known = known.len();
    let (catalog, lines) = lines_of(parent, places, known);
    if index_use == IndexUse::Trusted {
        update_index(parent, &catalog, &lines, was_known);
    }
    Ok(Catalog { runs: lines.into_iter().map(|line| line.run).collect(), ..catalog })
}

/// Writes the index if its `was_known` lines are not the lines of the catalog.
fn update_index(parent: &Path, catalog: &Catalog, lines: &[Line], was_known: usize) {
    if catalog.from_index != lines.len() || was_known != lines.len() {
        // The index only saves time: a folder that cannot be written is no reason to fail.
        let _ = index::write(parent, lines);
    }
}

/// Returns the line of each place, and a catalog of all else.
fn lines_of(parent: &Path, places: Vec<Place>, mut known: HashMap<String, Line>) -> (Catalog, Vec<Line>) {
    let mut catalog = Catalog::default();
    let mut lines = Vec::with_capacity(places.len());
    for Place { folder, stamp } in places {
        if let Some(line) = known.remove(&folder).filter(|line| line.stamp == stamp) {
            catalog.from_index += 1;
            lines.push(line);
            continue;
        }
        match load_run_file(&parent.join(&folder)) {
            Ok(file) => lines.push(Line { stamp, run: SavedRun::new(folder, &file) }),
            Err(error) => catalog.unreadable.push((folder, error.to_string())),
        }
    }
    (catalog, lines)
}
