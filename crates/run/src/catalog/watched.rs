//! A list that is read again and again.

use std::collections::HashMap;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use super::index::{self, Line};
use super::places::{self, Place, Stamp};
use super::{Catalog, lines_of, update_index};

/// The saved runs below a folder, for a page that follows it. Only runs whose files changed are read again.
#[derive(Debug)]
pub struct WatchedCatalog {
    parent: PathBuf,
    lines: HashMap<String, Line>,
    unreadable: HashMap<String, (Stamp, String)>,
    is_read: bool,
}

impl WatchedCatalog {
    /// Creates a catalog of `parent` and reads nothing yet.
    pub fn new(parent: &Path) -> WatchedCatalog {
        WatchedCatalog { parent: parent.to_owned(), lines: HashMap::new(), unreadable: HashMap::new(), is_read: false }
    }

    /// Reads the folder. Returns `None` if nothing changed since the last call. The first call uses the index and
    /// updates it; later calls leave it alone.
    ///
    /// # Errors
    /// If the folder cannot be read, or holds more folders than a list can have.
    pub fn changed(&mut self) -> io::Result<Option<Catalog>> {
        let mut places = places::below(&self.parent)?;
        let known = self.lines.len() + self.unreadable.len();
        if self.is_read && places.len() == known && places.iter().all(|place| self.knows(place)) {
            return Ok(None);
        }
        let is_first = !mem::replace(&mut self.is_read, true);
        let lines = if is_first { index::read(&self.parent) } else { mem::take(&mut self.lines) };
        let was_known = lines.len();
        let still_unreadable = self.take_unreadable(&mut places);
        let stamps: HashMap<String, Stamp> = places.iter().map(|place| (place.folder.clone(), place.stamp)).collect();
        let (mut catalog, lines) = lines_of(&self.parent, places, lines);
        if is_first {
            update_index(&self.parent, &catalog, &lines, was_known);
        }
        let newly = catalog.unreadable.iter().map(|(folder, why)| (folder.clone(), (stamps[folder], why.clone())));
        self.unreadable = newly.chain(still_unreadable).collect();
        let mut unreadable: Vec<_> =
            self.unreadable.iter().map(|(folder, (_, why))| (folder.clone(), why.clone())).collect();
        unreadable.sort();
        catalog.unreadable = unreadable;
        catalog.runs = lines.iter().map(|line| line.run.clone()).collect();
        self.lines = lines.into_iter().map(|line| (line.run.folder.clone(), line)).collect();
        Ok(Some(catalog))
    }

    fn knows(&self, place: &Place) -> bool {
        let line = self.lines.get(&place.folder).map(|line| line.stamp);
        line.or_else(|| self.unreadable.get(&place.folder).map(|(stamp, _)| *stamp)) == Some(place.stamp)
    }

    /// Removes the runs from `places` that could not be read and have not changed, and returns them.
    fn take_unreadable(&mut self, places: &mut Vec<Place>) -> HashMap<String, (Stamp, String)> {
        let mut known = mem::take(&mut self.unreadable);
        let stamps: HashMap<&str, Stamp> = places.iter().map(|place| (place.folder.as_str(), place.stamp)).collect();
        known.retain(|folder, (stamp, _)| stamps.get(folder.as_str()) == Some(stamp));
        places.retain(|place| !known.contains_key(&place.folder));
        known
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::folder::RUN;

    #[test]
    fn a_run_that_cannot_be_read_is_read_once_for_each_change() {
        let parent = tempfile::tempdir().expect("a folder");
        let run = parent.path().join("broken");
        fs::create_dir(&run).expect("a folder");
        fs::write(run.join(RUN), "{").expect("a file");
        let mut catalog = WatchedCatalog::new(parent.path());
        let first = catalog.changed().expect("it is readable").expect("it is new");
        assert_eq!((first.runs.len(), first.unreadable.len()), (0, 1), "{first:?}");
        assert_eq!(catalog.changed().expect("it is readable"), None);
        fs::write(run.join(RUN), "{}").expect("a file");
        let second = catalog.changed().expect("it is readable").expect("a file changed");
        assert_ne!(second.unreadable, first.unreadable);
        fs::remove_file(run.join(RUN)).expect("it is there");
        assert_eq!(catalog.changed().expect("it is readable"), Some(Catalog::default()));
        assert!(fs::exists(parent.path().join(index::INDEX)).is_ok_and(|exists| !exists), "an empty list needs none");
    }

    #[test]
    fn a_file_that_is_a_link_is_no_run() {
        let parent = tempfile::tempdir().expect("a folder");
        let elsewhere = tempfile::NamedTempFile::new().expect("a file");
        fs::create_dir(parent.path().join("linked")).expect("a folder");
        std::os::unix::fs::symlink(elsewhere.path(), parent.path().join("linked").join(RUN)).expect("a link");
        assert_eq!(WatchedCatalog::new(parent.path()).changed().expect("it is readable"), Some(Catalog::default()));
    }
}
