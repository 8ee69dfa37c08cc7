//! Damaged run folders. Each is either refused in one line, or read as a run that can be computed, shown, saved,
//! merged.

mod damage;
mod every_number;
mod exercise;
#[path = "../../../run/tests/support/sessions.rs"]
mod sessions;
#[path = "../../../run/tests/support/streams.rs"]
mod streams;
#[path = "../../../run/tests/support/mod.rs"]
mod support;
mod wild;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::{TempDir, tempdir};
use truetail_model::record::{RecorderOptions, SamplesOptions};
use truetail_run::{Run, StreamFacts, folder};

use damage::{damages, names};
use exercise::exercise;
use support::{slow, steady};

/// Returns runs that keep different parts.
fn runs() -> Vec<Run> {
    let sampled = SamplesOptions { capacity: 20, slowest: 5 };
    let of = |samples, per_second, seconds| {
        let records = if seconds > 2 { slow(seconds) } else { steady(2).into_iter().step_by(9).collect() };
        support::run(RecorderOptions { samples, per_second, ..RecorderOptions::default() }, &records)
    };
    let mut runs = vec![
        of(SamplesOptions::default(), true, 2),
        of(sampled, true, 2),
        of(SamplesOptions::NONE, false, 2),
        of(sampled, true, 40),
    ];
    runs.push(support::run(RecorderOptions::default(), &[]));
    runs.push(support::run(RecorderOptions::default(), &steady(1)[..1]));
    let mut streamed = of(sampled, true, 2);
    let requests = streams::request_streams(&streamed.snapshot.samples, false);
    let streams = streams::streams(streamed.snapshot.tally.planned);
    streamed.facts.stream = Some(StreamFacts { requests, ..streams });
    runs.extend([streamed.clone(), streamed]);
    let mut followed = of(sampled, true, 2);
    followed.facts.sessions = Some(sessions::sessions());
    runs.extend([followed.clone(), followed]);
    runs
}

fn save(folder: &Path, run: &Run) {
    folder::save(folder, run, &truetail_analysis::findings(run)).unwrap();
}

fn folders() -> Vec<TempDir> {
    runs().iter().map(|run| tempdir().inspect(|folder| save(folder.path(), run)).unwrap()).collect()
}

fn copied(from: &Path) -> TempDir {
    let copy = tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

/// Checks that a folder is refused in one line that names a file of the folder, or is a usable run.
fn is_refused_or_whole(folder: &Path) {
    match folder::load(folder) {
        Ok(loaded) => exercise(&loaded.run, tempdir().unwrap().path()),
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains('\n') && line.contains(&folder.display().to_string()), "{line}");
        }
    }
}

#[test]
fn what_was_saved_can_be_worked_with() {
    for run in runs() {
        exercise(&run, tempdir().unwrap().path());
    }
    for folder in folders() {
        is_refused_or_whole(folder.path());
        for name in [folder::SAMPLES, folder::TIMELINE] {
            fs::remove_file(folder.path().join(name)).unwrap();
            is_refused_or_whole(folder.path());
        }
    }
}

/// Returns the number of damaged folders; `PROPTEST_CASES` raises it.
fn cases(usually: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig { cases: if is_set { config.cases } else { usually }, ..config }
}

thread_local! {
    static FOLDERS: Vec<TempDir> = folders();
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_damaged_folder_is_refused_or_whole(
        which in any::<proptest::sample::Index>(),
        damage in proptest::collection::vec((names(), damages()), 1..4),
        lost in proptest::option::weighted(0.3, prop_oneof![Just(folder::SAMPLES), Just(folder::TIMELINE)]),
    ) {
        let folder = FOLDERS.with(|folders| copied(folders[which.index(folders.len())].path()));
        for (name, damage) in &damage {
            let path = folder.path().join(name);
            // Only some folders have streams or sessions.
            let Ok(text) = fs::read(&path) else { continue };
            fs::write(&path, damage.apply(text)).unwrap();
        }
        lost.inspect(|name| fs::remove_file(folder.path().join(name)).unwrap());
        is_refused_or_whole(folder.path());
    }
}

proptest! {
    #![proptest_config(cases(24))]

    /// These runs are strange but valid, so they must be read.
    #[test]
    fn a_wild_run_can_be_worked_with(wild::WildRun(run) in wild::runs()) {
        let folder = tempdir().unwrap();
        save(folder.path(), &run);
        let loaded = folder::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
        prop_assert_eq!(loaded.run.snapshot.tally, run.snapshot.tally);
        exercise(&loaded.run, tempdir().unwrap().path());
        fs::remove_file(folder.path().join(folder::SAMPLES)).unwrap();
        is_refused_or_whole(folder.path());
    }
}
