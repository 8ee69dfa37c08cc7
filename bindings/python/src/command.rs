//! The command line, for the script that the wheel installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Does what the command line asks for, the program's name first, and gives its exit code. Signals are the command's own
/// business meanwhile.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| truetail_cli::command(arguments.into_iter()))
}
