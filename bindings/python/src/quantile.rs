//! `truetail.Quantile`.

use pyo3::prelude::*;
use truetail_report::number;

use crate::json::{Reduced, reduced};

/// Converts nanoseconds to seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    truetail_model::time::Nanos(ns).as_secs_f64()
}

/// A quantile of a distribution, with its confidence interval and its limitations.
#[pyclass(module = "truetail", frozen, eq)]
#[derive(Clone, Copy, PartialEq)]
pub struct Quantile(pub truetail_run::Quantile);

#[pymethods]
impl Quantile {
    /// The quantile in [0, 1].
    #[getter]
    fn q(&self) -> f64 {
        self.0.q
    }

    /// The value in seconds; a lower bound if `at_least`; `None` if the sample is too small.
    #[getter]
    fn value(&self) -> Option<f64> {
        self.0.value_ns.map(seconds)
    }

    /// The value in nanoseconds.
    #[getter]
    fn value_ns(&self) -> Option<u64> {
        self.0.value_ns
    }

    /// Lower end of the 95 % confidence interval in seconds.
    #[getter]
    fn low(&self) -> Option<f64> {
        self.0.low_ns.map(seconds)
    }

    /// Lower end of the 95 % confidence interval in nanoseconds.
    #[getter]
    fn low_ns(&self) -> Option<u64> {
        self.0.low_ns
    }

    /// Upper end of the 95 % confidence interval in seconds; `None` if it has no upper end.
    #[getter]
    fn high(&self) -> Option<f64> {
        self.0.high_ns.map(seconds)
    }

    /// Upper end of the 95 % confidence interval in nanoseconds.
    #[getter]
    fn high_ns(&self) -> Option<u64> {
        self.0.high_ns
    }

    /// True if the quantile falls among arrivals without an answer, so that the true value is at least `value`.
    #[getter]
    fn at_least(&self) -> bool {
        self.0.at_least
    }

    /// True if the quantile falls among failed arrivals, which would never have got an answer.
    #[getter]
    fn no_answer(&self) -> bool {
        self.0.no_answer
    }

    /// True if the sample is large enough for the quantile.
    #[getter]
    fn supported(&self) -> bool {
        self.0.supported
    }

    /// Number of arrivals that the quantile needs, if the sample is too small.
    #[getter]
    fn needs_n(&self) -> Option<u64> {
        self.0.needs_n
    }

    /// True if the generator's own lag is too large a share of the value.
    #[getter]
    fn unresolved(&self) -> bool {
        self.0.unresolved
    }

    /// Returns the parts from which pickle makes the same value.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced(py, "Quantile", &self.0)
    }

    fn __repr__(&self) -> String {
        format!("<truetail.Quantile {} {}>", number::quantile_name(self.0.q), number::quantile(&self.0))
    }
}

impl Quantile {
    /// Returns seconds; infinite if no answer came; `None` if the sample is too small.
    pub fn as_seconds(&self) -> Option<f64> {
        if self.0.at_least { Some(f64::INFINITY) } else { self.value() }
    }

    /// Returns nanoseconds, if there is a number.
    pub fn as_ns(&self) -> Option<u64> {
        self.0.value_ns.filter(|_| !self.0.at_least)
    }
}
