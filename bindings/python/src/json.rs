//! Conversion of values to Python objects and to pickles, through JSON.

use pyo3::prelude::*;
use serde::Serialize;

pub(crate) fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).expect("every key is a text and every value has a JSON form");
    py.import("json")?.call_method1("loads", (text,))
}

/// The function that makes a part of a result again (`part::part`), and its arguments: the type and the content.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, (&'static str, String));

pub(crate) fn reduced<'py>(py: Python<'py>, kind: &'static str, content: &impl Serialize) -> PyResult<Reduced<'py>> {
    let text = serde_json::to_string(content).expect("every part of a result has a JSON form");
    Ok((py.import("truetail._native")?.getattr("part")?, (kind, text)))
}
