//! Writing of a run folder.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::contents::Contents;
use super::partial::{PARTIAL, Partial, io_error};
use super::{
    CHECKPOINT, FAILED_ANSWERS, HISTOGRAMS, PICTURES, REPORT, RUN, SAMPLES, SCRAPES, SERVER_TIMING, SESSIONS, STREAMS,
    SaveError, TIMELINE, checkpoint,
};
use crate::input;
use crate::{Findings, Run, wire};

const OPTIONAL: [&str; 5] = [FAILED_ANSWERS, SCRAPES, SERVER_TIMING, TIMELINE, SAMPLES];

/// Writes a run and its findings to `folder`, and creates the folder if needed. It replaces an existing run.
///
/// Each file is written under a temporary name, flushed to the disk and then renamed, `run.json` last. So no file is
/// ever half written, and a new folder with a `run.json` is complete.
///
/// # Errors
/// Fails like [`check_writable`], and with [`SaveError::Io`] if the system refuses to write, such as on a full disk.
/// Old files then remain, unless a rename failed. [`SaveError::Lacking`] if only optional files could not be written.
pub fn save(folder: &Path, run: &Run, findings: &Findings) -> Result<(), SaveError> {
    prepare(folder)?;
    let contents = Contents::new(run, findings);
    let names = contents.names();
    let write = |name: &str| Partial::write(folder, name, |out| contents.write(name, out));
    // On a nearly full disk, the files that a run needs come first.
    let (optional, needed): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| OPTIONAL.contains(name));
    let mut written = needed.into_iter().map(write).collect::<Result<Vec<_>, _>>()?;
    let mut lacking = Vec::new();
    let mut error = None;
    for name in optional {
        match write(name) {
            // `run.json` stays the last file.
            Ok(file) => written.insert(0, file),
            Err(failed) => {
                lacking.push(name);
                error.get_or_insert(failed);
            }
        }
    }
    let has = |name: &str| names.contains(&name) && !lacking.contains(&name);
    let known = [REPORT, STREAMS, SESSIONS].iter().chain(&OPTIONAL).chain(&PICTURES);
    remove_stale(folder, known.copied().filter(|name| !has(name)))?;
    written.into_iter().try_for_each(Partial::put_in_place)?;
    // The checkpoint is obsolete. If removal fails, readers still ignore it, because it is older than `run.json`.
    let _ = fs::remove_file(folder.join(CHECKPOINT));
    error.map_or(Ok(()), |error| Err(error.into_lacking()))
}

/// Writes `html`, the page of the run in `folder`, to that folder. Fails with [`SaveError::Io`]; no partial page
/// remains.
pub fn save_page(folder: &Path, html: &str) -> Result<(), SaveError> {
    Partial::write(folder, REPORT, |out| out.write_all(html.as_bytes()))?.put_in_place()
}

/// Writes a file of `folder` under a temporary name, and renames it. Fails with [`SaveError::Io`].
pub(crate) fn write_file(
    folder: &Path,
    name: &str,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), SaveError> {
    Partial::write(folder, name, content)?.put_in_place()
}

/// Removes every file that truetail writes into a folder of a run, `run.json` last, and no other file.
pub(crate) fn remove_files(folder: &Path) -> Result<(), SaveError> {
    let leftovers = fs::read_dir(folder).map_err(io_error(folder))?.filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        name.contains(PARTIAL).then_some(name)
    });
    let known = [HISTOGRAMS, TIMELINE, SAMPLES, FAILED_ANSWERS, SCRAPES, SERVER_TIMING, STREAMS, SESSIONS, REPORT];
    let known = known.iter().chain(&PICTURES).chain(&[CHECKPOINT, RUN]).map(|name| (*name).to_owned());
    let names: Vec<String> = leftovers.chain(known).collect();
    remove_stale(folder, names.iter().map(String::as_str))
}

/// Ensures, before any load is sent, that a run can be saved in `folder`: creates the folder, and a test file in it.
///
/// # Errors
/// [`SaveError::NotAFolder`], [`SaveError::Occupied`] if it has files but no run, [`SaveError::Io`] if the system
/// refuses.
pub fn check_writable(folder: &Path) -> Result<(), SaveError> {
    prepare(folder)?;
    Partial::write(folder, "probe", |_| Ok(())).map(drop)
}

fn prepare(folder: &Path) -> Result<(), SaveError> {
    check_free(folder)?;
    fs::create_dir_all(folder).map_err(io_error(folder))
}

/// Checks that `folder` is missing, empty, or has a run. Fails like [`check_writable`], but creates nothing.
pub fn check_free(folder: &Path) -> Result<(), SaveError> {
    if !folder.exists() {
        return Ok(());
    }
    if !folder.is_dir() {
        return Err(SaveError::NotAFolder(folder.to_owned()));
    }
    match first_entry(folder).map_err(io_error(folder))? {
        Some(found) if !holds_a_run(folder) => Err(SaveError::Occupied { folder: folder.to_owned(), found }),
        _ => Ok(()),
    }
}

/// Returns the first name in the folder, in alphabetical order, ignoring leftovers of an interrupted save.
fn first_entry(folder: &Path) -> io::Result<Option<String>> {
    let mut first = None;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.contains(PARTIAL) && first.as_ref().is_none_or(|first| name < *first) {
            first = Some(name);
        }
    }
    Ok(first)
}

/// Returns true if the folder has a run or a checkpoint.
pub fn has_files_of_a_run(folder: &Path) -> bool {
    [RUN, CHECKPOINT].iter().any(|name| folder.join(name).exists())
}

/// Returns true if the folder has a `run.json` of any version of truetail, or a checkpoint.
fn holds_a_run(folder: &Path) -> bool {
    if checkpoint::exists(folder) {
        return true;
    }
    input::read(&folder.join(RUN), input::LONGEST).is_ok_and(|text| wire::is_a_run(&String::from_utf8_lossy(&text)))
}

fn remove_stale<'a>(folder: &Path, mut names: impl Iterator<Item = &'a str>) -> Result<(), SaveError> {
    names.try_for_each(|name| {
        let stale = folder.join(name);
        match fs::remove_file(&stale) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(&stale)(error)),
            _ => Ok(()),
        }
    })
}
