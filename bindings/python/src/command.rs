//! The command line, for the script that the wheel installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line (the program's name first) and returns its exit code. It handles signals itself meanwhile.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| truetail_cli::command(arguments.into_iter()))
}
