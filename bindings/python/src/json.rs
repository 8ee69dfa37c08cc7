//! Conversion of values to Python objects, through JSON.

use pyo3::prelude::*;
use serde::Serialize;

pub(crate) fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).expect("every key is a text and every value has a JSON form");
    py.import("json")?.call_method1("loads", (text,))
}
