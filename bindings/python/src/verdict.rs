//! The verdict on a run.

use pyo3::prelude::*;

use crate::json::{Reduced, reduced};

/// The worst state among the reasons, and the reasons.
#[pyclass(module = "truetail", frozen)]
pub struct Verdict(pub truetail_run::Verdict);

impl Verdict {
    pub fn state_name(&self) -> &'static str {
        self.0.state.name()
    }
}

#[pymethods]
impl Verdict {
    /// `VALID`, `SUSPECT` or `INVALID`.
    #[getter]
    fn state(&self) -> &'static str {
        self.state_name()
    }

    /// The reasons, worst first.
    #[getter]
    fn reasons(&self) -> Vec<Reason> {
        self.0.reasons.iter().cloned().map(Reason).collect()
    }

    /// Returns the parts from which pickle makes the same value.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced(py, "Verdict", &self.0)
    }

    fn __repr__(&self) -> String {
        let codes: Vec<_> = self.0.reasons.iter().map(|reason| reason.code.as_str()).collect();
        let because = if codes.is_empty() { String::new() } else { format!(": {}", codes.join(", ")) };
        format!("<truetail.Verdict {}{because}>", self.state_name())
    }
}

/// A reason against a run, with the numbers that triggered it.
#[pyclass(module = "truetail", frozen)]
pub struct Reason(pub truetail_run::Reason);

#[pymethods]
impl Reason {
    /// Name in snake case, such as `generator_paused`.
    #[getter]
    fn code(&self) -> &str {
        &self.0.code
    }

    /// State that this reason causes.
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }

    /// A sentence with the numbers, and a remedy.
    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    /// The numbers by name. Each name ends in its unit.
    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::json::to_python(py, &self.0.numbers)
    }

    /// Returns the parts from which pickle makes the same value.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced(py, "Reason", &self.0)
    }

    fn __repr__(&self) -> String {
        format!("<truetail.Reason {}: {}>", self.0.code, self.0.message)
    }
}
