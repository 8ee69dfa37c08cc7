//! The logs of the pods, kept beside the run until it is merged and after.

use std::fs;
use std::path::{Path, PathBuf};

use truetail_run::folder;

use crate::error::{Result, runtime_error};

/// A folder for the logs of ended pods.
pub(super) struct Shelf {
    folder: PathBuf,
    /// It goes when this is dropped.
    for_now: bool,
}

impl Shelf {
    /// Beside the folder of a run, or for the time being where the run is not saved.
    ///
    /// # Errors
    /// If something is there already.
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

    /// Keeps the log of a pod that holds a whole packed run. False if that run was stopped before the end of its schedule.
    ///
    /// # Errors
    /// If it does not, or cannot be written.
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

    /// Where the log of a stripe is.
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
            // Files of ours alone; what cannot be removed from a temporary folder is no news for anybody.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
