//! `truetail.load`, and results that were pickled.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use truetail_run::folder::{self, LoadError};

use crate::calls::CallExceptions;
use crate::result::RunResult;

/// Loads the run that was saved in this folder.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<RunResult> {
    read(py, &path, CallExceptions::default())
}

/// Loads a pickled result: the packed run in a file, and what Python knows of it besides.
#[pyfunction]
pub(crate) fn restored(
    py: Python<'_>,
    path: PathBuf,
    by_type: BTreeMap<String, u64>,
    first: Option<Py<PyAny>>,
    labels: &str,
    lacking: Vec<String>,
) -> PyResult<RunResult> {
    let labels = serde_json::from_str(labels).map_err(|error| PyValueError::new_err(format!("labels: {error}")))?;
    Ok(read(py, &path, CallExceptions { by_type, first })?.with_labels(labels).with_lacking(lacking))
}

fn read(py: Python<'_>, path: &Path, exceptions: CallExceptions) -> PyResult<RunResult> {
    let loaded = py.detach(|| folder::load(path)).map_err(|error| match error {
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
    Ok(RunResult::new(py, loaded.run, exceptions).judged(&gates).with_lacking(lacking))
}
