//! Tests that a loaded run equals the saved one.

use std::fs;

use crate::support::{
    assert_same_counts, assert_same_snapshot, failed_answer, findings, options, run, saved, schedules, slow, steady,
    through_a_folder,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::tempdir;
use truetail_model::record::{Metric, Outcome, RecorderOptions, Snapshot};
use truetail_model::time::Nanos;
use truetail_run::FailedAnswer;
use truetail_run::folder::{self, MissingFile};

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_run_comes_back_as_it_was(options in options(), records in schedules(300)) {
        let run = run(options, &records);
        let folder = saved(&run);
        let loaded = folder::load(folder.path()).unwrap();
        prop_assert_eq!(&loaded.missing, &[]);
        prop_assert_eq!(&loaded.run.facts, &run.facts);
        assert_same_snapshot(&loaded.run.snapshot, &run.snapshot);
    }
}

/// Older versions wrote 0 as the status of a protocol without one.
#[test]
fn answers_without_a_status_are_read_from_files_of_every_version() {
    let mut records = steady(2);
    let answers = records.iter_mut().filter(|record| record.outcome.is_response());
    answers.for_each(|record| record.outcome = Outcome::ANSWERED);
    let mut run = run(RecorderOptions::default(), &records);
    run.facts.failed_answers = vec![FailedAnswer { status: None, ..failed_answer(3) }];
    let folder = saved(&run);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let mut file: Value = serde_json::from_str(&read(folder::RUN)).unwrap();
    assert_eq!([&file["statuses"], &file["by_target"][0]["statuses"]], [&json!({}); 2]);
    assert!(read(folder::SAMPLES).contains(",response,,,") && !read(folder::SAMPLES).contains(",response,0,"));
    assert!(read(folder::FAILED_ANSWERS).contains("\"status\":null"));
    let assert_read = || {
        let loaded = folder::load(folder.path()).unwrap().run;
        assert_eq!(loaded.facts, run.facts);
        assert_same_snapshot(&loaded.snapshot, &run.snapshot);
    };
    assert_read();
    for place in ["/statuses", "/by_target/0/statuses"] {
        *file.pointer_mut(place).unwrap() = json!({"0": run.snapshot.tally.responses});
    }
    let change = |name: &str, from: &str, to: &str| fs::write(folder.path().join(name), read(name).replace(from, to));
    fs::write(folder.path().join(folder::RUN), file.to_string()).unwrap();
    change(folder::SAMPLES, ",response,,", ",response,0,").unwrap();
    change(folder::FAILED_ANSWERS, "\"status\":null", "\"status\":0").unwrap();
    assert_read();
}

#[test]
fn a_run_of_long_intervals_comes_back_as_it_was() {
    let run = run(RecorderOptions::default(), &slow(700));
    let loaded = through_a_folder(&run);
    assert_eq!(loaded.snapshot.intervals.width_s(), 2);
    assert_same_snapshot(&loaded.snapshot, &run.snapshot);
}

#[test]
fn a_run_in_virtual_time_comes_back_as_it_was() {
    let mut run = run(RecorderOptions::default(), &steady(3));
    run.facts.source = truetail_run::RunSource::Simulator;
    (run.facts.started_at_unix_ns, run.facts.host, run.facts.generator) = (None, None, None);
    let loaded = through_a_folder(&run);
    assert_eq!(loaded.facts, run.facts);
    assert_same_snapshot(&loaded.snapshot, &run.snapshot);
}

#[test]
fn times_longer_than_an_hour_are_not_clipped() {
    let mut records = steady(1);
    records[500].end = records[500].actual_start + Nanos::from_secs(2 * 3600);
    let run = run(RecorderOptions { per_second: false, ..RecorderOptions::default() }, &records);
    let folder = saved(&run);
    let loaded = folder::load(folder.path()).unwrap().run.snapshot;
    assert_eq!(loaded.metric(Metric::ServiceTime).max(), Some(Nanos::from_secs(2 * 3600)));
    assert_same_snapshot(&loaded, &run.snapshot);
}

#[test]
fn saving_twice_writes_the_same_bytes() {
    let again = tempdir().unwrap();
    let run = run(RecorderOptions::default(), &steady(3));
    let folder = saved(&run);
    folder::save(again.path(), &folder::load(folder.path()).unwrap().run, &findings(&run)).unwrap();
    for name in [folder::RUN, folder::FAILED_ANSWERS, folder::HISTOGRAMS, folder::TIMELINE, folder::SAMPLES] {
        let bytes = |folder: &tempfile::TempDir| fs::read(folder.path().join(name)).unwrap();
        assert!(bytes(&folder) == bytes(&again), "{name} differs");
    }
}

#[test]
fn a_run_does_without_timeline_and_samples() {
    let run = run(RecorderOptions::default(), &steady(3));
    let folder = saved(&run);
    fs::remove_file(folder.path().join(folder::SAMPLES)).unwrap();
    let loaded = folder::load(folder.path()).unwrap();
    assert_eq!(loaded.missing, [MissingFile::Samples]);
    assert_same_counts(&loaded.run.snapshot, &run.snapshot);
    assert!(loaded.run.snapshot.samples.even().is_empty() && !loaded.run.snapshot.samples.is_complete());

    fs::remove_file(folder.path().join(folder::TIMELINE)).unwrap();
    let loaded = folder::load(folder.path()).unwrap();
    assert_eq!(loaded.missing, [MissingFile::Timeline, MissingFile::Samples]);
    assert!(loaded.run.snapshot.seconds.is_empty());
    let without_seconds = Snapshot { seconds: Vec::new(), intervals: Default::default(), ..run.snapshot };
    assert_same_counts(&loaded.run.snapshot, &without_seconds);
}
