//! What a run is to Python.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde::Serialize;
use truetail_model::record::Metric;
use truetail_report::{Style, number, summary};
use truetail_run::wire::v1::run_file;
use truetail_run::{Findings, Run, folder};

use crate::arguments::{choice, quantile};
use crate::histogram::Histogram;
use crate::html::html;
use crate::quantile::Quantile;
use crate::samples;
use crate::saved::save_error;
use crate::verdict::Verdict;

/// The exceptions of a callable.
#[derive(Default)]
pub struct Raised {
    /// How many, by type.
    pub by_type: BTreeMap<String, u64>,
    /// The first, with its traceback.
    pub first: Option<Py<PyAny>>,
}

/// What was measured, and what can be said of it. Times are seconds; nanoseconds stand only behind names that end in
/// `_ns`.
#[pyclass(name = "Result", module = "truetail", frozen)]
pub struct RunResult {
    run: Run,
    findings: Findings,
    raised: Raised,
    lacking: Vec<String>,
}

impl RunResult {
    /// The run with its findings.
    pub fn new(py: Python<'_>, run: Run, raised: Raised) -> RunResult {
        let findings = py.detach(|| truetail_analysis::findings(&run));
        RunResult { run, findings, raised, lacking: Vec::new() }
    }

    /// Says what could not be read.
    pub fn with_lacking(self, lacking: Vec<String>) -> RunResult {
        RunResult { lacking, ..self }
    }

    fn at(&self, py: Python<'_>, q: f64, metric: &str) -> PyResult<Quantile> {
        let (q, metric) = (quantile(q)?, metric_of(metric)?);
        Ok(Quantile(py.detach(|| truetail_analysis::quantile(&self.run, metric, q))))
    }
}

fn metric_of(name: &str) -> PyResult<Metric> {
    choice("metric", name, &Metric::ALL.map(|metric| (metric.name(), metric)))
}

/// A value as Python reads its JSON.
pub fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).expect("every key is a text and every value has a JSON form");
    py.import("json")?.call_method1("loads", (text,))
}

#[pymethods]
impl RunResult {
    /// Quantile `q` in [0, 1] of `metric` in seconds: infinite where it falls among arrivals without an answer, `None`
    /// where the sample is too small to carry it. `quantile_info` tells more.
    #[pyo3(signature = (q, metric = "response_time"))]
    fn quantile(&self, py: Python<'_>, q: f64, metric: &str) -> PyResult<Option<f64>> {
        Ok(self.at(py, q, metric)?.as_seconds())
    }

    /// Quantile `q` in [0, 1] of `metric` in nanoseconds; `None` where it falls among arrivals without an answer, and
    /// where the sample is too small to carry it.
    #[pyo3(signature = (q, metric = "response_time"))]
    fn quantile_ns(&self, py: Python<'_>, q: f64, metric: &str) -> PyResult<Option<u64>> {
        Ok(self.at(py, q, metric)?.as_ns())
    }

    /// All that is known of quantile `q` in [0, 1] of `metric`.
    #[pyo3(signature = (q, metric = "response_time"))]
    fn quantile_info(&self, py: Python<'_>, q: f64, metric: &str) -> PyResult<Quantile> {
        self.at(py, q, metric)
    }

    /// What was measured: the name of the scenario or of the callable.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.run.facts.offered.name.as_deref()
    }

    /// `open`, `closed` or `partly-open`.
    #[getter]
    fn model(&self) -> &'static str {
        self.run.facts.offered.model.name()
    }

    /// Arrivals that were planned and measured, with and without an answer.
    #[getter]
    fn count(&self) -> u64 {
        self.findings.response_time.count
    }

    /// The books: planned = issued + never_issued, and what became of the issued.
    #[getter]
    fn tally<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.run.snapshot.tally)
    }

    /// The books of the warm-up, which is in nothing else.
    #[getter]
    fn warmup_tally<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.run.snapshot.warmup)
    }

    /// Answers by HTTP status; 0 where there is no such thing.
    #[getter]
    fn statuses(&self) -> BTreeMap<u16, u64> {
        self.run.snapshot.statuses.clone()
    }

    /// Failures by cause.
    #[getter]
    fn causes(&self) -> BTreeMap<&'static str, u64> {
        self.run.snapshot.causes.iter().map(|(cause, count)| (cause.name(), *count)).collect()
    }

    /// How many exceptions a callable raised, by type, warm-up included.
    #[getter]
    fn exceptions(&self) -> BTreeMap<String, u64> {
        self.raised.by_type.clone()
    }

    /// The first exception that a callable raised, with its traceback.
    #[getter]
    fn first_exception<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.raised.first.as_ref().map(|first| first.bind(py).clone())
    }

    /// Can the numbers be trusted, and if not, why?
    #[getter]
    fn verdict(&self) -> Verdict {
        Verdict(self.findings.verdict.clone())
    }

    /// Planned arrivals per second of the schedule; `None` for fewer than two in a time that nobody chose.
    #[getter]
    fn offered_per_second(&self) -> Option<f64> {
        self.findings.offered_per_second
    }

    /// Answers per second from the first intended start to the last end; `None` for fewer than two arrivals.
    #[getter]
    fn throughput_per_second(&self) -> Option<f64> {
        self.findings.throughput_per_second
    }

    /// The run was ended before its time.
    #[getter]
    fn interrupted(&self) -> bool {
        self.run.facts.interrupted
    }

    /// Things to say that belong to no number.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.run.facts.notes.clone()
    }

    /// What could not be read of a saved run, because its file is not there.
    #[getter]
    fn lacking(&self) -> Vec<String> {
        self.lacking.clone()
    }

    /// `to_numpy` holds one arrival in this many.
    #[getter]
    fn one_in(&self) -> u64 {
        self.run.snapshot.samples.one_in()
    }

    /// The whole tail on one screen, as the command line prints it.
    #[pyo3(signature = (*, width = 100, color = false, unicode = true))]
    fn table(&self, width: usize, color: bool, unicode: bool) -> String {
        summary(&self.run, &self.findings, None, Style { color, width, unicode })
    }

    /// The distribution of `metric` by bucket. That of `response_time` holds the answered arrivals.
    #[pyo3(signature = (metric = "response_time"))]
    fn hist(&self, metric: &str) -> PyResult<Histogram> {
        Ok(Histogram::of(self.run.snapshot.metric(metric_of(metric)?)))
    }

    /// Single arrivals in the order of their intended start, as a structured array: all where they fit, else an even
    /// part of them (see `one_in`). `slowest=True` adds those that were kept only because they are slow.
    #[pyo3(signature = (*, slowest = false))]
    fn to_numpy<'py>(&self, py: Python<'py>, slowest: bool) -> PyResult<Bound<'py, PyAny>> {
        samples::to_numpy(py, &self.run.snapshot.samples, slowest)
    }

    /// As `to_numpy`, as a data frame.
    #[pyo3(signature = (*, slowest = false))]
    fn to_pandas<'py>(&self, py: Python<'py>, slowest: bool) -> PyResult<Bound<'py, PyAny>> {
        samples::to_pandas(py, &self.run.snapshot.samples, slowest)
    }

    /// What `run.json` holds.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &run_file(&self.run, &self.findings))
    }

    /// Saves the run in this folder, which must be new, empty or hold a run that is then replaced.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| folder::save(&path, &self.run, &self.findings)).map_err(|error| save_error(&error))
    }

    fn _repr_html_(&self) -> String {
        html(&self.run, &self.findings)
    }

    fn __repr__(&self) -> String {
        let quantiles = self.findings.response_time.quantiles.iter();
        let shown = quantiles.filter(|one| one.supported && [0.5, 0.99, 1.0].contains(&one.q));
        let quantiles: String =
            shown.map(|one| format!(", {} {}", number::quantile_name(one.q), number::quantile(one))).collect();
        let name =
            self.name().or(self.run.facts.offered.url.as_deref()).map_or(String::new(), |name| format!(" {name}"));
        let verdict = self.verdict();
        let (state, count) = (verdict.state_name(), number::count(self.count()));
        format!(
            "<truetail.Result{name}: {state}, {count} arrivals at {}{quantiles}>",
            number::rate_if_any(self.offered_per_second())
        )
    }
}
