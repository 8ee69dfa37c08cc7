//! Places of exported files.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use truetail_run::input;

use crate::error::{Result, runtime_error};
use crate::output::cannot_write;

/// Beginning of a page, and of an exported page. Only files that begin like this are replaced.
const BEGIN: &str = "<!DOCTYPE html>";
const EXPORTED: &str = "<!DOCTYPE html><!-- exported by truetail browse -->";
/// Suffix of a file until it is complete.
const PARTIAL: &str = ".partial";

/// A folder for exported files.
pub(super) struct Files {
    root: PathBuf,
    /// Bytes written.
    pub(super) bytes: u64,
}

impl Files {
    /// Creates the folder if necessary, and checks before anything is written that no file of `names` is foreign.
    ///
    /// # Errors
    /// If a file is not an exported page, or its folder is a symbolic link.
    pub(super) fn prepare<'a>(root: &Path, names: impl Iterator<Item = &'a str>) -> Result<Files> {
        fs::create_dir_all(root).map_err(|error| cannot_write(root, &error))?;
        let root = fs::canonicalize(root).map_err(|error| cannot_write(root, &error))?;
        let files = Files { root, bytes: 0 };
        for name in names {
            files.check(&files.root.join(name))?;
        }
        Ok(files)
    }

    /// Checks that nothing is at `path`, or an exported page.
    fn check(&self, path: &Path) -> Result<()> {
        let refused = |what: &str| {
            let help = "choose a folder that is empty or has an earlier export";
            runtime_error(format!("cannot write {}: {what}; {help}", path.display()))
        };
        let folders = path.ancestors().skip(1).take_while(|folder| *folder != self.root);
        if folders.into_iter().any(|folder| folder.is_symlink()) {
            return Err(refused("a symbolic link leads there"));
        }
        match fs::symlink_metadata(path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
            Err(error) => Err(cannot_write(path, &error)),
            Ok(found) if found.is_file() && is_exported(path) => Ok(()),
            Ok(_) => Err(refused("what is there was not exported by truetail browse")),
        }
    }

    /// Writes a page.
    ///
    /// # Errors
    /// If another file is at its place, or the system refuses.
    pub(super) fn write(&mut self, name: &str, page: &str) -> Result<()> {
        let path = self.root.join(name);
        self.check(&path)?;
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        let partial = self.root.join(format!("{name}{PARTIAL}"));
        let text = page.replacen(BEGIN, EXPORTED, 1);
        let created = OpenOptions::new().write(true).create_new(true).open(&partial);
        let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
        written.and_then(|()| fs::rename(&partial, &path)).map_err(|error| cannot_write(&partial, &error))?;
        self.bytes += text.len() as u64;
        Ok(())
    }
}

/// Returns true if the file begins like an exported page.
fn is_exported(path: &Path) -> bool {
    let mut begin = [0; EXPORTED.len()];
    let read = input::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == EXPORTED.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exported_pages_are_replaced() {
        let root = tempfile::tempdir().expect("a folder");
        let names = ["index.html", "run/a/index.html"];
        let prepared = || Files::prepare(root.path(), names.into_iter());
        let mut files = prepared().expect("it is empty");
        files.write(names[1], "<!DOCTYPE html>1").expect("it is free");
        prepared().expect("it is its own").write(names[1], "<!DOCTYPE html>2").expect("it is its own");
        let text = || fs::read_to_string(root.path().join(names[1])).expect("a file");
        assert_eq!(text(), format!("{EXPORTED}2"));
        fs::write(root.path().join("index.html"), "mine").expect("a file");
        let refused = prepared().map(|_| ()).expect_err("it is foreign").message;
        assert!(refused.contains("index.html") && refused.contains("not exported"), "{refused}");
        assert_eq!(fs::read_to_string(root.path().join("index.html")).expect("a file"), "mine");
    }

    #[test]
    fn no_link_leads_out_of_the_folder() {
        let root = tempfile::tempdir().expect("a folder");
        let elsewhere = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink(elsewhere.path(), root.path().join("run")).expect("a link");
        let mut files = Files::prepare(root.path(), std::iter::empty()).expect("a folder");
        assert!(files.write("run/a/index.html", BEGIN).is_err());
        let target = elsewhere.path().join("page.html");
        fs::write(&target, EXPORTED).expect("a file");
        std::os::unix::fs::symlink(&target, root.path().join("index.html")).expect("a link");
        assert!(files.write("index.html", BEGIN).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 1);
    }
}
