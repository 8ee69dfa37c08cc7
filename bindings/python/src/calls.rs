//! Calls of a Python function, and what became of those that failed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use truetail_engine::Control;
use truetail_engine::callable::{Call, CallOutcome, Callable};
use truetail_model::record::{Cause, Outcome};

/// What a run of calls kept of its failures, whichever thread they were on.
#[derive(Default)]
pub struct Failures(Mutex<Kept>);

/// See [`Failures`].
#[derive(Default)]
pub struct Kept {
    /// How many, by type; warm-up included.
    pub by_type: BTreeMap<String, u64>,
    /// The first, with its traceback.
    pub first: Option<Py<PyAny>>,
    /// What ended the run: no failure of the callable, but Ctrl-C, or an exit, or a callable that is none.
    pub ended_by: Option<Py<PyAny>>,
}

impl Failures {
    /// Counts an exception that a call raised.
    pub fn count(&self, py: Python<'_>, error: PyErr) {
        // Python may run in here, so it is done before the lock is taken.
        let (name, value) = (type_name(&error.get_type(py)), error.into_value(py).into_any());
        let mut kept = self.lock();
        *kept.by_type.entry(name).or_default() += 1;
        kept.first.get_or_insert(value);
    }

    /// Ends the run because of `error`: what is in flight may end; a second time, at once.
    pub fn end_run(&self, py: Python<'_>, error: PyErr, control: &Control) {
        let value = error.into_value(py).into_any();
        let mut kept = self.lock();
        if kept.ended_by.is_some() {
            control.stop_now();
        } else {
            kept.ended_by = Some(value);
            control.stop();
        }
    }

    /// What was kept; nothing is left.
    pub fn take(&self) -> Kept {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `ValueError`, `requests.exceptions.ConnectionError`.
fn type_name(class: &Bound<'_, pyo3::types::PyType>) -> String {
    let name = class.qualname().map_or_else(|_| "exception".to_owned(), |name| name.to_string());
    match class.module() {
        Ok(module) if module != "builtins" => format!("{module}.{name}"),
        _ => name,
    }
}

/// A Python function, called on one thread. Between calls the interpreter is free for others.
pub struct PythonFunction<'a> {
    pub function: &'a Py<PyAny>,
    pub failures: &'a Failures,
    pub control: &'a Control,
    /// Nothing was called yet.
    pub fresh: bool,
}

/// What a call came to.
pub enum Answer {
    /// It returned.
    Returned,
    /// It raised.
    Raised,
    /// It was cut short by whoever ended the run.
    CutShort,
}

impl CallOutcome for Answer {
    fn is_answer(&self) -> bool {
        matches!(self, Answer::Returned)
    }

    fn outcome(&self) -> Outcome {
        match self {
            Answer::Returned => Outcome::Response { status: 0 },
            Answer::Raised => Outcome::Malformed(Cause::Raised),
            Answer::CutShort => Outcome::InFlightAtEnd,
        }
    }
}

impl Callable for PythonFunction<'_> {
    type Answer = Answer;

    /// The interpreter's lock is had before the call begins: waiting for it is lag of this process.
    fn call(&mut self, call: &mut Call) -> Answer {
        Python::attach(|py| {
            call.begin();
            let answer = match self.function.bind(py).call0() {
                Ok(value) if self.fresh && is_awaitable(&value) => self.refuse(&value),
                Ok(_) => Answer::Returned,
                Err(error) => self.failed(py, error),
            };
            self.fresh = false;
            self.look_for_signals(py);
            answer
        })
    }

    fn idle(&mut self) {
        Python::attach(|py| self.look_for_signals(py));
    }
}

impl PythonFunction<'_> {
    fn failed(&self, py: Python<'_>, error: PyErr) -> Answer {
        if error.is_instance_of::<PyException>(py) {
            self.failures.count(py, error);
            return Answer::Raised;
        }
        self.failures.end_run(py, error, self.control);
        Answer::CutShort
    }

    /// Nothing happened in such a call, so its time would be a lie.
    fn refuse(&self, value: &Bound<'_, PyAny>) -> Answer {
        // A coroutine that was never awaited would complain when it goes.
        let _ = value.call_method0("close");
        let problem = "fn: it returned an awaitable, which nobody awaits; pass the async function itself";
        self.failures.end_run(value.py(), PyTypeError::new_err(problem), self.control);
        Answer::CutShort
    }

    /// Does nothing but on the main thread.
    fn look_for_signals(&self, py: Python<'_>) {
        if let Err(error) = py.check_signals() {
            self.failures.end_run(py, error, self.control);
        }
    }
}

fn is_awaitable(value: &Bound<'_, PyAny>) -> bool {
    value.hasattr("__await__").unwrap_or(false)
}
