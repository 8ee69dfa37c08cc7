//! `truetail.Histogram`.

use pyo3::prelude::*;

use crate::json::{Reduced, reduced};

/// The used buckets of an HdrHistogram with three significant digits, ascending. A bucket has a lowest and a highest
/// value in nanoseconds, and a count.
#[pyclass(module = "truetail", frozen)]
pub struct Histogram {
    buckets: Vec<(u64, u64, u64)>,
}

impl Histogram {
    pub fn of(histogram: &truetail_model::record::Histogram) -> Histogram {
        Histogram::new(histogram.buckets().map(|(low, high, count)| (low.0, high.0, count)).collect())
    }

    /// Returns the histogram with these buckets: lowest value, highest value and count, ascending.
    pub fn new(buckets: Vec<(u64, u64, u64)>) -> Histogram {
        Histogram { buckets }
    }
}

#[pymethods]
impl Histogram {
    /// The lowest value of each bucket.
    #[getter]
    fn low_ns(&self) -> Vec<u64> {
        self.buckets.iter().map(|(low, ..)| *low).collect()
    }

    /// The highest value of each bucket.
    #[getter]
    fn high_ns(&self) -> Vec<u64> {
        self.buckets.iter().map(|(_, high, _)| *high).collect()
    }

    /// The number of values in each bucket.
    #[getter]
    fn count(&self) -> Vec<u64> {
        self.buckets.iter().map(|(.., count)| *count).collect()
    }

    fn __len__(&self) -> usize {
        self.buckets.len()
    }

    /// Returns the parts from which pickle makes the same value.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        reduced(py, "Histogram", &self.buckets)
    }

    fn __repr__(&self) -> String {
        let values: u64 = self.buckets.iter().map(|(.., count)| count).sum();
        format!("<truetail.Histogram of {values} values in {} buckets>", self.buckets.len())
    }
}
