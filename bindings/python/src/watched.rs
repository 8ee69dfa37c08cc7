//! A run over real sockets that Ctrl-C ends, and errors before its start.

use std::fmt::Display;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyConnectionError, PyRuntimeError, PyTimeoutError};
use pyo3::prelude::*;
use truetail_cli::library::why_unanswered;
use truetail_engine::{Control, Plan, PreflightError, Target, TooFewFiles};
use truetail_run::Run;

use crate::arguments::value_error;
use crate::spelling::in_python;

const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Runs and checks for signals. The first signal stops sending, and the second ends the run at once. Returns the
/// measured run, and the exception of the first signal.
pub(crate) fn watched(py: Python<'_>, plan: &Plan, control: &Control) -> (PyResult<Run>, Option<PyErr>) {
    let mut ended_by = None;
    let measured = thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        scope.spawn(move || {
            // The receiver lives until it has received.
            let _ = sender.send(truetail_engine::run(plan, control));
        });
        loop {
            let receiver = &mut receiver;
            match py.detach(move || receiver.recv_timeout(SIGNAL_CHECK_INTERVAL)) {
                Ok(measured) => return measured,
                Err(RecvTimeoutError::Timeout) => check_signals(py, control, &mut ended_by),
                Err(RecvTimeoutError::Disconnected) => panic!("the engine panicked"),
            }
        }
    });
    let cannot = |error: &dyn Display| PyRuntimeError::new_err(error.to_string());
    let run = measured
        .map_err(|error| cannot(&error))
        .and_then(|measured| measured.into_checked_run(plan, control).map_err(|error| cannot(&error)));
    (run, ended_by)
}

fn check_signals(py: Python<'_>, control: &Control, ended_by: &mut Option<PyErr>) {
    match py.check_signals() {
        Ok(()) => {}
        Err(_) if ended_by.is_some() => control.stop_now(),
        Err(error) => {
            *ended_by = Some(error);
            control.stop();
        }
    }
}

/// Returns the error of a connection limit that exceeds the limit on open files.
pub(crate) fn too_few_files_error(error: TooFewFiles) -> PyErr {
    value_error("connections", format!("{error}; raise the limit, or use fewer connections"))
}

/// Returns the error of a failed preflight.
pub(crate) fn preflight_error(target: &Target, error: &PreflightError) -> PyErr {
    let message = in_python(&why_unanswered(target, error));
    match error.innermost() {
        PreflightError::TimedOut { .. } => PyTimeoutError::new_err(message),
        PreflightError::Connect { .. }
        | PreflightError::NoTls(_)
        | PreflightError::Tls { .. }
        | PreflightError::InHttp2Only { .. }
        | PreflightError::NoAnswer { .. }
        | PreflightError::NotOpened { .. }
        | PreflightError::At { .. } => PyConnectionError::new_err(message),
    }
}
