//! Folders that hold runs.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::folder::{CHECKPOINT, RUN};

/// Levels of folders that are searched: the runs of `truetail ab` and `truetail run --all --out` are one level deeper.
const LEVELS: usize = 2;
/// Limit on the folders that are searched.
const MAX_FOLDERS: usize = 200_000;

/// A folder with the files of a run.
pub(super) struct Place {
    /// Path below the folder that was searched.
    pub(super) folder: String,
    pub(super) stamp: Stamp,
}

/// State of the files that tell what a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Stamp {
    run: Option<FileStamp>,
    checkpoint: Option<FileStamp>,
}

/// State of a file: inode, size, and the times of the last change of its content and of its inode, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct FileStamp(u64, u64, i64, i64);

impl FileStamp {
    fn of(file: &Path) -> Option<FileStamp> {
        let metadata: Metadata = fs::symlink_metadata(file).ok().filter(Metadata::is_file)?;
        let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
        let modified = ns(metadata.mtime(), metadata.mtime_nsec());
        let changed = ns(metadata.ctime(), metadata.ctime_nsec());
        Some(FileStamp(metadata.ino(), metadata.size(), modified, changed))
    }
}

impl Stamp {
    /// Returns the stamp of a run; `None` if the folder holds none.
    fn of(folder: &Path) -> Option<Stamp> {
        let run = FileStamp::of(&folder.join(RUN));
        let checkpoint = FileStamp::of(&folder.join(CHECKPOINT));
        (run.is_some() || checkpoint.is_some()).then_some(Stamp { run, checkpoint })
    }
}

/// Returns the folders below `parent` that hold runs, in order of their paths.
pub(super) fn below(parent: &Path) -> io::Result<Vec<Place>> {
    let mut found = Vec::new();
    let mut searched = 0;
    search(parent, "", LEVELS, &mut searched, &mut found)?;
    found.sort_by(|a: &Place, b| a.folder.cmp(&b.folder));
    Ok(found)
}

/// Searches the folders in `parent`, `levels` deep. A folder below that cannot be read is passed over.
fn search(parent: &Path, prefix: &str, levels: usize, searched: &mut usize, found: &mut Vec<Place>) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        // Not followed: a link may lead out of the folder, and a removal must not.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_folder && !name.starts_with('.')) else { continue };
        *searched += 1;
        if *searched > MAX_FOLDERS {
            return Err(io::Error::other(format!("it holds more than {MAX_FOLDERS} folders")));
        }
        let folder = format!("{prefix}{name}");
        match Stamp::of(&entry.path()) {
            Some(stamp) => found.push(Place { folder, stamp }),
            None if levels > 1 => {
                let inner = search(&entry.path(), &format!("{folder}/"), levels - 1, searched, found);
                inner.or_else(|error| if *searched > MAX_FOLDERS { Err(error) } else { Ok(()) })?;
            }
            None => {}
        }
    }
    Ok(())
}
