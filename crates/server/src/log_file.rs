//! A file for a truth log.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// A file that is made, or emptied, when it is first written to. As the sink of a [`ServerOptions::truth`] that is when
/// the server has its port: one that cannot have it takes nothing away.
///
/// [`ServerOptions::truth`]: crate::ServerOptions::truth
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: Option<File>,
}

impl LogFile {
    /// The file at `path`, which is not touched yet.
    pub fn at(path: impl Into<PathBuf>) -> LogFile {
        LogFile { path: path.into(), file: None }
    }

    fn file(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::create(&self.path).map_err(|error| {
                let message = format!("cannot write the truth log {}: {error}", self.path.display());
                io::Error::new(error.kind(), message)
            })?,
        };
        Ok(self.file.insert(file))
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}
