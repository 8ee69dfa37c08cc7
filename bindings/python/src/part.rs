//! Parts of results in pickles, as JSON.

use pyo3::PyClass;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pyclass_init::PyClassInitializer;
use serde::de::DeserializeOwned;

use crate::gate::Gate;
use crate::histogram::Histogram;
use crate::quantile::Quantile;
use crate::verdict::{Reason, Verdict};

/// Makes a pickled part of a result again.
#[pyfunction]
pub(crate) fn part<'py>(py: Python<'py>, kind: &str, text: &str) -> PyResult<Bound<'py, PyAny>> {
    match kind {
        "Gate" => made(py, text, Gate),
        "Histogram" => made(py, text, Histogram::new),
        "Quantile" => made(py, text, Quantile),
        "Reason" => made(py, text, Reason),
        "Verdict" => made(py, text, Verdict),
        _ => Err(PyValueError::new_err(format!("kind: there is no '{kind}'"))),
    }
}

fn made<'py, C: DeserializeOwned, T>(
    py: Python<'py>,
    text: &str,
    make: impl FnOnce(C) -> T,
) -> PyResult<Bound<'py, PyAny>>
where
    T: Into<PyClassInitializer<T>> + PyClass,
{
    let content = serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("text: {error}")))?;
    Ok(Bound::new(py, make(content))?.into_any())
}
