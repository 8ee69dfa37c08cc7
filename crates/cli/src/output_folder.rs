//! Folder of a saved run.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use truetail_report::OutputFile;
use truetail_run::folder::SaveError;
use truetail_run::{Findings, Run, folder};

use crate::error::{Result, runtime_error};
use crate::{output, page};

/// Parent of the folders of runs without a chosen folder.
pub(crate) const PARENT: &str = "truetail-runs";

/// Place to save a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SaveTo {
    Nowhere,
    /// In this folder, which must not hold a run.
    Folder(PathBuf),
    /// In this folder. A run that it holds is replaced.
    Replace(PathBuf),
    /// In a new folder under `truetail-runs`.
    NewFolder,
}

impl SaveTo {
    /// Returns the place for `--out`, with or without `--force`.
    pub(crate) fn folder(folder: PathBuf, force: bool) -> SaveTo {
        if force { SaveTo::Replace(folder) } else { SaveTo::Folder(folder) }
    }
}

/// Folder that was found writable before the load. If nothing is saved, dropping it restores the initial state.
#[derive(Debug)]
pub(crate) struct OutputFolder {
    path: PathBuf,
    /// Folders created for it, innermost first.
    created: Vec<PathBuf>,
    /// Keeps other processes from saving a run here. The system releases the claim when the process ends.
    _claim: Claim,
}

impl OutputFolder {
    /// Checks that a run may be saved there, and creates nothing.
    ///
    /// # Errors
    /// If the folder holds something else, or a run that may not be replaced.
    pub(crate) fn check(save_to: &SaveTo) -> Result<()> {
        let (SaveTo::Folder(path) | SaveTo::Replace(path)) = save_to else { return Ok(()) };
        folder::check_free(path).map_err(runtime_error)?;
        if path.is_dir() {
            Claim::on(path)?;
        }
        check_kept(save_to)
    }

    /// Creates the folder for a run called `name`, and checks that it is writable. `None` if the run is not saved.
    ///
    /// # Errors
    /// If the folder holds something else or a run that may not be replaced, or cannot be created or written.
    pub(crate) fn prepare(save_to: &SaveTo, name: &str) -> Result<Option<OutputFolder>> {
        OutputFolder::check(save_to)?;
        let folder = match save_to {
            SaveTo::Nowhere => return Ok(None),
            SaveTo::Folder(path) | SaveTo::Replace(path) => claimed(path)?,
            SaveTo::NewFolder => fresh(Path::new(PARENT), name)?,
        };
        folder::check_writable(&folder.path).map_err(runtime_error)?;
        // Another process may have saved a run there since the first check.
        check_kept(save_to)?;
        Ok(Some(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a judged run, then its page, and returns the folder. If only the page cannot be written, a note says so.
    ///
    /// # Errors
    /// If another file cannot be written.
    pub(crate) fn save(mut self, run: &Run, findings: &Findings) -> Result<PathBuf> {
        let saved = folder::save(&self.path, run, findings);
        if matches!(saved, Ok(()) | Err(SaveError::Lacking { .. })) {
            self.created.clear();
        }
        saved.map_err(runtime_error)?;
        if let Err(error) = folder::save_page(&self.path, &page::page_of(run, findings)) {
            output::note(&format!("the run is saved, but not its page: {error}"));
        }
        Ok(self.path.clone())
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        // `remove_dir` removes only empty folders, so nothing is lost.
        self.created.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// Refuses a folder with a run that may not be replaced.
fn check_kept(save_to: &SaveTo) -> Result<()> {
    match save_to {
        SaveTo::Folder(path) if folder::has_files_of_a_run(path) => Err(runtime_error(format!(
            "{} already holds a run; add --force to replace it, or choose another folder",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Lock on a folder, released at the latest when the process ends.
#[derive(Debug)]
pub(crate) struct Claim(#[allow(dead_code, reason = "open as long as the claim lasts")] Option<File>);

impl Claim {
    /// Locks an existing folder. On a file system without locks it does nothing.
    ///
    /// # Errors
    /// If another process has locked it.
    pub(crate) fn on(path: &Path) -> Result<Claim> {
        let Ok(folder) = File::open(path) else { return Ok(Claim(None)) };
        match folder.try_lock() {
            Ok(()) => Ok(Claim(Some(folder))),
            Err(TryLockError::Error(_)) => Ok(Claim(None)),
            Err(TryLockError::WouldBlock) => Err(runtime_error(format!(
                "another run of truetail is saved in {} and has not ended; choose another folder",
                path.display()
            ))),
        }
    }
}

/// Returns true if a process that saves a run in the folder has not ended. A file system without locks does not know.
pub(crate) fn is_claimed(path: &Path) -> bool {
    let Ok(folder) = File::open(path) else { return false };
    // Shared and only for a moment: other observers are not refused.
    matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Returns the folder at `path`, and creates it if it is missing.
fn claimed(path: &Path) -> Result<OutputFolder> {
    let created = missing(path);
    fs::create_dir_all(path).map_err(|error| output::cannot_write(path, &error))?;
    Ok(OutputFolder { _claim: Claim::on(path)?, path: path.to_owned(), created })
}

/// Returns `path` and its ancestors that do not exist, innermost first.
fn missing(path: &Path) -> Vec<PathBuf> {
    let named = |folder: &&Path| !folder.as_os_str().is_empty();
    path.ancestors().filter(named).take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// Creates a new folder under `parent`, named by time and `name`, with a number if that name is taken.
fn fresh(parent: &Path, name: &str) -> Result<OutputFolder> {
    let stem = format!("{}-{}", utc_stamp(SystemTime::now()), file_name(name));
    let refused = |path: &Path, error| {
        runtime_error(format!(
            "cannot create {}: {error}; choose a folder with --out DIR, or use --no-save",
            path.display()
        ))
    };
    fs::create_dir_all(parent).map_err(|error| refused(parent, error))?;
    let mut path = parent.join(&stem);
    for number in 2.. {
        match fs::create_dir(&path) {
            Ok(()) => break,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => path = parent.join(format!("{stem}-{number}")),
            Err(error) => return Err(refused(&path, error)),
        }
    }
    // If several new folders stay unused, the last one dropped removes the parent too.
    let created = vec![path.clone(), parent.to_owned()];
    Ok(OutputFolder { _claim: Claim::on(&path)?, path, created })
}

/// Formats `time` as `20251120T075600Z`, for names of folders. Times before 1970 become 1970.
pub(crate) fn utc_stamp(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time.max(UNIX_EPOCH)).to_string().replace(['-', ':'], "")
}

/// Writes `files` into `folder`, which must exist.
pub(crate) fn write_files(folder: &Path, files: &[OutputFile]) -> Result<()> {
    files.iter().try_for_each(|file| output::write_file(&folder.join(&file.name), &file.content))
}

/// Returns `name` with dashes for characters that do not belong in a file name, and at most 60 characters.
pub(crate) fn file_name(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(fit).take(60).collect::<String>().trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn stamps_are_utc() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (951_868_800, "20000301T000000Z"),
            (1_763_625_360, "20251120T075600Z"),
            (4_107_542_400, "21000301T000000Z"),
        ] {
            assert_eq!(utc_stamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn unused_folders_are_removed_unless_they_existed_before() {
        let root = tempfile::tempdir().unwrap();
        let there = root.path().join("there");
        fs::create_dir(&there).unwrap();
        drop(OutputFolder::prepare(&SaveTo::Folder(there.clone()), "x").unwrap().unwrap());
        assert!(there.is_dir());
        let deep = there.join("a").join("b");
        let prepared = OutputFolder::prepare(&SaveTo::Folder(deep.clone()), "x").unwrap().unwrap();
        assert!(deep.is_dir());
        drop(prepared);
        assert!(!there.join("a").exists());
    }

    #[test]
    fn a_run_is_replaced_only_by_force() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().to_owned();
        assert!(OutputFolder::check(&SaveTo::folder(path.clone(), false)).is_ok(), "an empty folder");
        fs::write(path.join(folder::RUN), r#"{"schema": "truetail.run/1"}"#).unwrap();
        let refused = OutputFolder::prepare(&SaveTo::folder(path.clone(), false), "x").unwrap_err().message;
        assert!(refused.contains("already holds a run; add --force"), "{refused}");
        assert!(OutputFolder::check(&SaveTo::folder(path, true)).is_ok());
    }

    #[test]
    fn a_folder_is_claimed_by_one_run_until_it_ends() {
        let root = tempfile::tempdir().unwrap();
        for force in [false, true] {
            let save_to = SaveTo::folder(root.path().join("claimed"), force);
            let first = OutputFolder::prepare(&save_to, "x").unwrap();
            for refused in [OutputFolder::check(&save_to), OutputFolder::prepare(&save_to, "x").map(drop)] {
                let refused = refused.unwrap_err().message;
                assert!(
                    refused.contains("another run of truetail is saved in ") && !refused.contains('\n'),
                    "{refused}"
                );
            }
            let path = first.as_ref().expect("it is saved").path().to_owned();
            assert!(is_claimed(&path));
            drop(first);
            assert!(!is_claimed(&path));
            assert!(OutputFolder::prepare(&save_to, "x").is_ok());
        }
    }

    #[test]
    fn two_runs_in_one_second_have_two_folders() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("runs");
        let folders: Vec<_> = (0..3).map(|_| fresh(&parent, "[::1]:80").unwrap()).collect();
        assert!(folders.iter().all(|folder| folder.path.is_dir()));
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 3);
        drop(folders);
        assert!(!parent.exists());
    }
}
