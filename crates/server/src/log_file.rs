//! The file of a truth log.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// A file that is created, or truncated, at the first write. As [`ServerOptions::truth`] it is first written to when the
/// server has its port, so that a server which cannot have its port destroys no earlier log.
///
/// [`ServerOptions::truth`]: crate::ServerOptions::truth
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: Option<File>,
}

impl LogFile {
    /// The file at `path`. It is not touched before the first write.
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
