//! `truetail.run`: HTTP over real sockets.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyConnectionError, PyRuntimeError, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use truetail_engine::{Control, EngineError, Plan, PreflightError, RunOutput, Target, TargetError, TooFewFiles};
use truetail_model::workload::Limits;
use truetail_run::RunSource;

use crate::arguments::{count, length, time, wrong, wrong_type};
use crate::bench::text_of;
use crate::load::{Given, Load};
use crate::result::{Raised, RunResult};

/// Between two looks for signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A run over real sockets that has not begun.
#[pyclass(module = "truetail._native", frozen)]
pub struct HttpRun {
    plan: Plan,
    preflight: bool,
    control: Control,
    created: Instant,
}

#[pymethods]
impl HttpRun {
    #[new]
    #[pyo3(signature = (url, *, rate, duration, warmup, requests, spacing, seed, model, users, think_time,
                        session_length, method, headers, data, connections, timeout, drain, threads, preflight))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments, each with its name on both sides")]
    fn new<'py>(
        py: Python<'py>,
        url: &str,
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
        method: &str,
        headers: Vec<(String, String)>,
        data: Given<'py>,
        connections: Given<'py>,
        timeout: Given<'py>,
        drain: Bound<'py, PyAny>,
        threads: Given<'py>,
        preflight: bool,
    ) -> PyResult<HttpRun> {
        let load = Load { rate, duration, warmup, requests, spacing, seed, model, users, think_time, session_length };
        let limits = Limits {
            connections: connections.as_ref().map(|given| count("connections", given)).transpose()?,
            timeout: timeout.as_ref().map(|given| length("timeout", given)).transpose()?,
            drain: time("drain", &drain)?,
        };
        let workload = load.workload(None, limits)?;
        let mut plan = Plan::new(workload, target(py, url, method, &headers, body(data.as_ref())?)?);
        plan.threads = threads.as_ref().map(|given| count("threads", given)).transpose()?;
        plan.check_open_files().map_err(too_few_files)?;
        Ok(HttpRun { plan, preflight, control: Control::new(), created: Instant::now() })
    }

    /// Offers the load. What ended the run before its time is given out beside the result.
    fn run(&self, py: Python<'_>) -> PyResult<(RunResult, Option<Py<PyAny>>)> {
        let mut plan = self.plan.clone();
        let note = if self.preflight { py.detach(|| ask_once(&mut plan))? } else { None };
        let (measured, ended_by) = self.watched(py, &plan);
        let measured = measured.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let books = measured.snapshot.tally.check().and_then(|()| measured.snapshot.warmup.check());
        books.map_err(|unbalanced| PyRuntimeError::new_err(unbalanced.to_string()))?;
        let mut run = measured.into_run(RunSource::Sockets, plan.offered());
        run.facts.interrupted = self.control.was_stopped();
        run.facts.notes.extend(note);
        Ok((RunResult::new(py, run, Raised::default()), ended_by.map(|error| error.into_value(py).into_any())))
    }

    /// How the run stands, in a line.
    fn progress_text(&self) -> String {
        text_of(&self.control, self.created, self.plan.workload.model.horizon().duration)
    }
}

impl HttpRun {
    /// Runs, and looks for signals meanwhile: the first stops sending, the second ends at once.
    fn watched(&self, py: Python<'_>, plan: &Plan) -> (Result<RunOutput, EngineError>, Option<PyErr>) {
        let mut ended_by = None;
        let measured = thread::scope(|scope| {
            let (sender, mut receiver) = channel();
            scope.spawn(move || {
                // The receiver is there until something came.
                let _ = sender.send(truetail_engine::run(plan, &self.control));
            });
            loop {
                let receiver = &mut receiver;
                match py.detach(move || receiver.recv_timeout(LOOK_EVERY)) {
                    Ok(measured) => return measured,
                    Err(RecvTimeoutError::Timeout) => self.look_for_signals(py, &mut ended_by),
                    Err(RecvTimeoutError::Disconnected) => panic!("the engine panicked"),
                }
            }
        });
        (measured, ended_by)
    }

    fn look_for_signals(&self, py: Python<'_>, ended_by: &mut Option<PyErr>) {
        match py.check_signals() {
            Ok(()) => {}
            Err(_) if ended_by.is_some() => self.control.stop_now(),
            Err(error) => {
                *ended_by = Some(error);
                self.control.stop();
            }
        }
    }
}

fn target(py: Python<'_>, url: &str, method: &str, headers: &[(String, String)], body: Vec<u8>) -> PyResult<Target> {
    let method = method.parse().map_err(|error| wrong("method", error))?;
    let headers: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let target = py.detach(|| Target::resolve(method, url, &headers, body));
    target.map_err(|error| match error {
        TargetError::Resolve { .. } => {
            PyConnectionError::new_err(format!("url: {error}; check the name, or give an address"))
        }
        TargetError::Url { .. } | TargetError::Scheme { .. } => wrong("url", error),
        TargetError::Header(_) => wrong("headers", error),
        _ => wrong("method", error),
    })
}

fn body(data: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    let Some(data) = data else { return Ok(Vec::new()) };
    if let Ok(text) = data.cast::<PyString>() {
        return Ok(text.to_string().into_bytes());
    }
    let bytes = data.cast::<PyBytes>().map_err(|_| wrong_type("data", "str or bytes", data))?;
    Ok(bytes.as_bytes().to_vec())
}

fn too_few_files(error: TooFewFiles) -> PyErr {
    wrong("connections", format!("{error}; raise it, or ask for fewer"))
}

/// One request before the load. Returns what is worth a note.
fn ask_once(plan: &mut Plan) -> PyResult<Option<String>> {
    let answer = plan.preflight().map_err(|error| nobody_answers(&plan.target, &error))?;
    Ok(answer.note())
}

fn nobody_answers(target: &Target, error: &PreflightError) -> PyErr {
    let help = "is the server running? preflight=False offers the load all the same";
    let message = format!("{} before the load: {error}; {help}", target.first_requests());
    match error {
        PreflightError::TimedOut { .. } => PyTimeoutError::new_err(message),
        _ => PyConnectionError::new_err(message),
    }
}
