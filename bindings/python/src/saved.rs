//! `truetail.load`.

use std::path::PathBuf;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use truetail_run::folder::{self, LoadError};

use crate::result::RunResult;

/// Loads the run that was saved in this folder.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<RunResult> {
    let loaded = py.detach(|| folder::load(&path)).map_err(|error| match error {
        LoadError::NotARun(_) => PyFileNotFoundError::new_err(format!("path: {error}")),
        LoadError::Io { .. } => PyOSError::new_err(error.to_string()),
        LoadError::Packed { .. }
        | LoadError::RunFile { .. }
        | LoadError::Malformed { .. }
        | LoadError::Disagree { .. } => PyValueError::new_err(format!("path: {error}")),
    })?;
    let lacking = loaded.missing.iter().map(ToString::to_string).collect();
    // Gates that this version cannot parse any more are omitted.
    let gates: Vec<_> = loaded.gates.iter().filter_map(|gate| gate.text.parse().ok()).collect();
    Ok(RunResult::new(py, loaded.run, Default::default()).judged(&gates).with_lacking(lacking))
}
