//! Where a run is saved.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use truetail_run::{Findings, Run, folder};

use crate::outcome::{Result, could_not};
use crate::utc;

/// The folder that holds the runs whose place nobody chose.
const PARENT: &str = "truetail-runs";

/// Where the user wants a run to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Nowhere.
    Nowhere,
    /// In this folder.
    Chosen(PathBuf),
    /// In a new folder under `truetail-runs`.
    Fresh,
}

/// A folder that was found fit before the load. Left as it was found, where nothing is saved in the end.
#[derive(Debug)]
pub struct TargetFolder {
    path: PathBuf,
    /// Folders that were made for it, innermost first.
    made: Vec<PathBuf>,
}

impl TargetFolder {
    /// Makes sure that nothing of somebody else's is at `place`, and makes nothing.
    ///
    /// # Errors
    /// When there is something.
    pub fn check(place: &Place) -> Result<()> {
        match place {
            Place::Chosen(path) => folder::check_free(path).map_err(could_not),
            Place::Nowhere | Place::Fresh => Ok(()),
        }
    }

    /// Makes sure that a run called `name` can be saved at `place`; `None` when it is not to be.
    ///
    /// # Errors
    /// When it cannot.
    pub fn prepare(place: &Place, name: &str) -> Result<Option<TargetFolder>> {
        let folder = match place {
            Place::Nowhere => return Ok(None),
            Place::Chosen(path) => TargetFolder { made: missing(path), path: path.clone() },
            Place::Fresh => fresh(Path::new(PARENT), name)?,
        };
        folder::check_writable(&folder.path).map_err(could_not)?;
        Ok(Some(folder))
    }

    /// Writes the run, and says where.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn save(mut self, run: &Run, findings: &Findings) -> Result<PathBuf> {
        folder::save(&self.path, run, findings).map_err(could_not)?;
        self.made.clear();
        Ok(self.path.clone())
    }
}

impl Drop for TargetFolder {
    fn drop(&mut self) {
        // Only empty folders can be removed like this: nothing is lost.
        self.made.iter().for_each(|made| drop(fs::remove_dir(made)));
    }
}

/// The folders on the way to `path` that do not exist, innermost first.
fn missing(path: &Path) -> Vec<PathBuf> {
    let named = |folder: &&Path| !folder.as_os_str().is_empty();
    path.ancestors().filter(named).take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// Makes a folder under `parent` that was not there: time and name, and a number where that is taken.
fn fresh(parent: &Path, name: &str) -> Result<TargetFolder> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let stem = format!("{}-{}", utc::stamp(seconds), fit_for_a_file(name));
    let refused =
        |path: &Path, error| could_not(format!("cannot make {}: {error}; use --out DIR or --no-save", path.display()));
    fs::create_dir_all(parent).map_err(|error| refused(parent, error))?;
    let mut path = parent.join(&stem);
    for number in 2.. {
        match fs::create_dir(&path) {
            Ok(()) => break,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => path = parent.join(format!("{stem}-{number}")),
            Err(error) => return Err(refused(&path, error)),
        }
    }
    // Of several folders that are not used in the end, the last one to go takes the parent along.
    let made = vec![path.clone(), parent.to_owned()];
    Ok(TargetFolder { path, made })
}

fn fit_for_a_file(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(fit).take(60).collect::<String>().trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_not_used_is_gone_and_one_that_was_there_stays() {
        let root = tempfile::tempdir().unwrap();
        let there = root.path().join("there");
        fs::create_dir(&there).unwrap();
        drop(TargetFolder::prepare(&Place::Chosen(there.clone()), "x").unwrap().unwrap());
        assert!(there.is_dir());
        let deep = there.join("a").join("b");
        let prepared = TargetFolder::prepare(&Place::Chosen(deep.clone()), "x").unwrap().unwrap();
        assert!(deep.is_dir());
        drop(prepared);
        assert!(!there.join("a").exists());
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
