//! Where the files of a run are read: in a folder, or in a text that a process printed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::{LoadError, PackError};
use super::pack;

/// A file that is larger is no log with a run in it, and is not read.
const LARGEST_TEXT: u64 = 1 << 28;

/// The files of a run that is read.
pub(super) struct Source {
    /// The folder, or the file with the text.
    path: PathBuf,
    /// The files of the text.
    packed: Option<BTreeMap<String, Vec<u8>>>,
}

impl Source {
    /// The folder at `path`, or the run that the file there holds.
    pub(super) fn at(path: &Path) -> Result<Source, LoadError> {
        let packed = if path.is_file() { unpacked(path)? } else { None };
        Ok(Source { path: path.to_owned(), packed })
    }

    /// What a file is called in messages.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// `None` where there is no such file.
    pub(super) fn open(&self, name: &str) -> Result<Option<Box<dyn Read + '_>>, LoadError> {
        let Some(packed) = &self.packed else {
            let path = self.path_of(name);
            return match File::open(&path) {
                Ok(file) => Ok(Some(Box::new(file))),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    Ok(None)
                }
                Err(source) => Err(LoadError::Io { path, source }),
            };
        };
        Ok(packed.get(name).map(|bytes| Box::new(bytes.as_slice()) as Box<dyn Read>))
    }

    /// The whole of a file; `None` where there is no such file.
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

/// `None` if the file holds nothing of a packed run.
fn unpacked(path: &Path) -> Result<Option<BTreeMap<String, Vec<u8>>>, LoadError> {
    let io_error = |source| LoadError::Io { path: path.to_owned(), source };
    if fs::metadata(path).map_err(io_error)?.len() > LARGEST_TEXT {
        return Ok(None);
    }
    let bytes = fs::read(path).map_err(io_error)?;
    let text = String::from_utf8_lossy(&bytes);
    match pack::unpack(&text) {
        Ok(files) => Ok(Some(files)),
        Err(PackError::None) => Ok(None),
        Err(source) => Err(LoadError::Packed { path: path.to_owned(), source }),
    }
}
