//! Errors of writing or reading a run folder.

use std::io;
use std::path::{Path, PathBuf};

use csv::StringRecord;

use crate::wire::WireError;

/// Reason why a run could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The path is not a folder.
    #[error("cannot save a run in {}: it is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder is not empty and has no run.
    #[error("cannot save a run in {}: it contains '{found}' but no run; give an empty or a new folder", .folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// Name of the first entry in it.
        found: String,
    },
    /// An operation of the file system failed.
    #[error("cannot write {}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The run was saved, but without an optional file.
    #[error("cannot write {}: {source}; the rest of the run is saved", .path.display())]
    Lacking {
        /// The first missing file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl SaveError {
    /// Turns an I/O error into one about an optional file of a saved run.
    pub(super) fn into_lacking(self) -> SaveError {
        match self {
            SaveError::Io { path, source } => SaveError::Lacking { path, source },
            other => other,
        }
    }
}

/// Reason why a run folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The folder has no `run.json`.
    #[error("{} is not a run: it has no run.json; give a folder that truetail saved", .0.display())]
    NotARun(PathBuf),
    /// An operation of the file system failed.
    #[error("cannot read {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The path is a file, but the packed run in it cannot be read.
    #[error("{}: {source}", .path.display())]
    Packed {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: PackError,
    },
    /// `run.json` cannot be parsed.
    #[error("{}: {source}", .path.display())]
    RunFile {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: WireError,
    },
    /// A line cannot be parsed.
    #[error("{}, line {line}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// Description of the problem.
        problem: String,
    },
    /// Two files of the folder contradict each other.
    #[error("{}: {problem}; one of the files in this folder was changed or belongs to another run", .path.display())]
    Disagree {
        /// The file that differs from `run.json`.
        path: PathBuf,
        /// Description of the contradiction.
        problem: String,
    },
}

/// Reason why a text has no readable packed run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PackError {
    /// It has no packed run.
    #[error("it holds no packed run")]
    None,
    /// It has several packed runs.
    #[error("it holds {0} packed runs; give each in a file of its own")]
    Several(usize),
    /// The end or the beginning is missing, for example because a log was rotated.
    #[error(
        "the packed run in it is cut off ({found} of {said} bytes); a log that was rotated or read too early looks like this"
    )]
    Cut {
        /// Bytes that exist.
        found: usize,
        /// Bytes that should exist.
        said: usize,
    },
    /// The packed text was changed, or cannot be unpacked.
    #[error("the packed run in it is damaged: {0}")]
    Damaged(String),
}

/// A problem in a line of a file. The caller adds the path.
#[derive(Debug)]
pub(super) struct LineError {
    /// Number of the line, from 1.
    pub(super) line: u64,
    pub(super) problem: String,
}

impl LineError {
    pub(super) fn from_csv(error: csv::Error) -> LineError {
        let line = error.position().map_or(1, csv::Position::line);
        LineError { line, problem: problem_of(&error) }
    }

    /// Creates an error about a record that was read.
    pub(super) fn in_record(record: &StringRecord, problem: String) -> LineError {
        LineError { line: record.position().map_or(0, csv::Position::line), problem }
    }

    pub(super) fn at(self, path: &Path) -> LoadError {
        LoadError::Malformed { path: path.to_owned(), line: self.line, problem: self.problem }
    }
}

/// Returns the problem without its position.
fn problem_of(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, but the first line has {expected_len}")
        }
        _ => error.to_string(),
    }
}
