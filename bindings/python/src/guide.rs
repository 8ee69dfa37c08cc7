//! The requests of a session of `truetail.flow`, as Python determines them. A worker takes the interpreter's lock after
//! each answer and at the start of each session.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use truetail_engine::{Control, FieldList};
use truetail_flow::{Guide, GuidedAnswer, GuidedRequest, MakeGuide, NextMove};
use truetail_model::time::Nanos;
use truetail_run::EarlyEnd;

use crate::calls::CallFailures;

/// The sessions of one worker: an object of `truetail._flow.Sessions`, which steps their coroutines.
struct PythonGuide {
    sessions: Py<PyAny>,
    failures: Arc<CallFailures>,
    control: Control,
}

/// Returns a factory of guides, one for each worker, from the sessions that `make_sessions` returns. Exceptions of
/// session functions are counted in `failures`. Other errors end the run through `control`.
pub(crate) fn make_guide(make_sessions: Py<PyAny>, failures: Arc<CallFailures>, control: Control) -> MakeGuide {
    MakeGuide::new(move || {
        let sessions = Python::attach(|py| make_sessions.call0(py)).expect("truetail's own class");
        Box::new(PythonGuide { sessions, failures: Arc::clone(&failures), control: control.clone() })
    })
}

/// The next request of a session, as Python passes it.
#[derive(FromPyObject)]
struct Asked<'py>(u32, u64, String, String, Vec<(String, String)>, Bound<'py, PyBytes>);

/// The early end of a session, as Python passes it: cause, words, exception.
#[derive(FromPyObject)]
struct Failed<'py>(String, String, Bound<'py, PyAny>);

impl PythonGuide {
    fn next(&self, said: PyResult<Bound<'_, PyAny>>, py: Python<'_>) -> NextMove {
        said.and_then(|said| self.read(&said)).unwrap_or_else(|error| {
            self.failures.end_run(py, error, &self.control);
            NextMove::Stop
        })
    }

    fn read(&self, said: &Bound<'_, PyAny>) -> PyResult<NextMove> {
        if said.is_none() {
            return Ok(NextMove::Done);
        }
        if said.cast::<PyTuple>()?.len() == 3 {
            let Failed(cause, why, exception) = said.extract()?;
            self.failures.count(said.py(), PyErr::from_value(exception));
            return Ok(NextMove::Fail { cause: cause_of(&cause), why });
        }
        let Asked(step, think_ns, method, path, headers, body) = said.extract()?;
        let think = Nanos(think_ns);
        let body = body.as_bytes().to_vec();
        Ok(NextMove::Ask(GuidedRequest { step, think, method, path, headers, body }))
    }
}

impl Guide for PythonGuide {
    fn begin(&mut self, user: u32, number: u64) -> NextMove {
        Python::attach(|py| self.next(self.sessions.bind(py).call_method1("begin", (user, number)), py))
    }

    fn answered(&mut self, user: u32, answer: &GuidedAnswer<'_>) -> NextMove {
        Python::attach(|py| {
            let body = PyBytes::new(py, answer.body);
            let seconds = answer.response_time.as_secs_f64();
            let whole = (answer.status, answer.version, fields(answer.fields), body, answer.is_whole, seconds);
            self.next(self.sessions.bind(py).call_method1("answered", (user, whole)), py)
        })
    }

    fn abandon(&mut self, user: u32) {
        Python::attach(|py| {
            // The `finally` block of a function may end the run too.
            if let Err(error) = self.sessions.bind(py).call_method1("abandon", (user,)) {
                self.failures.end_run(py, error, &self.control);
            }
        });
    }
}

/// Converts header fields to texts. Each byte is a character (ISO-8859-1), as in Python's own libraries.
fn fields(list: &FieldList) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
    list.iter().map(|(name, value)| (text(name), text(value))).collect()
}

/// Returns the cause with this name in run.json.
fn cause_of(name: &str) -> EarlyEnd {
    match name {
        "assert" => EarlyEnd::Assert,
        "status" => EarlyEnd::Status,
        "body_too_long" => EarlyEnd::BodyTooLong,
        _ => EarlyEnd::Raised,
    }
}
