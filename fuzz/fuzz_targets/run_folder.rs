//! A damaged run folder: refused in one line with the name of the bad file, or loaded as a run whose tally balances and
//! whose parts agree, and of which everything can be computed, shown, saved and merged.
#![no_main]

#[path = "../../crates/page/tests/damaged_folders/exercise.rs"]
mod exercise;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use truetail_fuzz::{RUN_FILES, split};
use truetail_model::record::{Metric, Snapshot, SparseHistogram};
use truetail_run::{Run, folder, wire};

/// A folder of this process, in memory if the system supports it.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = place.join(format!("truetail-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|input: &[u8]| {
    let parts: Vec<&[u8]> = split(input).collect();
    for (at, name) in RUN_FILES.iter().enumerate() {
        let path = FOLDER.join(name);
        match parts.get(at) {
            Some(bytes) if !bytes.is_empty() => fs::write(path, bytes).expect("a file"),
            _ => drop(fs::remove_file(path)),
        }
    }
    if let Some(Ok(text)) = parts.first().map(|bytes| std::str::from_utf8(bytes)) {
        check_text(text);
    }
    match folder::load(&FOLDER) {
        Ok(loaded) => {
            check(&loaded.run);
            exercise::exercise(&loaded.run, &FOLDER);
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains('\n') && line.contains(&FOLDER.display().to_string()), "{line}");
        }
    }
});

/// Reading, writing and reading again gives the same.
fn check_text(text: &str) {
    let Ok(file) = wire::parse(text) else { return };
    let written = file.to_json();
    let again = wire::parse(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again.to_json(), written);
}

fn check(run: &Run) {
    let snapshot = &run.snapshot;
    check_books(snapshot);
    if !snapshot.intervals.rows().is_empty() {
        check_intervals(snapshot);
    }
    for metric in Metric::ALL {
        let histogram = snapshot.metric(metric);
        let buckets: u64 = histogram.buckets().map(|(_, _, count)| count).sum();
        assert_eq!(buckets, histogram.count(), "{}", metric.name());
        let quantiles = [0.0, 0.5, 0.999, 1.0].map(|q| histogram.quantile(q));
        assert!(quantiles.is_sorted(), "{quantiles:?}");
    }
}

/// Every arrival has one outcome and one time.
fn check_books(snapshot: &Snapshot) {
    let tally = &snapshot.tally;
    tally.check().expect("books that balance");
    snapshot.warmup.check().expect("books that balance");
    let [answered, censored, failed] =
        [Metric::ResponseTime, Metric::Censored, Metric::Failed].map(|metric| snapshot.metric(metric).count());
    assert_eq!((answered, censored, failed), (tally.responses, tally.censored(), tally.failed()));
    assert_eq!(answered + censored + failed, tally.planned);
}

/// The whole run is the sum of its intervals.
fn check_intervals(snapshot: &Snapshot) {
    for metric in Metric::ALL {
        let mut sum = SparseHistogram::default();
        snapshot.intervals.rows().iter().for_each(|row| sum.merge(row.metric(metric)));
        let whole = snapshot.metric(metric).buckets().map(|(lowest, _, count)| (lowest, count));
        assert!(sum.buckets().eq(whole), "{}", metric.name());
    }
}
