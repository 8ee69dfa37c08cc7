//! Response times by the label that a function gives to each answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyString;
use serde::{Deserialize, Serialize};
use truetail_analysis::support::min_sample_size;
use truetail_model::arrival::Arrival;
use truetail_model::record::Histogram;
use truetail_model::time::{Nanos, Timestamp};

use crate::arguments::type_error;

/// Limit on the labels of a run. Calls with further labels count together as [`OTHER`].
const MAX_LABELS: usize = 64;
const OTHER: &str = "other";

/// Measured answers of a label, and their response times in seconds. `None`: the sample is too small.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LabelFinding {
    pub calls: u64,
    p50: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
}

impl LabelFinding {
    fn new(times: &Histogram) -> LabelFinding {
        let calls = times.count();
        let supported = |q: f64| Some(q).filter(|q| calls >= min_sample_size(*q));
        let quantile = |q: f64| supported(q).and_then(|q| times.quantile(q)).map(Nanos::as_secs_f64);
        LabelFinding { calls, p50: quantile(0.5), p99: quantile(0.99), max: times.max().map(Nanos::as_secs_f64) }
    }
}

/// Labels answers and collects their response times from all threads.
pub(crate) struct Labels {
    function: Py<PyAny>,
    measure_from: Timestamp,
    times: Mutex<BTreeMap<String, Histogram>>,
}

impl Labels {
    pub(crate) fn new(function: Py<PyAny>, measure_from: Timestamp) -> Labels {
        Labels { function, measure_from, times: Mutex::default() }
    }

    /// Labels an answer. Its exception makes the call a failed one.
    pub(crate) fn record(&self, answer: &Bound<'_, PyAny>, arrival: Arrival, response_time: Nanos) -> PyResult<()> {
        let label = self.function.bind(answer.py()).call1((answer,))?;
        if label.is_none() {
            return Ok(());
        }
        let label =
            label.cast::<PyString>().map_err(|_| type_error("label", "a function that returns a str", &label))?;
        if arrival.intended_start < self.measure_from {
            return Ok(());
        }
        let mut label = label.to_string();
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() >= MAX_LABELS && !times.contains_key(&label) {
            label = OTHER.to_owned();
        }
        times.entry(label).or_default().record(response_time);
        Ok(())
    }

    pub(crate) fn findings(&self) -> BTreeMap<String, LabelFinding> {
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.iter().map(|(label, times)| (label.clone(), LabelFinding::new(times))).collect()
    }
}
