//! `truetail.serve`: the misbehaving server, inside this process.

use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use truetail_engine::host as machine;
use truetail_server::{LogFile, ServerOptions};

use crate::arguments::{time, value_error};
use crate::simulate::find_scenario;

/// A server that misbehaves as its scenario says, until `stop()` or the end of its `with` block.
#[pyclass(module = "truetail", frozen)]
pub struct Server {
    address: SocketAddr,
    path: String,
    running: Mutex<Option<truetail_server::Server>>,
    /// Number of requests at the stop.
    admitted: Mutex<u64>,
}

#[pymethods]
impl Server {
    #[new]
    #[pyo3(signature = (scenario, *, duration, baseline, host, port, truth))]
    fn new<'py>(
        scenario: &Bound<'py, PyAny>,
        duration: Option<&Bound<'py, PyAny>>,
        baseline: Option<&Bound<'py, PyAny>>,
        host: &str,
        port: u16,
        truth: Option<PathBuf>,
    ) -> PyResult<Server> {
        let mut scenario = find_scenario(scenario, duration)?;
        if let Some(given) = baseline {
            scenario.service.baseline = time("baseline", given)?;
        }
        machine::raise_open_file_limit();
        let truth = truth.map(|path| Box::new(LogFile::at(path)) as Box<dyn Write + Send>);
        let options =
            ServerOptions { truth, keep_truth: false, ..ServerOptions::new(scenario.service, address(host, port)?) };
        let running = truetail_server::Server::start(options)?;
        let address = running.addr();
        Ok(Server { address, path: scenario.path, running: Mutex::new(Some(running)), admitted: Mutex::new(0) })
    }

    /// The URL for the load, with the path of the scenario.
    #[getter]
    fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    /// The address that the server listens on.
    #[getter]
    fn host(&self) -> String {
        self.address.ip().to_string()
    }

    /// The port that the server listens on.
    #[getter]
    fn port(&self) -> u16 {
        self.address.port()
    }

    /// Number of requests that have arrived, without health checks.
    #[getter]
    fn admitted(&self) -> u64 {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let stopped = || *self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_ref().map_or_else(stopped, truetail_server::Server::admitted)
    }

    /// Closes all connections and completes the truth log. A second call does nothing.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(running) = running else { return Ok(()) };
        let truth = py.detach(|| running.stop());
        *self.admitted.lock().unwrap_or_else(PoisonError::into_inner) = truth.totals.admitted;
        truth
            .log_error
            .map_or(Ok(()), |error| Err(io::Error::other(format!("the truth log is incomplete: {error}")).into()))
    }

    fn __enter__(this: Py<Server>) -> Py<Server> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.stop(py)
    }

    fn __repr__(&self) -> String {
        format!("<truetail.Server {}>", self.url())
    }
}

fn address(host: &str, port: u16) -> PyResult<SocketAddr> {
    let invalid = |problem: String| value_error("host", format!("'{host}' is no address to listen on: {problem}"));
    let mut found = (host, port).to_socket_addrs().map_err(|error| invalid(error.to_string()))?;
    found.next().ok_or_else(|| invalid("it has none".to_owned()))
}
