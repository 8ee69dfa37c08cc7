//! The runs of the site, listed and read within their folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use truetail_run::catalog::{RunFilter, RunOrder, SavedRun, WatchedCatalog, times_over_run};
use truetail_run::folder::TIMELINE;

use crate::args::runs::RunsPlaceArgs;
use crate::error::{Result, runtime_error};
use crate::output_folder::is_claimed;
use crate::verbs::runs::check_place;

/// Shortest time from one look at the folder to the next.
const SHORTEST_REST: Duration = Duration::from_secs(1);
/// Time between two looks beside the time that a look takes, so that looking needs at most 5 % of a processor.
const REST: u32 = 19;
/// Longest timeline that is read for a line in the list, bytes, and for all lines of a page.
const LONGEST_TIMELINE: u64 = 8 << 20;
const LONGEST_TIMELINES: u64 = 64 << 20;

/// A reason that there is no such page: status and sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Problem(pub(super) u16, pub(super) String);

pub(super) type Answer<T> = std::result::Result<T, Problem>;

/// The runs of a folder that meet the conditions of the command line, newest first.
#[derive(Default, Debug)]
pub(super) struct Listing {
    /// Number of this state of the folder.
    pub(super) version: u64,
    pub(super) runs: Vec<SavedRun>,
    pub(super) unreadable: Vec<(String, String)>,
}

/// The runs below a folder.
pub(super) struct Archive {
    /// The folder, as the user named it.
    pub(super) shown: String,
    /// The folder without symbolic links.
    parent: PathBuf,
    conditions: RunFilter,
    watched: Mutex<Watched>,
}

struct Watched {
    catalog: WatchedCatalog,
    listing: Arc<Listing>,
    next_look: Instant,
}

impl Archive {
    /// Reads the list of the runs.
    ///
    /// # Errors
    /// If there is no such folder, it is a run itself, or it cannot be read.
    pub(super) fn open(place: &RunsPlaceArgs) -> Result<Archive> {
        check_place(&place.dir)?;
        let cannot = |why: &dyn std::fmt::Display| {
            runtime_error(format!("cannot list the runs in {}: {why}", place.dir.display()))
        };
        let parent = fs::canonicalize(&place.dir).map_err(|error| cannot(&error))?;
        let watched =
            Watched { catalog: WatchedCatalog::new(&parent), listing: Arc::default(), next_look: Instant::now() };
        let shown = place.dir.display().to_string();
        let archive = Archive { shown, parent, conditions: place.which.filter(), watched: Mutex::new(watched) };
        archive.listing().map_err(|Problem(_, why)| runtime_error(why))?;
        Ok(archive)
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the runs as they were at the last look, which was a moment ago.
    pub(super) fn listing(&self) -> Answer<Arc<Listing>> {
        let mut watched = self.watched();
        let began = Instant::now();
        if began < watched.next_look {
            return Ok(Arc::clone(&watched.listing));
        }
        let looked = watched.catalog.changed();
        watched.next_look = Instant::now() + (began.elapsed() * REST).max(SHORTEST_REST);
        let changed =
            looked.map_err(|error| Problem(500, format!("cannot list the runs in {}: {error}", self.shown)))?;
        if let Some(catalog) = changed {
            let mut runs: Vec<SavedRun> = catalog.runs.into_iter().filter(|run| self.conditions.keeps(run)).collect();
            RunOrder::Started.sort(&mut runs);
            let version = watched.listing.version + 1;
            watched.listing = Arc::new(Listing { version, runs, unreadable: catalog.unreadable });
        }
        Ok(Arc::clone(&watched.listing))
    }

    /// Makes the next look at the folder due.
    pub(super) fn look_again(&self) {
        self.watched().next_look = Instant::now();
    }

    /// Returns the path of a run of the listing, after a check that nothing in it leads elsewhere.
    pub(super) fn path(&self, run: &SavedRun) -> Answer<PathBuf> {
        let path = self.parent.join(&run.folder);
        let gone = |_| Problem(404, format!("the run {} is gone", run.folder));
        let is_inside = fs::canonicalize(&path).map_err(gone)? == path;
        let mut entries = fs::read_dir(&path).map_err(gone)?;
        let is_link = |entry: std::io::Result<fs::DirEntry>| {
            entry.and_then(|entry| entry.file_type()).is_ok_and(|kind| kind.is_symlink())
        };
        if !is_inside || entries.any(is_link) {
            let why = "holds a symbolic link, which could lead out of the folder; 'truetail report' follows it";
            return Err(Problem(403, format!("the run {} {why}", run.folder)));
        }
        Ok(path)
    }

    /// Returns true if the process of a run has not ended.
    pub(super) fn is_in_progress(&self, run: &SavedRun) -> bool {
        run.unfinished && is_claimed(&self.parent.join(&run.folder))
    }

    /// Returns the p99 of each interval of each run. Runs beyond a limit on the bytes have none.
    pub(super) fn shapes(&self, runs: &[&SavedRun]) -> Vec<Vec<Option<u64>>> {
        let mut left = LONGEST_TIMELINES;
        let shape = |run: &&SavedRun| {
            let folder = self.parent.join(&run.folder);
            let length = length_within(&folder.join(TIMELINE), left.min(LONGEST_TIMELINE));
            left -= length;
            if length == 0 { Vec::new() } else { times_over_run(&folder, length) }
        };
        runs.iter().map(shape).collect()
    }
}

/// Returns the length of a regular file if it is within `most`, else 0.
fn length_within(file: &Path, most: u64) -> u64 {
    let metadata = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file);
    metadata.map(|metadata| metadata.len()).filter(|length| *length <= most).unwrap_or(0)
}

impl Listing {
    /// Returns the run in `folder`.
    pub(super) fn run(&self, folder: &str) -> Answer<&SavedRun> {
        let found = self.runs.iter().find(|run| run.folder == folder);
        found.ok_or_else(|| Problem(404, format!("there is no run '{folder}' in the list")))
    }

    /// Returns the newest run of the same series that began before `run`.
    pub(super) fn before(&self, run: &SavedRun) -> Option<&SavedRun> {
        let key = run.series()?;
        let older = self.runs.iter().skip_while(|one| one.folder != run.folder).skip(1);
        older.filter(|one| !one.unfinished).find(|one| one.series() == Some(key))
    }

    /// Returns the runs of each series among `runs`, in the order of their newest runs, newest first.
    pub(super) fn series<'a>(runs: &[&'a SavedRun]) -> Vec<(&'a str, Vec<&'a SavedRun>)> {
        let mut places = BTreeMap::new();
        let mut series: Vec<(&str, Vec<&SavedRun>)> = Vec::new();
        for run in runs {
            let Some(key) = run.series() else { continue };
            let place = *places.entry(key).or_insert(series.len());
            match series.get_mut(place) {
                Some((_, members)) => members.push(run),
                None => series.push((key, vec![run])),
            }
        }
        series
    }
}
