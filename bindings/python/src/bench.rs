//! `truetail.bench`: a callable under load.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use truetail_analysis::gates::{Gate, PlannedRun, ReadingMode};
use truetail_engine::callable::{CallPlan, CallWorker, WaitStrategy, bench_here};
use truetail_engine::{Control, RunOutput};
use truetail_model::record::Ordinal;
use truetail_model::time::{Nanos, Timestamp};
use truetail_report::{RunProgress, Style, number, progress_text};
use truetail_run::{OfferedLoad, Run, RunSource};
use truetail_stream::ItemStreams;

use crate::arguments::{choice, count, positive_time, value_error, whole_number};
use crate::calls::{CallArguments, CallFailures, FailureLog, PythonFunction, is_awaitable};
use crate::gate;
use crate::labels::{LabelFinding, Labels};
use crate::load::{LoadArguments, OptionalArg, limits};
use crate::pump::Pump;
use crate::result::RunResult;

/// The plan of a run of a callable, and its controls.
#[pyclass(module = "truetail._native", frozen)]
pub struct Bench {
    plan: CallPlan,
    control: Control,
    /// Streams of an asynchronous generator.
    streams: Option<ItemStreams>,
    gates: Vec<Gate>,
    labels: Option<Arc<Labels>>,
    rows: Option<Py<PyTuple>>,
    /// The caller has given real-time priority to the threads of the run.
    realtime: bool,
    stop_requested: AtomicBool,
    created: Instant,
}

#[pymethods]
impl Bench {
    #[new]
    #[pyo3(signature = (*, kind, rate, duration, warmup, requests, spacing, seed, model, users, think_time,
                        session_length, workers, waiting, in_flight, timeout, drain, max_failures, stall, slo, fail_if, label,
                        rows, realtime))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments, each with its name on both sides")]
    fn new<'py>(
        kind: &str,
        rate: OptionalArg<'py>,
        duration: OptionalArg<'py>,
        warmup: Bound<'py, PyAny>,
        requests: OptionalArg<'py>,
        spacing: String,
        seed: Bound<'py, PyAny>,
        model: String,
        users: OptionalArg<'py>,
        think_time: OptionalArg<'py>,
        session_length: OptionalArg<'py>,
        workers: OptionalArg<'py>,
        waiting: &str,
        in_flight: OptionalArg<'py>,
        timeout: OptionalArg<'py>,
        drain: Bound<'py, PyAny>,
        max_failures: OptionalArg<'py>,
        stall: OptionalArg<'py>,
        slo: Vec<String>,
        fail_if: Vec<String>,
        label: Option<Py<PyAny>>,
        rows: Option<Py<PyTuple>>,
        realtime: bool,
    ) -> PyResult<Bench> {
        let gates = gate::gates(&slo, &fail_if)?;
        let load = LoadArguments {
            rate,
            duration,
            warmup,
            requests,
            spacing,
            seed,
            model,
            users,
            think_time,
            session_length,
            usual_duration: Nanos::from_secs(60),
        };
        let kind = CallableKind::named(kind)?;
        let how = Limitations { kind, workers, waiting: waiting.to_owned(), in_flight, timeout, drain, max_failures };
        let plan = how.plan(&load)?;
        let streams = kind.streams(stall.as_ref(), &plan)?;
        refuse_undecidable(&plan, kind, &gates)?;
        if label.is_some() && kind == CallableKind::Generator {
            return Err(value_error("label", "it is about the value that fn returns; an async generator returns none"));
        }
        let labels = label.map(|label| Arc::new(Labels::new(label, Timestamp(plan.workload.warmup.0))));
        let stop_requested = AtomicBool::new(false);
        let control = Control::new();
        Ok(Bench { plan, control, streams, gates, labels, rows, realtime, stop_requested, created: Instant::now() })
    }

    /// Calls `function` on this thread, and with more workers also on others. Each first calls `setup`, and passes its
    /// value and a row to each call. Returns the result, and the exception that ended the run early, if any.
    fn call(
        &self,
        py: Python<'_>,
        function: Py<PyAny>,
        name: Option<String>,
        setup: Option<Py<PyAny>>,
    ) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let failures = CallFailures::default();
        let failures = &failures;
        let control = &self.control;
        let function = &function;
        let rows = self.rows.as_ref();
        let setup = setup.as_ref();
        let worker = |py: Python<'_>| {
            let state = setup.map(|setup| set_up(setup.bind(py))).transpose();
            let state = state.unwrap_or_else(|error| {
                failures.refuse_setup(error, control);
                None
            });
            let arguments = CallArguments { state, rows };
            PythonFunction { function, arguments, labels: self.labels.as_deref(), failures, control, fresh: true }
        };
        let measured = py.detach(|| {
            // The thread stays attached to the interpreter during the run, so that its thread state, such as a
            // `threading.local`, is kept between calls.
            let work = |py: Python<'_>, caller: CallWorker<'_>| {
                let function = worker(py);
                py.detach(|| caller.run(function))
            };
            bench_here(&self.plan, control, |caller| Python::attach(|py| work(py, caller)))
        });
        let mut failures = failures.take();
        match failures.not_set_up.take() {
            Some(error) => Err(error),
            None => self.finish_run(py, measured, self.plan.offered(), name, failures),
        }
    }

    /// Starts to pass calls to the event loop of this thread.
    fn pump(&self, name: Option<String>) -> PyResult<Pump> {
        Pump::start(self.plan.clone(), self.control.clone(), name, self.streams.clone(), self.labels.clone())
    }

    /// Returns the result of a finished run, and the exception that ended it early, if any.
    fn finish(&self, py: Python<'_>, pump: &Pump) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let (measured, name, failures) = pump.finish(py)?;
        self.finish_run(py, measured, OfferedLoad::from_workload(&self.plan.workload), name, failures)
    }

    /// Starts no more calls, and waits for calls in flight.
    fn stop(&self) {
        self.stop_requested.store(true, Ordering::Relaxed);
        self.control.stop();
    }

    /// Ends the run at once.
    fn stop_now(&self) {
        self.stop_requested.store(true, Ordering::Relaxed);
        self.control.stop_now();
    }

    /// Returns the progress of the run in one line.
    fn progress_text(&self) -> String {
        progress_line(&self.control, self.created, self.plan.workload.model.horizon().duration)
    }
}

/// Returns the progress of the run behind `control` in one line.
pub(crate) fn progress_line(control: &Control, began: Instant, total: Option<Nanos>) -> String {
    let seen = control.progress();
    let elapsed = Nanos::from(began.elapsed());
    let progress = RunProgress {
        elapsed,
        total,
        requests: None,
        planned: seen.issued,
        sent: seen.issued,
        answered: seen.responses,
        failed: seen.unanswered + seen.error_status,
        in_flight: seen.in_flight,
        sent_per_second: seen.issued as f64 / elapsed.as_secs_f64().max(1e-9),
        p50: seen.p50,
        p99: seen.p99,
    };
    progress_text(&progress, Style { width: 100, ..Style::default() })
}

impl Bench {
    fn finish_run(
        &self,
        py: Python<'_>,
        measured: RunOutput,
        offered: OfferedLoad,
        name: Option<String>,
        failures: FailureLog,
    ) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let books = measured.snapshot.tally.check().and_then(|()| measured.snapshot.warmup.check());
        books.map_err(|unbalanced| PyRuntimeError::new_err(unbalanced.to_string()))?;
        let mut run = measured.into_run(RunSource::Callable, OfferedLoad { name, ..offered });
        if let Some(rows) = self.rows.as_ref().map(|rows| rows.bind(py).len() as u64) {
            run.snapshot.samples.change_each(|record| record.row = Ordinal::new(record.index % rows));
        }
        run.facts.stream = self.streams.as_ref().map(|streams| streams.facts(&run.snapshot.samples));
        run.facts.interrupted = self.control.was_stopped();
        run.facts.generator.iter_mut().for_each(|generator| generator.realtime = self.realtime);
        run.facts.notes = self.notes(py, &run, &failures);
        let labels = self.labels.as_ref().map(|labels| labels.findings()).unwrap_or_default();
        run.facts.notes.extend(labels_note(&labels));
        Ok((RunResult::new(py, run, failures.exceptions).judged(&self.gates).with_labels(labels), failures.ended_by))
    }

    fn notes(&self, py: Python<'_>, run: &Run, failures: &FailureLog) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(first) = &failures.exceptions.first {
            notes.push(exceptions_note(&failures.exceptions.by_type, &in_words(first.bind(py))));
        }
        let gave_up =
            run.facts.interrupted && failures.ended_by.is_none() && !self.stop_requested.load(Ordering::Relaxed);
        if let (Some(limit), true) = (self.plan.give_up_after, gave_up) {
            notes.push(format!("stopped early: {limit} calls in a row failed (max_failures)"));
        }
        notes
    }
}

/// Calls `setup`.
fn set_up(setup: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let value = setup.call0()?;
    if !is_awaitable(&value) {
        return Ok(value.unbind());
    }
    // Python warns about a coroutine that is dropped without being awaited or closed.
    let _ = value.call_method0("close");
    let problem = "setup: it returned an awaitable, and fn is no async function, so nothing would await it";
    Err(PyTypeError::new_err(problem))
}

/// Rejects gates that a callable can never decide.
fn refuse_undecidable(plan: &CallPlan, kind: CallableKind, gates: &[Gate]) -> PyResult<()> {
    let has_streams = kind == CallableKind::Generator;
    let problem = |gate: &Gate| match () {
        () if gate.is_about_streams() && !has_streams => {
            Some("is about the items of an async generator; fn yields none")
        }
        () if gate.is_about_llm() || gate.is_about_sessions() || gate.is_about_checks() || gate.is_about_events() => {
            Some("is about something that a callable does not have; it may be about times, failures and throughput")
        }
        () => None,
    };
    gate::refuse_first(gates, |gate| problem(gate).map(|problem| format!("'{gate}' {problem}")))?;
    let reading = if has_streams { ReadingMode::Streams } else { ReadingMode::Whole };
    gate::refuse_undecidable(&PlannedRun::new(&plan.workload, &plan.offered(), false, reading), gates, "requests")
}

fn calls(n: u64) -> String {
    if n == 1 { "1 call".to_owned() } else { format!("{} calls", number::count(n)) }
}

/// Returns `labels: filled (300 calls), rejected (1 call)`; `None` without labels.
fn labels_note(labels: &BTreeMap<String, LabelFinding>) -> Option<String> {
    let each: Vec<_> = labels.iter().map(|(label, found)| format!("{label} ({})", calls(found.calls))).collect();
    (!each.is_empty()).then(|| format!("labels: {}", each.join(", ")))
}

/// Returns `the callable raised ValueError (3 calls), KeyError (1 call); first: ValueError: bad price`.
fn exceptions_note(by_type: &BTreeMap<String, u64>, first: &str) -> String {
    let kinds: Vec<_> = by_type.iter().map(|(name, n)| format!("{name} ({})", calls(*n))).collect();
    format!("the callable raised {}; first: {first}", kinds.join(", "))
}

/// Formats an exception in one line like the end of a traceback: `ValueError: bad price`.
fn in_words(error: &Bound<'_, PyAny>) -> String {
    let name = error.get_type().name().map_or_else(|_| "exception".to_owned(), |name| name.to_string());
    let text = error.str().map_or_else(|_| String::new(), |text| text.to_string());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { name } else { format!("{name}: {text}") }
}

/// Kind of a callable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallableKind {
    /// A function that returns when it is done.
    Function,
    /// An `async def` function.
    Coroutine,
    /// An `async def` function that yields.
    Generator,
}

impl CallableKind {
    fn named(name: &str) -> PyResult<CallableKind> {
        let kinds = [
            ("function", CallableKind::Function),
            ("coroutine", CallableKind::Coroutine),
            ("generator", CallableKind::Generator),
        ];
        choice("kind", name, &kinds)
    }

    /// Returns the streams of a generator. Other kinds have no streams.
    fn streams(self, stall: Option<&Bound<'_, PyAny>>, plan: &CallPlan) -> PyResult<Option<ItemStreams>> {
        let stall = stall.map(|given| positive_time("stall", given)).transpose()?;
        if self == CallableKind::Generator {
            return Ok(Some(ItemStreams::new(stall, Timestamp(plan.workload.warmup.0))));
        }
        let problem = "it is about the items of an async generator; fn yields none";
        stall.map_or(Ok(None), |_| Err(value_error("stall", problem)))
    }
}

/// The arguments of a callable that are not part of its load.
struct Limitations<'py> {
    kind: CallableKind,
    workers: OptionalArg<'py>,
    waiting: String,
    in_flight: OptionalArg<'py>,
    timeout: OptionalArg<'py>,
    drain: Bound<'py, PyAny>,
    max_failures: OptionalArg<'py>,
}

impl Limitations<'_> {
    fn plan(&self, load: &LoadArguments<'_>) -> PyResult<CallPlan> {
        self.refuse_contradictions()?;
        let limits = limits(("in_flight", &self.in_flight), false, &self.timeout, &self.drain)?;
        let workload = load.workload(limits, "calls")?;
        let waiting =
            choice("waiting", &self.waiting, &[("sleep", WaitStrategy::Sleep), ("spin", WaitStrategy::Spin)])?;
        let max_failures =
            self.max_failures.as_ref().map(|given| whole_number("max_failures", given, 1)).transpose()?;
        let workers = match (&self.workers, workload.model.users()) {
            (Some(given), _) => count("workers", given)?,
            (None, Some(users)) if self.kind == CallableKind::Function => users.most(),
            (None, _) => 1,
        };
        let give_up_after = max_failures.and_then(NonZeroU64::new);
        let usual = CallPlan::new(workload.model.clone());
        Ok(CallPlan { workload, workers, waiting, give_up_after, ..usual })
    }

    /// Rejects arguments of functions for async functions, and vice versa.
    fn refuse_contradictions(&self) -> PyResult<()> {
        if self.kind != CallableKind::Function {
            let workers = self.workers.is_some();
            let problem = "async calls share one event loop; in_flight limits how many run at once";
            return if workers { Err(value_error("workers", problem)) } else { Ok(()) };
        }
        let blocking = [
            ("in_flight", self.in_flight.is_some(), "a function has as many calls in flight as it has workers"),
            (
                "timeout",
                self.timeout.is_some(),
                "a call of a function cannot be cancelled; set a timeout in its client",
            ),
        ];
        match blocking.iter().find(|(_, given, _)| *given) {
            Some((name, _, problem)) => Err(value_error(name, problem)),
            None => Ok(()),
        }
    }
}
