//! The file of a truth log.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// A file that is created, or truncated, at the first write. The server writes to its log, [`ServerOptions::truth`],
/// only after it has its port. A server that fails to get its port therefore destroys no earlier log.
///
/// [`ServerOptions::truth`]: crate::ServerOptions::truth
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: Option<File>,
}

impl LogFile {
    /// Creates a handle for the file at `path`. Does not touch the file before the first write.
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
