//! Output of a result to a file or to standard output.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::{ExitCode, Result, usage_error};
use crate::{gating, output};

/// Refuses an output file that cannot be written or is the input. Called before anything is read.
pub(super) fn check_out(out: Option<&Path>, input: &Path) -> Result<()> {
    let Some(out) = out else { return Ok(()) };
    gating::check_place("--out", out)?;
    if is_same(out, input) {
        return Err(usage_error(format!("--out {} is the file that is read; name another one", out.display())));
    }
    Ok(())
}

/// Returns true if both paths lead to the same regular file. Pipes and terminals may be read and written at once.
fn is_same(a: &Path, b: &Path) -> bool {
    let (Ok(of_a), Ok(of_b)) = (fs::metadata(a), fs::metadata(b)) else { return false };
    of_a.is_file() && (of_a.dev(), of_a.ino()) == (of_b.dev(), of_b.ino())
}

/// Writes `text` to a file or to standard output, and the notes to standard error.
pub(super) fn deliver(text: &str, out: Option<&Path>, notes: &[String]) -> Result<ExitCode> {
    match out {
        None => output::print(text)?,
        Some(file) => output::write_file(file, text)?,
    }
    notes.iter().for_each(|note| output::note(note));
    Ok(ExitCode::Success)
}
