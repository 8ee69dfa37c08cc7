//! Coroutines under load. A native thread follows the schedule and never takes the interpreter's lock. It puts due
//! calls in a queue and makes a socket readable, which wakes the caller's event loop.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use truetail_engine::callable::{CallEnd, CallHandle, CallLauncher, CallPlan, bench_launched};
use truetail_engine::{Control, RunOutput};
use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Nanos, Timestamp};
use truetail_stream::ItemStreams;

use crate::calls::{CallFailures, FailureLog};
use crate::labels::Labels;

/// Due calls that the event loop has not taken.
type Queue = Arc<Mutex<Vec<CallHandle>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes due calls to an event loop that waits until `fileno()` is readable. End of file means that the run is over.
#[pyclass(module = "truetail._native", frozen)]
pub struct Pump {
    wake: UnixStream,
    queue: Queue,
    failures: Arc<CallFailures>,
    timeout: Option<Nanos>,
    name: Option<String>,
    streams: Option<ItemStreams>,
    labels: Option<Arc<Labels>>,
    thread: Mutex<Option<JoinHandle<RunOutput>>>,
}

impl Pump {
    /// Starts the thread. `streams` is present if the calls are of an asynchronous generator, and `labels` if their
    /// answers have labels.
    pub(crate) fn start(
        plan: CallPlan,
        control: Control,
        name: Option<String>,
        streams: Option<ItemStreams>,
        labels: Option<Arc<Labels>>,
    ) -> PyResult<Pump> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let queue = Queue::default();
        let launcher = Launcher { waker, queue: Arc::clone(&queue), streams: streams.clone() };
        let timeout = plan.workload.limits.timeout;
        let pump = move || bench_launched(&plan, &control, launcher);
        let thread = thread::Builder::new().name("truetail-pump".to_owned()).spawn(pump)?;
        let failures = Arc::default();
        Ok(Pump { wake, queue, failures, timeout, name, streams, labels, thread: Mutex::new(Some(thread)) })
    }

    /// Waits for the end of the run. Returns the measured run, its name and its failures.
    pub fn finish(&self, py: Python<'_>) -> PyResult<(RunOutput, Option<String>, FailureLog)> {
        let thread =
            lock(&self.thread).take().ok_or_else(|| PyRuntimeError::new_err("the run was already finished"))?;
        let measured = py.detach(|| thread.join());
        let measured = measured.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((measured, self.name.clone(), self.failures.take()))
    }
}

#[pymethods]
impl Pump {
    /// Returns the descriptor whose readability announces due calls.
    fn fileno(&self) -> i32 {
        self.wake.as_raw_fd()
    }

    /// Timeout of a call in seconds.
    #[getter]
    fn timeout(&self) -> Option<f64> {
        self.timeout.map(Nanos::as_secs_f64)
    }

    /// Returns the due calls, and true if the run is over.
    fn due(&self) -> PyResult<(Vec<AsyncCall>, bool)> {
        let over = self.drain_wakeups()?;
        let due = std::mem::take(&mut *lock(&self.queue));
        let call = |ticket: CallHandle| AsyncCall {
            number: ticket.arrival().index,
            ticket: Mutex::new(Some(ticket)),
            failures: Arc::clone(&self.failures),
            streams: self.streams.clone(),
            labels: self.labels.clone(),
        };
        Ok((due.into_iter().map(call).collect(), over))
    }
}

impl Pump {
    /// Reads all wake-ups. Returns true at end of file. Afterwards, the queue holds all calls that they announced.
    fn drain_wakeups(&self) -> io::Result<bool> {
        let mut bytes = [0; 256];
        loop {
            match (&self.wake).read(&mut bytes) {
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
    waker: UnixStream,
    queue: Queue,
    streams: Option<ItemStreams>,
}

impl CallLauncher for Launcher {
    fn launch(&mut self, ticket: CallHandle) {
        if let Some(streams) = &self.streams {
            streams.begin(ticket.arrival());
        }
        let mut queue = lock(&self.queue);
        queue.push(ticket);
        if queue.len() == 1 {
            // A full socket wakes the loop anyway, and a closed socket belongs to a completed run.
            let _ = self.waker.write(&[1]);
        }
    }

    fn ended(&mut self, call: &CallEnd) {
        if let Some(streams) = &self.streams {
            streams.end(call);
        }
    }

    fn never_launched(&mut self, arrival: Arrival, end: Timestamp) {
        if let Some(streams) = &self.streams {
            streams.never_started(arrival, end);
        }
    }
}

/// A call of a coroutine function or an asynchronous generator. Only its first reported outcome counts.
#[pyclass(module = "truetail._native", frozen)]
pub struct AsyncCall {
    number: u64,
    ticket: Mutex<Option<CallHandle>>,
    failures: Arc<CallFailures>,
    streams: Option<ItemStreams>,
    labels: Option<Arc<Labels>>,
}

#[pymethods]
impl AsyncCall {
    /// Place of the call among all of the load, from 0.
    #[getter]
    fn number(&self) -> u64 {
        self.number
    }

    /// Notes that the coroutine takes its first step.
    fn begin(&self) {
        if let Some(ticket) = &mut *lock(&self.ticket) {
            ticket.begin();
        }
    }

    /// Notes that the generator yielded an item. `had_to_wait` is true if the item was not ready when it was requested.
    fn item(&self, had_to_wait: bool) {
        if let (Some(ticket), Some(streams)) = (&*lock(&self.ticket), &self.streams) {
            streams.record_item(ticket.arrival(), ticket.now(), had_to_wait);
        }
    }

    /// Notes that the call has its answer, and labels that.
    fn labelled(&self, answer: &Bound<'_, PyAny>) -> PyResult<()> {
        let ended = lock(&self.ticket).as_mut().map(|ticket| (ticket.arrival(), ticket.mark_end()));
        match (&self.labels, ended) {
            (Some(labels), Some((arrival, response_time))) => labels.record(answer, arrival, response_time),
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// Notes that the call returned.
    fn answered(&self) {
        self.end(Outcome::ANSWERED);
    }

    /// Notes that the call raised an exception.
    fn failed(&self, error: &Bound<'_, PyAny>) {
        if self.end(Outcome::Malformed(Cause::Raised)) {
            self.failures.count(error.py(), PyErr::from_value(error.clone()));
        }
    }

    /// Notes that the call timed out.
    fn timed_out(&self) {
        self.end(Outcome::TimedOut);
    }

    /// Notes that the call was in flight when the run ended.
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
