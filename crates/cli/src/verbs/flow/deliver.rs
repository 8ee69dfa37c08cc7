//! Where the result goes.

use std::fs;
use std::path::Path;

use crate::error::{ExitCode, Result, runtime_error};
use crate::{gating, output};

/// Writes what was made to a file, or to standard output, and remarks on it to standard error.
///
/// # Errors
/// If it cannot be written.
pub(super) fn deliver(text: &str, out: Option<&Path>, notes: &[String]) -> Result<ExitCode> {
    match out {
        None => output::print(text)?,
        Some(file) => {
            gating::check_place("--out", file)?;
            fs::write(file, text)
                .map_err(|error| runtime_error(format!("cannot write {}: {error}", file.display())))?;
        }
    }
    notes.iter().for_each(|note| output::note(note));
    Ok(ExitCode::Success)
}
