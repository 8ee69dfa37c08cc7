//! `truetail.bench`: a callable under load.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use truetail_engine::callable::{CallPlan, Waiting, bench_here};
use truetail_engine::{Control, Measured};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::Limits;
use truetail_report::{RunProgress, Style, number, progress_text};
use truetail_run::{Offered, Run, Source};

use crate::arguments::{choice, count, length, time, whole, wrong};
use crate::calls::{Failures, Kept, PythonFunction};
use crate::load::{Given, Load};
use crate::pump::Pump;
use crate::result::{Raised, RunResult};

/// Offered where nobody says another rate.
const USUAL_RATE: f64 = 1000.0;

/// A run of a callable that has not begun.
#[pyclass(module = "truetail._native", frozen)]
pub struct Bench {
    plan: CallPlan,
    control: Control,
    asked_to_end: AtomicBool,
    created: Instant,
}

#[pymethods]
impl Bench {
    #[new]
    #[pyo3(signature = (*, asynchronous, rate, duration, warmup, requests, spacing, seed, model, users, think_time,
                        session_length, workers, waiting, in_flight, timeout, drain, max_failures))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments, each with its name on both sides")]
    fn new<'py>(
        asynchronous: bool,
        rate: Given<'py>,
        duration: Given<'py>,
        warmup: Bound<'py, PyAny>,
        requests: Given<'py>,
        spacing: String,
        seed: Bound<'py, PyAny>,
        model: String,
        users: Given<'py>,
        think_time: Given<'py>,
        session_length: Given<'py>,
        workers: Given<'py>,
        waiting: &str,
        in_flight: Given<'py>,
        timeout: Given<'py>,
        drain: Bound<'py, PyAny>,
        max_failures: Given<'py>,
    ) -> PyResult<Bench> {
        let load = Load { rate, duration, warmup, requests, spacing, seed, model, users, think_time, session_length };
        let how = How { asynchronous, workers, waiting: waiting.to_owned(), in_flight, timeout, drain, max_failures };
        let plan = how.plan(&load)?;
        let asked_to_end = AtomicBool::new(false);
        Ok(Bench { plan, control: Control::new(), asked_to_end, created: Instant::now() })
    }

    /// Calls `function` on this thread and, where there are more workers, on others. What ended the run before its time
    /// is given out beside the result.
    fn call(
        &self,
        py: Python<'_>,
        function: Py<PyAny>,
        name: Option<String>,
    ) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let failures = Failures::default();
        let (failures, control, function) = (&failures, &self.control, &function);
        let worker = || PythonFunction { function, failures, control, fresh: true };
        let measured = py.detach(|| {
            // A worker stays known to the interpreter while it runs, so that what its thread keeps between calls (such as
            // a `threading.local`) is kept.
            bench_here(&self.plan, control, |caller| Python::attach(|py| py.detach(|| caller.run(worker()))))
        });
        self.settle(py, measured, self.plan.offered(), name, failures.take())
    }

    /// Begins to hand calls to the event loop of this thread.
    fn pump(&self, name: Option<String>) -> PyResult<Pump> {
        Pump::start(self.plan.clone(), self.control.clone(), name)
    }

    /// The run is over: its result, and what ended it before its time.
    fn finish(&self, py: Python<'_>, pump: &Pump) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let (measured, name, kept) = pump.finish(py)?;
        self.settle(py, measured, Offered::of(&self.plan.workload), name, kept)
    }

    /// Calls nothing more and waits for what is in flight.
    fn stop(&self) {
        self.asked_to_end.store(true, Ordering::Relaxed);
        self.control.stop();
    }

    /// Ends at once.
    fn stop_now(&self) {
        self.asked_to_end.store(true, Ordering::Relaxed);
        self.control.stop_now();
    }

    /// How the run stands, in a line.
    fn progress_text(&self) -> String {
        text_of(&self.control, self.created, self.plan.workload.model.horizon().duration)
    }
}

/// How a run that `control` watches stands.
pub fn text_of(control: &Control, began: Instant, total: Option<Nanos>) -> String {
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
    fn settle(
        &self,
        py: Python<'_>,
        measured: Measured,
        offered: Offered,
        name: Option<String>,
        kept: Kept,
    ) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let books = measured.snapshot.tally.check().and_then(|()| measured.snapshot.warmup.check());
        books.map_err(|unbalanced| PyRuntimeError::new_err(unbalanced.to_string()))?;
        let mut run = measured.into_run(Source::Callable, Offered { name, ..offered });
        run.facts.interrupted = self.control.was_stopped();
        run.facts.notes = self.notes(py, &run, &kept);
        let raised = Raised { by_type: kept.by_type, first: kept.first };
        Ok((RunResult::new(py, run, raised), kept.ended_by))
    }

    fn notes(&self, py: Python<'_>, run: &Run, kept: &Kept) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(first) = &kept.first {
            let kinds: Vec<_> = kept.by_type.iter().map(|(name, n)| format!("{name} {}", number::count(*n))).collect();
            let first = first.bind(py).repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
            notes.push(format!("calls raised: {}; the first: {first}", kinds.join(", ")));
        }
        let gave_up = run.facts.interrupted && kept.ended_by.is_none() && !self.asked_to_end.load(Ordering::Relaxed);
        if let (Some(limit), true) = (self.plan.give_up_after, gave_up) {
            notes.push(format!("ended early, because {limit} calls in a row failed (max_failures)"));
        }
        notes
    }
}

/// The arguments that say how a callable is called.
struct How<'py> {
    asynchronous: bool,
    workers: Given<'py>,
    waiting: String,
    in_flight: Given<'py>,
    timeout: Given<'py>,
    drain: Bound<'py, PyAny>,
    max_failures: Given<'py>,
}

impl How<'_> {
    fn plan(&self, load: &Load<'_>) -> PyResult<CallPlan> {
        self.refuse_contradictions()?;
        let limits = Limits {
            connections: self.in_flight.as_ref().map(|given| count("in_flight", given)).transpose()?,
            timeout: self.timeout.as_ref().map(|given| length("timeout", given)).transpose()?,
            drain: time("drain", &self.drain)?,
        };
        let workload = load.workload(Some(Rate::per_second(USUAL_RATE).expect("a rate")), limits)?;
        let waiting = choice("waiting", &self.waiting, &[("sleep", Waiting::Sleep), ("spin", Waiting::Spin)])?;
        let max_failures = self.max_failures.as_ref().map(|given| whole("max_failures", given, 1)).transpose()?;
        let workers = match (&self.workers, load.users.as_ref()) {
            (Some(given), _) => count("workers", given)?,
            (None, Some(users)) if !self.asynchronous => count("users", users)?,
            (None, _) => 1,
        };
        let give_up_after = max_failures.and_then(NonZeroU64::new);
        let usual = CallPlan::new(workload.model.clone());
        Ok(CallPlan { workload, workers, waiting, give_up_after, ..usual })
    }

    /// Arguments that belong to functions or to async functions only.
    fn refuse_contradictions(&self) -> PyResult<()> {
        if self.asynchronous {
            let workers = self.workers.is_some();
            let problem = "async calls share one event loop; in_flight caps how many there are at once";
            return if workers { Err(wrong("workers", problem)) } else { Ok(()) };
        }
        let blocking = [
            ("in_flight", self.in_flight.is_some(), "a function has as many calls in flight as it has workers"),
            ("timeout", self.timeout.is_some(), "a call of a function cannot be taken back; give its client a timeout"),
        ];
        match blocking.iter().find(|(_, given, _)| *given) {
            Some((name, _, problem)) => Err(wrong(name, problem)),
            None => Ok(()),
        }
    }
}
