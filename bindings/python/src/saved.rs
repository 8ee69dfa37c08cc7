//! `truetail.load`, and errors of the run folder.

use std::io;
use std::path::PathBuf;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use truetail_run::folder::{self, LoadError, SaveError};

use crate::result::{Raised, RunResult};

/// The run that was saved in this folder.
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<RunResult> {
    let loaded = py.detach(|| folder::load(&path)).map_err(|error| match error {
        LoadError::NotARun(_) => PyFileNotFoundError::new_err(format!("path: {error}")),
        LoadError::Io { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(format!("path: {error}")),
    })?;
    let lacking = loaded.missing.iter().map(ToString::to_string).collect();
    Ok(RunResult::new(py, loaded.run, Raised::default()).with_lacking(lacking))
}

/// Why a run was not saved.
pub fn save_error(error: &SaveError) -> PyErr {
    match error {
        SaveError::Io { source, .. } if source.kind() != io::ErrorKind::Other => {
            let kind = io::Error::new(source.kind(), error.to_string());
            kind.into()
        }
        SaveError::Io { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(format!("path: {error}")),
    }
}
