//! The command line, for the script that the wheel installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line, which starts with the program's name, and returns its exit code. It handles signals itself.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| truetail_cli::command(arguments.into_iter()))
}
