//! Source of a run's files: a folder, or a text that a process printed or left as its checkpoint.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::{LoadError, PackError};
use super::{CHECKPOINT, checkpoint, pack};
use crate::input;

pub(super) struct Source {
    /// The folder, or the file with the text.
    path: PathBuf,
    packed: Option<BTreeMap<String, Vec<u8>>>,
}

impl Source {
    /// Opens the folder at `path`, or the packed run in the file at `path`.
    pub(super) fn at(path: &Path) -> Result<Source, LoadError> {
        let packed = match path {
            file if file.is_file() => unpacked(file)?,
            folder if checkpoint::is_newest(folder) => unpacked(&folder.join(CHECKPOINT))?,
            _ => None,
        };
        Ok(Source { path: path.to_owned(), packed })
    }

    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens a file; `None` if it does not exist.
    pub(super) fn open(&self, name: &str) -> Result<Option<Box<dyn Read + '_>>, LoadError> {
        let Some(packed) = &self.packed else {
            let path = self.path_of(name);
            return match input::open(&path) {
                Ok(file) => Ok(Some(Box::new(input::AtMost::new(file, input::LONGEST)))),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    Ok(None)
                }
                Err(source) => Err(LoadError::Io { path, source }),
            };
        };
        Ok(packed.get(name).map(|bytes| Box::new(bytes.as_slice()) as Box<dyn Read>))
    }

    /// Reads a file; `None` if it does not exist.
    pub(super) fn text_of(&self, name: &str) -> Result<Option<String>, LoadError> {
        let Some(mut file) = self.open(name)? else { return Ok(None) };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|source| LoadError::Io { path: self.path_of(name), source })?;
        Ok(Some(text))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns the files of a packed run; `None` if the file has no packed run.
fn unpacked(path: &Path) -> Result<Option<BTreeMap<String, Vec<u8>>>, LoadError> {
    let io_error = |source| LoadError::Io { path: path.to_owned(), source };
    let file = input::open(path).map_err(io_error)?;
    if file.metadata().map_err(io_error)?.len() > input::LONGEST {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    input::AtMost::new(file, input::LONGEST).read_to_end(&mut bytes).map_err(io_error)?;
    let text = String::from_utf8_lossy(&bytes);
    match pack::unpack(&text) {
        Ok(files) => Ok(Some(files)),
        Err(PackError::None) => Ok(None),
        Err(source) => Err(LoadError::Packed { path: path.to_owned(), source }),
    }
}
