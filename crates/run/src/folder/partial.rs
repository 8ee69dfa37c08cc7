//! A file that is written under another name and renamed, so that no file is ever half written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::SaveError;

/// Part of the name of a file in progress. Such files do not count as contents of a folder.
pub(super) const PARTIAL: &str = ".partial-";

pub(super) fn io_error(path: &Path) -> impl Fn(io::Error) -> SaveError {
    move |source| SaveError::Io { path: path.to_owned(), source }
}

/// A complete file that is not yet renamed. Dropping it removes it.
pub(super) struct Partial {
    from: PathBuf,
    to: PathBuf,
}

impl Partial {
    /// Writes a file of `folder` under a temporary name, and flushes it to the disk.
    pub(super) fn write(
        folder: &Path,
        name: &str,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<Partial, SaveError> {
        let from = folder.join(format!(".{name}{PARTIAL}{}", std::process::id()));
        let partial = Partial { from, to: folder.join(name) };
        let written = File::create(&partial.from).map(BufWriter::new).and_then(|mut out| {
            content(&mut out)?;
            out.flush()?;
            out.get_ref().sync_all()
        });
        written.map(|()| partial).map_err(io_error(&folder.join(name)))
    }

    pub(super) fn put_in_place(self) -> Result<(), SaveError> {
        fs::rename(&self.from, &self.to).map_err(io_error(&self.to))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After a rename, the file is already gone. A failed removal cannot be reported.
        let _ = fs::remove_file(&self.from);
    }
}
