//! Gates: conditions under which a run fails.

use std::fmt::Display;
use std::str::FromStr;

use pyo3::prelude::*;
use truetail_analysis::gates as analysis;
use truetail_run::{GateFinding, GateState};

use crate::arguments::value_error;
use crate::json::{Reduced, reduced};
use crate::spelling::in_python_with;

/// Parses each text, such as the gates of `fail_if`.
pub(crate) fn parsed<T: FromStr<Err: Display>>(name: &str, texts: &[String]) -> PyResult<Vec<T>> {
    texts.iter().map(|text| text.parse().map_err(|error| value_error(name, error))).collect()
}

/// Parses objectives of the run and conditions that fail it.
pub(crate) fn gates(slo: &[String], fail_if: &[String]) -> PyResult<Vec<analysis::Gate>> {
    let must_hold = parsed::<analysis::Slo>("slo", slo)?.into_iter().map(|objective| objective.0);
    let conditions = parsed::<analysis::FailIf>("fail_if", fail_if)?.into_iter().map(|condition| condition.0);
    Ok(must_hold.chain(conditions).collect())
}

/// Rejects the first gate that a run can never decide. `requests` is the argument that limits the number of arrivals.
pub(crate) fn refuse_undecidable(
    planned: &analysis::PlannedRun<'_>,
    gates: &[analysis::Gate],
    requests: &str,
) -> PyResult<()> {
    refuse_first(gates, |gate| planned.objection(gate).map(|objection| in_python_with(&objection, requests)))
}

/// Rejects the first gate with an objection.
pub(crate) fn refuse_first(
    gates: &[analysis::Gate],
    objection: impl Fn(&analysis::Gate) -> Option<String>,
) -> PyResult<()> {
    match gates.iter().find_map(|gate| Some((gate, objection(gate)?))) {
        Some((gate, objection)) => Err(value_error(if gate.must_hold() { "slo" } else { "fail_if" }, objection)),
        None => Ok(()),
    }
}

/// A gate, and its result in a run.
#[pyclass(module = "truetail", frozen)]
pub struct Gate(pub GateFinding);

impl Gate {
    fn state_name(&self) -> &'static str {
        match self.0.state {
            GateState::Holds => "holds",
            GateState::Fails => "fails",
            GateState::Open => "open",
        }
    }
}

/// Returns a figure of a gate: times in seconds, shares in [0, 1], rates per second.
fn figure(ns: Option<u64>, other: Option<f64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e9).or(other)
}

#[pymethods]
impl Gate {
    /// The condition as it was written: `p99 > 50ms`.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// `holds` (the service passed), `fails`, or `open` (the run cannot tell).
    #[getter]
    fn state(&self) -> &'static str {
        self.state_name()
    }

    /// The measured value: seconds, a share in [0, 1], or a rate per second; `None` without a value.
    #[getter]
    fn value(&self) -> Option<f64> {
        figure(self.0.value_ns, self.0.value)
    }

    /// The limit, in the unit of `value`.
    #[getter]
    fn limit(&self) -> Option<f64> {
        figure(self.0.limit_ns, self.0.limit)
    }

    /// The measured value in words. For an open gate, also the data that would decide it.
    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the parts from which pickle makes the same value.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced(py, "Gate", &self.0)
    }

    fn __repr__(&self) -> String {
        format!("<truetail.Gate {} {}: {}>", self.0.text, self.state_name(), self.0.message)
    }
}
