//! `truetail.Quantile`.

use pyo3::prelude::*;
use truetail_report::number;

/// Nanoseconds as seconds.
pub fn seconds(ns: u64) -> f64 {
    truetail_model::time::Nanos(ns).as_secs_f64()
}

/// One quantile of a distribution, with its confidence interval and what limits it.
#[pyclass(module = "truetail", frozen, eq)]
#[derive(Clone, Copy, PartialEq)]
pub struct Quantile(pub truetail_run::Quantile);

#[pymethods]
impl Quantile {
    /// In [0, 1].
    #[getter]
    fn q(&self) -> f64 {
        self.0.q
    }

    /// Seconds; a lower bound where `at_least`; `None` where the sample is too small.
    #[getter]
    fn value(&self) -> Option<f64> {
        self.0.value_ns.map(seconds)
    }

    /// As `value`, in nanoseconds.
    #[getter]
    fn value_ns(&self) -> Option<u64> {
        self.0.value_ns
    }

    /// Lower end of the 95 % confidence interval, seconds.
    #[getter]
    fn low(&self) -> Option<f64> {
        self.0.low_ns.map(seconds)
    }

    /// As `low`, in nanoseconds.
    #[getter]
    fn low_ns(&self) -> Option<u64> {
        self.0.low_ns
    }

    /// Upper end of the 95 % confidence interval, seconds; `None` where it has none.
    #[getter]
    fn high(&self) -> Option<f64> {
        self.0.high_ns.map(seconds)
    }

    /// As `high`, in nanoseconds.
    #[getter]
    fn high_ns(&self) -> Option<u64> {
        self.0.high_ns
    }

    /// It falls among arrivals without an answer: the truth is at least `value`.
    #[getter]
    fn at_least(&self) -> bool {
        self.0.at_least
    }

    /// It falls among arrivals that failed: no answer would ever have come.
    #[getter]
    fn no_answer(&self) -> bool {
        self.0.no_answer
    }

    /// The sample is large enough to support it.
    #[getter]
    fn supported(&self) -> bool {
        self.0.supported
    }

    /// How many arrivals would support it, where the sample is too small.
    #[getter]
    fn needs_n(&self) -> Option<u64> {
        self.0.needs_n
    }

    /// The generator's own lag is too large a share of it.
    #[getter]
    fn unresolved(&self) -> bool {
        self.0.unresolved
    }

    fn __repr__(&self) -> String {
        format!("<truetail.Quantile {} {}>", number::quantile_name(self.0.q), number::quantile(&self.0))
    }
}

impl Quantile {
    /// Seconds; infinite where no answer came; `None` where the sample is too small.
    pub fn as_seconds(&self) -> Option<f64> {
        if self.0.at_least { Some(f64::INFINITY) } else { self.value() }
    }

    /// Nanoseconds, where there is a number.
    pub fn as_ns(&self) -> Option<u64> {
        self.0.value_ns.filter(|_| !self.0.at_least)
    }
}
