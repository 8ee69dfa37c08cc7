//! Coroutines under load. A thread of ours keeps the schedule and never takes the interpreter's lock: it puts calls that
//! are due in a queue and makes a socket readable, which wakes the event loop of the caller.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use truetail_engine::callable::{CallHandle, CallLauncher, CallPlan, bench_launched};
use truetail_engine::{Control, RunOutput};
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Nanos;

use crate::calls::{Failures, Kept};

/// Calls that are due and that the event loop has not taken yet.
type Queue = Arc<Mutex<Vec<CallHandle>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands calls to an event loop that watches `fileno()` for something to read. At its end there is nothing more to come.
#[pyclass(module = "truetail._native", frozen)]
pub struct Pump {
    wake: UnixStream,
    queue: Queue,
    failures: Arc<Failures>,
    timeout: Option<Nanos>,
    name: Option<String>,
    thread: Mutex<Option<JoinHandle<RunOutput>>>,
}

impl Pump {
    /// Begins.
    pub fn start(plan: CallPlan, control: Control, name: Option<String>) -> PyResult<Pump> {
        let (wake, bell) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        bell.set_nonblocking(true)?;
        let queue = Queue::default();
        let launcher = Launcher { bell, queue: Arc::clone(&queue) };
        let timeout = plan.workload.limits.timeout;
        let pump = move || bench_launched(&plan, &control, launcher);
        let thread = thread::Builder::new().name("truetail-pump".to_owned()).spawn(pump)?;
        let failures = Arc::default();
        Ok(Pump { wake, queue, failures, timeout, name, thread: Mutex::new(Some(thread)) })
    }

    /// What was measured, when the run is over.
    pub fn finish(&self, py: Python<'_>) -> PyResult<(RunOutput, Option<String>, Kept)> {
        let thread =
            lock(&self.thread).take().ok_or_else(|| PyRuntimeError::new_err("the run was already finished"))?;
        let measured = py.detach(|| thread.join());
        let measured = measured.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((measured, self.name.clone(), self.failures.take()))
    }
}

#[pymethods]
impl Pump {
    /// To be watched for something to read.
    fn fileno(&self) -> i32 {
        self.wake.as_raw_fd()
    }

    /// Seconds after which a call is to be given up.
    #[getter]
    fn timeout(&self) -> Option<f64> {
        self.timeout.map(Nanos::as_secs_f64)
    }

    /// The calls that are due, and whether there will be none any more.
    fn due(&self) -> PyResult<(Vec<AsyncCall>, bool)> {
        let over = self.rings_no_more()?;
        let due = std::mem::take(&mut *lock(&self.queue));
        let call = |ticket| AsyncCall { ticket: Mutex::new(Some(ticket)), failures: Arc::clone(&self.failures) };
        Ok((due.into_iter().map(call).collect(), over))
    }
}

impl Pump {
    /// Reads what rang. Everything that was put in the queue before it rang is there after this.
    fn rings_no_more(&self) -> io::Result<bool> {
        let mut rings = [0; 256];
        loop {
            match (&self.wake).read(&mut rings) {
                Ok(0) => return Ok(true),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }
}

struct Launcher {
    bell: UnixStream,
    queue: Queue,
}

impl CallLauncher for Launcher {
    fn launch(&mut self, ticket: CallHandle) {
        let mut queue = lock(&self.queue);
        queue.push(ticket);
        if queue.len() == 1 {
            // A bell that is full of rings rings already, and one that nobody hears belongs to a run that is over.
            let _ = self.bell.write(&[1]);
        }
    }
}

/// One call of a coroutine function. What becomes of it is said once; later words are not heard.
#[pyclass(module = "truetail._native", frozen)]
pub struct AsyncCall {
    ticket: Mutex<Option<CallHandle>>,
    failures: Arc<Failures>,
}

#[pymethods]
impl AsyncCall {
    /// It takes its first step now.
    fn begin(&self) {
        if let Some(ticket) = &mut *lock(&self.ticket) {
            ticket.begin();
        }
    }

    /// It returned.
    fn answered(&self) {
        self.end(Outcome::Response { status: 0 });
    }

    /// It raised.
    fn failed(&self, error: &Bound<'_, PyAny>) {
        if self.end(Outcome::Malformed(Cause::Raised)) {
            self.failures.count(error.py(), PyErr::from_value(error.clone()));
        }
    }

    /// It took too long and was given up.
    fn timed_out(&self) {
        self.end(Outcome::TimedOut);
    }

    /// The run is over, and so is it.
    fn cut_short(&self) {
        self.end(Outcome::InFlightAtEnd);
    }
}

impl AsyncCall {
    fn end(&self, outcome: Outcome) -> bool {
        let ticket = lock(&self.ticket).take();
        ticket.map(|ticket| ticket.end(outcome)).is_some()
    }
}
