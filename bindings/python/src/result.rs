//! `truetail.Result`.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use pyo3::exceptions::{PyFileExistsError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use truetail_analysis::NamedStreamTime;
use truetail_model::record::Metric;
use truetail_report::{Style, SummaryOptions, number, summary};
use truetail_run::folder::{self, SaveError};
use truetail_run::wire::v1::run_file;
use truetail_run::{Findings, Run, RunSource, StreamFacts, StreamTime};

use crate::arguments::{choice, quantile, value_error};
use crate::calls::CallExceptions;
use crate::gate::Gate;
use crate::histogram::Histogram;
use crate::html::html;
use crate::json::to_python;
use crate::labels::LabelFinding;
use crate::quantile::Quantile;
use crate::samples;
use crate::verdict::Verdict;

/// A measured run and its findings. Times are in seconds, except in names with the suffix `_ns`.
#[pyclass(name = "Result", module = "truetail", frozen)]
pub struct RunResult {
    run: Run,
    findings: Findings,
    exceptions: CallExceptions,
    labels: BTreeMap<String, LabelFinding>,
    lacking: Vec<String>,
}

impl RunResult {
    /// Computes the findings of a run.
    pub fn new(py: Python<'_>, run: Run, exceptions: CallExceptions) -> RunResult {
        let findings = py.detach(|| truetail_analysis::findings(&run));
        RunResult { run, findings, exceptions, labels: BTreeMap::new(), lacking: Vec::new() }
    }

    pub fn judged(mut self, gates: &[truetail_analysis::gates::Gate]) -> RunResult {
        self.findings.gates = truetail_analysis::gates::judge_all(gates, &self.run, &self.findings);
        self
    }

    pub(crate) fn with_labels(self, labels: BTreeMap<String, LabelFinding>) -> RunResult {
        RunResult { labels, ..self }
    }

    /// Adds the parts of a saved run that could not be read.
    pub fn with_lacking(self, lacking: Vec<String>) -> RunResult {
        RunResult { lacking, ..self }
    }

    fn at(&self, py: Python<'_>, q: f64, metric: &str) -> PyResult<Quantile> {
        let q = quantile(q)?;
        let found = match named_time(metric)? {
            NamedTime::OfRequests(metric) => py.detach(|| truetail_analysis::quantile(&self.run, metric, q)),
            NamedTime::OfStreams(time) => time.quantile(self.streams_with(time, metric)?, q),
        };
        Ok(Quantile(found))
    }

    /// Returns the streams, if they have this time.
    fn streams_with(&self, time: NamedStreamTime, name: &str) -> PyResult<&StreamFacts> {
        let lacks = |remedy: &str| value_error("metric", format!("this run has no '{name}'; {remedy}"));
        let streams = self.run.facts.stream.as_ref();
        let is_callable = self.run.facts.source == RunSource::Callable;
        match streams {
            _ if time.is_of_llm() && streams.is_none_or(|streams| streams.llm.is_none()) => {
                Err(lacks("it is about answers of a language model: truetail.run(..., llm='openai-chat')"))
            }
            None if is_callable => Err(lacks("only the items of an 'async def' function that yields have times")),
            None => Err(lacks("answers have it that are read as streams: truetail.run(..., stream='sse')")),
            Some(streams) if time.known() == StreamTime::PushDelay && streams.stamps.is_none() => Err(lacks(
                "it is about pushes with the sender's time: truetail.run(..., subscribe=FILE, stamp='json:/ts')",
            )),
            Some(streams) if !time.is_measured_in(streams) => {
                Err(lacks("its answers come whole; response_time and e2e are their times"))
            }
            Some(streams) => Ok(streams),
        }
    }

    /// Returns the run as text, with all that is saved of it.
    fn packed(&self, py: Python<'_>) -> PyResult<String> {
        let packed = py.detach(|| folder::pack(&self.run, &self.findings, "pickled", usize::MAX));
        Ok(packed?.0)
    }
}

/// A time that `quantile` and `hist` know by name.
#[derive(Clone, Copy)]
enum NamedTime {
    OfRequests(Metric),
    OfStreams(NamedStreamTime),
}

fn named_time(name: &str) -> PyResult<NamedTime> {
    let of_requests = Metric::ALL.into_iter().map(|metric| (metric.name(), NamedTime::OfRequests(metric)));
    let of_streams = NamedStreamTime::all().map(|(name, time)| (name, NamedTime::OfStreams(time)));
    choice("metric", name, &of_requests.chain(of_streams).collect::<Vec<_>>())
}

#[pymethods]
impl RunResult {
    /// Quantile `q` in [0, 1] of `metric` in seconds: infinite if it falls among arrivals without an answer, `None` if
    /// the sample is too small. See also `quantile_info`.
    #[pyo3(signature = (q, metric = "response_time"))]
    fn quantile(&self, py: Python<'_>, q: f64, metric: &str) -> PyResult<Option<f64>> {
        Ok(self.at(py, q, metric)?.as_seconds())
    }

    /// Quantile `q` in [0, 1] of `metric` in nanoseconds; `None` among arrivals without an answer, or for too small a
    /// sample.
    #[pyo3(signature = (q, metric = "response_time"))]
    fn quantile_ns(&self, py: Python<'_>, q: f64, metric: &str) -> PyResult<Option<u64>> {
        Ok(self.at(py, q, metric)?.as_ns())
    }

    /// Quantile `q` in [0, 1] of `metric` with all its properties.
    #[pyo3(signature = (q, metric = "response_time"))]
    fn quantile_info(&self, py: Python<'_>, q: f64, metric: &str) -> PyResult<Quantile> {
        self.at(py, q, metric)
    }

    /// Name of the scenario or of the callable.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.run.facts.offered.name.as_deref()
    }

    /// `open`, `closed` or `partly-open`.
    #[getter]
    fn model(&self) -> &'static str {
        self.run.facts.offered.model.name()
    }

    /// Number of measured arrivals, with and without an answer.
    #[getter]
    fn count(&self) -> u64 {
        self.findings.response_time.count
    }

    /// The tally: planned = issued + never_issued, and the outcomes of issued arrivals.
    #[getter]
    fn tally<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.run.snapshot.tally)
    }

    /// The content of `stream` in run.json; `None` if answers were not read as streams.
    #[getter]
    fn streams<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let streams = run_file(&self.run, &self.findings).stream;
        streams.map(|streams| to_python(py, &streams)).transpose()
    }

    /// The content of `messages` in run.json: the books of messages besides their replies; `None` without messages.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.run.facts.messages().map(|books| to_python(py, &books)).transpose()
    }

    /// The content of `grpc` in run.json: calls by the name of their status; `None` without gRPC calls.
    #[getter]
    fn grpc<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let books = run_file(&self.run, &self.findings).grpc;
        books.map(|books| to_python(py, &books)).transpose()
    }

    /// The content of `sessions` in run.json; `None` without a flow.
    #[getter]
    fn sessions<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let sessions = run_file(&self.run, &self.findings).sessions;
        sessions.map(|sessions| to_python(py, &sessions)).transpose()
    }

    /// The tally of the warm-up, which no other figure includes.
    #[getter]
    fn warmup_tally<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.run.snapshot.warmup)
    }

    /// Answers by HTTP status; empty for callables.
    #[getter]
    fn statuses(&self) -> BTreeMap<u16, u64> {
        self.run.snapshot.statuses.clone()
    }

    /// Failures by cause.
    #[getter]
    fn causes(&self) -> BTreeMap<&'static str, u64> {
        self.run.snapshot.causes.iter().map(|(cause, count)| (cause.name(), *count)).collect()
    }

    /// Exceptions that a callable raised, counted by type, including the warm-up.
    #[getter]
    fn exceptions(&self) -> BTreeMap<String, u64> {
        self.exceptions.by_type.clone()
    }

    /// The first exception that a callable raised, with its traceback.
    #[getter]
    fn first_exception<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.exceptions.first.as_ref().map(|first| first.bind(py).clone())
    }

    /// Measured answers by the label that `label` gave them: their number, and response times in seconds.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.labels)
    }

    /// The verdict on the figures, with reasons if they cannot be trusted.
    #[getter]
    fn verdict(&self) -> Verdict {
        Verdict(self.findings.verdict.clone())
    }

    /// The gates of `fail_if`, and their results.
    #[getter]
    fn gates(&self) -> Vec<Gate> {
        self.findings.gates.iter().cloned().map(Gate).collect()
    }

    /// The checks, with the numbers of answers that passed and failed.
    #[getter]
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.run.facts.checks)
    }

    /// Planned arrivals per second of the schedule; `None` for fewer than two without a given duration.
    #[getter]
    fn offered_per_second(&self) -> Option<f64> {
        self.findings.offered_per_second
    }

    /// Answers per second of the schedule, or until a later last answer; `None` for fewer than two arrivals.
    #[getter]
    fn throughput_per_second(&self) -> Option<f64> {
        self.findings.throughput_per_second
    }

    /// True if the run was ended early.
    #[getter]
    fn interrupted(&self) -> bool {
        self.run.facts.interrupted
    }

    /// Notes about the run as a whole.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.run.facts.notes.clone()
    }

    /// Parts of a saved run that could not be read, because their file is missing.
    #[getter]
    fn lacking(&self) -> Vec<String> {
        self.lacking.clone()
    }

    /// Sampling rate of `to_numpy`: it holds one arrival in this many.
    #[getter]
    fn one_in(&self) -> u64 {
        self.run.snapshot.samples.one_in()
    }

    /// The whole tail on one screen, as the command line prints it.
    #[pyo3(signature = (*, width = 100, color = false, unicode = true))]
    fn table(&self, width: usize, color: bool, unicode: bool) -> String {
        summary(
            &self.run,
            &self.findings,
            SummaryOptions { saved: None, details: false },
            Style { color, width, unicode },
        )
    }

    /// The distribution of `metric` by bucket. That of `response_time` holds only answered arrivals, and that of a time
    /// of streams only values that came.
    #[pyo3(signature = (metric = "response_time"))]
    fn hist(&self, metric: &str) -> PyResult<Histogram> {
        Ok(match named_time(metric)? {
            NamedTime::OfRequests(metric) => Histogram::of(self.run.snapshot.metric(metric)),
            NamedTime::OfStreams(time) => {
                Histogram::of(&self.streams_with(time, metric)?.times.get(time.known()).to_histogram())
            }
        })
    }

    /// Single arrivals by intended start, as a structured array: all if they fit, otherwise one in `one_in`.
    /// `slowest=True` adds arrivals that were kept only because they are slow. A run of streams also has the columns of
    /// samples.csv about them, NaN or "" if unknown.
    #[pyo3(signature = (*, slowest = false))]
    fn to_numpy<'py>(&self, py: Python<'py>, slowest: bool) -> PyResult<Bound<'py, PyAny>> {
        samples::to_numpy(py, &self.run, slowest)
    }

    /// The arrivals of `to_numpy`, as a data frame. Of streams, `gaps_ns` has the lists of gaps, None if not kept.
    #[pyo3(signature = (*, slowest = false))]
    fn to_pandas<'py>(&self, py: Python<'py>, slowest: bool) -> PyResult<Bound<'py, PyAny>> {
        samples::to_pandas(py, &self.run, slowest)
    }

    /// The content of `run.json`.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &run_file(&self.run, &self.findings))
    }

    /// Saves the run and its page in a folder, which must be new or empty. With `force=True` it may hold an earlier
    /// run, which is replaced.
    #[pyo3(signature = (path, *, force = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        if !force && folder::has_files_of_a_run(&path) {
            let path = path.display();
            let problem =
                format!("path: {path} holds a run already; choose another folder, or replace it with force=True");
            return Err(PyFileExistsError::new_err(problem));
        }
        let save = || {
            folder::save(&path, &self.run, &self.findings)?;
            let series = truetail_analysis::series::series(&self.run, &self.findings);
            let page = truetail_page::RunPage::new(&self.run, &self.findings, &series);
            folder::save_page(&path, &truetail_page::run_page(&page))
        };
        py.detach(save).map_err(|error| save_error(&error))
    }

    /// Returns itself, because it never changes.
    fn __copy__(slf: Py<RunResult>) -> Py<RunResult> {
        slf
    }

    /// Returns itself, because it never changes.
    fn __deepcopy__(slf: Py<RunResult>, _memo: &Bound<'_, PyAny>) -> Py<RunResult> {
        slf
    }

    /// Returns a function that makes the same result in another process, and its arguments.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let pickled = py.import("truetail._pickled")?;
        let first = self.first_exception(py).map(|first| pickled.call_method1("portable", (first,))).transpose()?;
        let labels = serde_json::to_string(&self.labels).expect("every label has a JSON form");
        let state = (self.packed(py)?, self.exceptions(), first, labels, self.lacking());
        Ok((pickled.getattr("restored")?, state.into_pyobject(py)?))
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
        let state = verdict.state_name();
        let count = number::count(self.count());
        format!(
            "<truetail.Result{name}: {state}, {count} arrivals at {}{quantiles}>",
            number::rate_if_any(self.offered_per_second())
        )
    }
}

fn save_error(error: &SaveError) -> PyErr {
    match error {
        SaveError::Io { source, .. } if source.kind() != io::ErrorKind::Other => {
            io::Error::new(source.kind(), error.to_string()).into()
        }
        SaveError::Io { .. } | SaveError::Lacking { .. } => PyOSError::new_err(error.to_string()),
        SaveError::NotAFolder(_) | SaveError::Occupied { .. } => PyValueError::new_err(format!("path: {error}")),
    }
}
