//! Logs of the pods, kept beside the run.

use std::fs;
use std::path::{Path, PathBuf};

use truetail_run::folder;

use crate::error::{Result, runtime_error};

/// Folder for the logs of ended pods.
pub(super) struct Shelf {
    folder: PathBuf,
    /// True if the folder is removed on drop.
    for_now: bool,
}

impl Shelf {
    /// Uses a folder beside the folder of the run, or a temporary one if the run is not saved.
    ///
    /// # Errors
    /// If the folder exists and `replace` is false.
    pub(super) fn beside(run: Option<&Path>, replace: bool) -> Result<Shelf> {
        let Some(run) = run else {
            let name = format!("truetail-shards-{}", std::process::id());
            return Ok(Shelf { folder: std::env::temp_dir().join(name), for_now: true });
        };
        let mut folder = run.as_os_str().to_owned();
        folder.push(".shards");
        let shelf = Shelf { folder: folder.into(), for_now: false };
        if shelf.folder.exists() && !replace {
            return Err(runtime_error(format!(
                "{} is there already; choose another --out, or add --force",
                shelf.folder.display()
            )));
        }
        Ok(shelf)
    }

    /// Saves the log of a pod. Returns false if its run was stopped before the end of its schedule.
    ///
    /// # Errors
    /// If the log does not hold a whole packed run, or cannot be written.
    pub(super) fn keep(&self, stripe: u32, log: &str) -> std::result::Result<bool, String> {
        if !folder::is_packed(log) {
            return Err("its log holds no packed run".to_owned());
        }
        let file = self.file(stripe);
        let written = fs::create_dir_all(&self.folder).and_then(|()| fs::write(&file, log));
        written.map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        let run = folder::load_run_file(&file).map_err(|error| error.to_string())?;
        Ok(!run.interrupted || run.cut_short == Some(false))
    }

    /// Returns the file with the log of a stripe.
    pub(super) fn file(&self, stripe: u32) -> PathBuf {
        self.folder.join(format!("stripe-{stripe}.log"))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        if self.for_now {
            // The folder holds only logs of this run, and a leftover in a temporary folder is harmless.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
