//! A file that is written beside its place and renamed, so that no file is ever half written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::SaveError;

/// A part of the name of a file that is being written. Such files do not count as contents of a folder.
pub(super) const PARTIAL: &str = ".partial-";

/// An error of this file or folder.
pub(super) fn io_error(path: &Path) -> impl Fn(io::Error) -> SaveError {
    move |source| SaveError::Io { path: path.to_owned(), source }
}

/// A file that is written and not yet in its place. Removed when dropped before it got there.
pub(super) struct Partial {
    from: PathBuf,
    to: PathBuf,
}

impl Partial {
    /// Writes a file of `folder` beside its place, to the disk.
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

    /// Renames it.
    pub(super) fn put_in_place(self) -> Result<(), SaveError> {
        fs::rename(&self.from, &self.to).map_err(io_error(&self.to))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After a rename there is nothing to remove, and where removing fails there is nobody to tell.
        let _ = fs::remove_file(&self.from);
    }
}
