//! Why a run folder could not be written or read.

use std::io;
use std::path::{Path, PathBuf};

use crate::wire::WireError;

/// Why a run could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The path is taken by something that is no folder.
    #[error("cannot save a run in {}: it is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder holds something that is no run.
    #[error("cannot save a run in {}: it contains '{found}' but no run; give an empty or a new folder", .folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// The first thing in it, by name.
        found: String,
    },
    /// The system said no.
    #[error("cannot write {}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The run is saved without a file that it can do without.
    #[error("cannot write {}: {source}; the rest of the run is saved", .path.display())]
    Lacking {
        /// The first file that is missing.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl SaveError {
    /// The same about a file that a saved run can do without.
    pub(super) fn of_a_saved_run(self) -> SaveError {
        match self {
            SaveError::Io { path, source } => SaveError::Lacking { path, source },
            other => other,
        }
    }
}

/// Why a run folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no `run.json` there.
    #[error("{} is not a run: it has no run.json; give a folder that truetail saved", .0.display())]
    NotARun(PathBuf),
    /// The system said no.
    #[error("cannot read {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is a file, and what is packed in it cannot be read.
    #[error("{}: {source}", .path.display())]
    Packed {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PackError,
    },
    /// `run.json` cannot be understood.
    #[error("{}: {source}", .path.display())]
    RunFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WireError,
    },
    /// A line that cannot be understood.
    #[error("{}, line {line}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// Two files of the folder do not tell the same run.
    #[error("{}: {problem}; one of the files in this folder was changed or belongs to another run", .path.display())]
    Disagree {
        /// The file that differs from `run.json`.
        path: PathBuf,
        /// Where they differ.
        problem: String,
    },
}

/// Why a text holds no run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PackError {
    /// Nothing in it was packed.
    #[error("it holds no packed run")]
    None,
    /// There are several.
    #[error("it holds {0} packed runs; give each in a file of its own")]
    Several(usize),
    /// The end is missing, or the beginning, as after a log was rotated.
    #[error(
        "the packed run in it is cut off ({found} of {said} bytes); a log that was rotated or read too early looks like this"
    )]
    Cut {
        /// Bytes that are there.
        found: usize,
        /// Bytes that there should be.
        said: usize,
    },
    /// Some line is not what was printed.
    #[error("the packed run in it is damaged: {0}")]
    Damaged(String),
}

/// What is wrong with a line of a file. The caller adds the path.
#[derive(Debug)]
pub(super) struct LineError {
    /// Counted from 1.
    pub(super) line: u64,
    /// What is wrong with it.
    pub(super) problem: String,
}

impl LineError {
    pub(super) fn of_csv(error: csv::Error) -> LineError {
        let line = error.position().map_or(1, csv::Position::line);
        LineError { line, problem: problem_of(&error) }
    }

    pub(super) fn at(self, path: &Path) -> LoadError {
        LoadError::Malformed { path: path.to_owned(), line: self.line, problem: self.problem }
    }
}

/// The problem without its position.
fn problem_of(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, but the first line has {expected_len}")
        }
        _ => error.to_string(),
    }
}
