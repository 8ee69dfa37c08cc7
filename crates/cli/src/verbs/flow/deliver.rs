//! Output of a result to a file or to standard output.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use truetail_import::ways::LoadFiles;

use crate::error::{ExitCode, Result, runtime_error, usage_error};
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

/// Returns the file of a flow for `--out`, which may name a folder: one that exists, or a name without an ending.
/// A folder that is missing is made.
///
/// # Errors
/// If the folder cannot be made.
pub(super) fn flow_file(out: &Path, input: &Path) -> Result<PathBuf> {
    if !out.is_dir() && (out.extension().is_some() || out.exists()) {
        return Ok(out.to_owned());
    }
    make_folder(out)?;
    Ok(out.join(input.file_stem().unwrap_or("flow".as_ref())).with_extension("hurl"))
}

/// Writes the files of a load into a folder, and the notes to standard error. Never replaces a file.
///
/// # Errors
/// If one of the files exists, or cannot be written.
pub(super) fn deliver_files(load: &LoadFiles, folder: &Path) -> Result<ExitCode> {
    let existing = load.files.iter().map(|(name, _)| folder.join(name)).find(|file| file.exists());
    if let Some(file) = existing {
        return Err(usage_error(format!("--out: {} exists already; name another folder", file.display())));
    }
    make_folder(folder)?;
    for (name, text) in &load.files {
        output::write_file(&folder.join(name), text)?;
    }
    load.notes.iter().for_each(|note| output::note(note));
    let names: Vec<&str> = load.files.iter().map(|(name, _)| name.as_str()).collect();
    output::note(&format!("{} in {}", names.join(", "), folder.display()));
    Ok(ExitCode::Success)
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .map_err(|error| runtime_error(format!("cannot make the folder {}: {error}", folder.display())))
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
