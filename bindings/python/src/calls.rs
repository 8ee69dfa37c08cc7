//! Calls of a Python function, and the exceptions that it raises.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use truetail_engine::Control;
use truetail_engine::callable::{Call, CallOutcome, Callable};
use truetail_model::record::{Cause, Outcome};

use crate::labels::Labels;

/// Collects the failures of a run's calls from all threads.
#[derive(Default)]
pub(crate) struct CallFailures(Mutex<FailureLog>);

/// The exceptions that a callable raised.
#[derive(Default)]
pub struct CallExceptions {
    /// Counts by type, including the warm-up.
    pub by_type: BTreeMap<String, u64>,
    /// The first exception, with its traceback.
    pub first: Option<Py<PyAny>>,
}

/// The failures that [`CallFailures`] collected.
#[derive(Default)]
pub struct FailureLog {
    pub exceptions: CallExceptions,
    /// Reason for an early end that is not a failure of the callable: Ctrl-C, an exit, or an unsuitable function.
    pub ended_by: Option<Py<PyAny>>,
    /// The first exception of `setup`. Nothing was measured.
    pub not_set_up: Option<PyErr>,
}

impl CallFailures {
    /// Ends the run before its first call, because `setup` raised `error`.
    pub(crate) fn refuse_setup(&self, error: PyErr, control: &Control) {
        self.lock().not_set_up.get_or_insert(error);
        control.stop_now();
    }

    pub(crate) fn count(&self, py: Python<'_>, error: PyErr) {
        // Convert the error before the lock is taken, because this may run Python code.
        let name = type_name(&error.get_type(py));
        let value = error.into_value(py).into_any();
        let mut kept = self.lock();
        *kept.exceptions.by_type.entry(name).or_default() += 1;
        kept.exceptions.first.get_or_insert(value);
    }

    /// Ends the run because of `error`. Calls in flight may finish, but a second error ends the run at once.
    pub(crate) fn end_run(&self, py: Python<'_>, error: PyErr, control: &Control) {
        let value = error.into_value(py).into_any();
        let mut kept = self.lock();
        if kept.ended_by.is_some() {
            control.stop_now();
        } else {
            kept.ended_by = Some(value);
            control.stop();
        }
    }

    pub(crate) fn take(&self) -> FailureLog {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, FailureLog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of an exception type, such as `ValueError` or `requests.exceptions.ConnectionError`.
fn type_name(class: &Bound<'_, pyo3::types::PyType>) -> String {
    let name = class.qualname().map_or_else(|_| "exception".to_owned(), |name| name.to_string());
    match class.module() {
        Ok(module) if module != "builtins" => format!("{module}.{name}"),
        _ => name,
    }
}

/// The arguments of each call.
pub(crate) struct CallArguments<'a> {
    /// The value that `setup` returned on this thread.
    pub state: Option<Py<PyAny>>,
    /// The rows, which the calls use in turn.
    pub rows: Option<&'a Py<PyTuple>>,
}

impl CallArguments<'_> {
    fn of<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyTuple>> {
        let row = self.rows.map(|rows| {
            let rows = rows.bind(py);
            rows.get_item((number % rows.len() as u64) as usize)
        });
        let state = self.state.as_ref().map(|state| state.bind(py).clone());
        PyTuple::new(py, state.into_iter().chain(row.transpose()?).collect::<Vec<_>>())
    }

    fn call<'py>(&self, function: &Bound<'py, PyAny>, number: u64) -> PyResult<Bound<'py, PyAny>> {
        if self.state.is_none() && self.rows.is_none() {
            return function.call0();
        }
        function.call1(self.of(function.py(), number)?)
    }
}

/// A Python function that one thread calls. The interpreter's lock is free between calls.
pub(crate) struct PythonFunction<'a> {
    pub function: &'a Py<PyAny>,
    pub arguments: CallArguments<'a>,
    pub labels: Option<&'a Labels>,
    pub failures: &'a CallFailures,
    pub control: &'a Control,
    /// True before the first call.
    pub fresh: bool,
}

/// Ending of a call.
pub(crate) enum Answer {
    Returned,
    Raised,
    /// The call ended with the run.
    CutShort,
}

impl CallOutcome for Answer {
    fn is_answer(&self) -> bool {
        matches!(self, Answer::Returned)
    }

    fn outcome(&self) -> Outcome {
        match self {
            Answer::Returned => Outcome::ANSWERED,
            Answer::Raised => Outcome::Malformed(Cause::Raised),
            Answer::CutShort => Outcome::InFlightAtEnd,
        }
    }
}

impl Callable for PythonFunction<'_> {
    type Answer = Answer;

    /// Begins the call once the interpreter's lock is held, so that waiting for the lock is generator lag.
    fn call(&mut self, call: &mut Call) -> Answer {
        Python::attach(|py| {
            call.begin();
            let answer = match self.arguments.call(self.function.bind(py), call.arrival().index) {
                Ok(value) if self.fresh && is_awaitable(&value) => self.refuse(&value),
                Ok(value) => self.labelled(&value, call),
                Err(error) => self.failed(py, error),
            };
            self.fresh = false;
            self.check_signals(py);
            answer
        })
    }

    fn idle(&mut self) {
        Python::attach(|py| self.check_signals(py));
    }
}

impl PythonFunction<'_> {
    fn labelled(&self, value: &Bound<'_, PyAny>, call: &mut Call) -> Answer {
        let Some(labels) = self.labels else { return Answer::Returned };
        let response_time = call.end();
        match labels.record(value, call.arrival(), response_time) {
            Ok(()) => Answer::Returned,
            Err(error) => self.failed(value.py(), error),
        }
    }

    fn failed(&self, py: Python<'_>, error: PyErr) -> Answer {
        if error.is_instance_of::<PyException>(py) {
            self.failures.count(py, error);
            return Answer::Raised;
        }
        self.failures.end_run(py, error, self.control);
        Answer::CutShort
    }

    /// Ends the run, because the call did nothing and its time is meaningless.
    fn refuse(&self, value: &Bound<'_, PyAny>) -> Answer {
        // Python warns about a coroutine that is dropped without being awaited or closed.
        let _ = value.call_method0("close");
        let problem = "fn: it returned an awaitable, which was not awaited; pass the async function itself";
        self.failures.end_run(value.py(), PyTypeError::new_err(problem), self.control);
        Answer::CutShort
    }

    /// Ends the run on Ctrl-C. Only the main thread sees signals.
    fn check_signals(&self, py: Python<'_>) {
        if let Err(error) = py.check_signals() {
            self.failures.end_run(py, error, self.control);
        }
    }
}

pub(crate) fn is_awaitable(value: &Bound<'_, PyAny>) -> bool {
    value.hasattr("__await__").unwrap_or(false)
}
