//! Removing a run.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::folder::{SaveError, remove_files};

/// Result of removing a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Removal {
    /// The folder is gone.
    Folder,
    /// The files of the run are gone. The folder stays, because it holds other files.
    FilesOnly {
        /// Name of the first of these files.
        left: String,
    },
}

/// Removes the files of the run in `folder`, and the folder if nothing else is in it. Follows no symbolic link.
///
/// # Errors
/// [`SaveError::NotAFolder`] if it is a link or no folder, [`SaveError::Io`] if the system refuses.
pub fn remove(folder: &Path) -> Result<Removal, SaveError> {
    let io_error = |source: io::Error| SaveError::Io { path: folder.to_owned(), source };
    if !fs::symlink_metadata(folder).map_err(io_error)?.is_dir() {
        return Err(SaveError::NotAFolder(folder.to_owned()));
    }
    remove_files(folder)?;
    match fs::remove_dir(folder) {
        Ok(()) => Ok(Removal::Folder),
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
            let names = fs::read_dir(folder).map_err(io_error)?.filter_map(Result::ok);
            let first = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).min();
            Ok(Removal::FilesOnly { left: first.unwrap_or_default() })
        }
        Err(error) => Err(io_error(error)),
    }
}
