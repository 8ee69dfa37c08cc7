//! Tests of lists of saved runs, of their index, and of removing runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{findings, run, steady};
use tempfile::tempdir;
use truetail_model::record::RecorderOptions;
use truetail_run::catalog::{self, INDEX, IndexUse, Removal, RunFilter, RunOrder, SavedRun, TagFilter};
use truetail_run::{Run, VerdictState, folder};

/// Returns a run that began this many seconds after 1970, with a label.
fn begun(seconds: u64, commit: &str) -> Run {
    let mut run = run(RecorderOptions::default(), &steady(1));
    run.facts.started_at_unix_ns = Some(seconds * 1_000_000_000);
    run.facts.tags = [("commit".to_owned(), commit.to_owned())].into();
    run
}

fn save(parent: &Path, name: &str, run: &Run) {
    folder::save(&parent.join(name), run, &findings(run)).expect("it can be saved");
}

fn folders(runs: &[SavedRun]) -> Vec<&str> {
    runs.iter().map(|run| run.folder.as_str()).collect()
}

fn trusted(parent: &Path) -> catalog::Catalog {
    catalog::read(parent, IndexUse::Trusted).expect("a folder")
}

#[test]
fn a_list_says_of_each_run_what_its_file_says() {
    let parent = tempdir().expect("a folder");
    let run = begun(100, "abc");
    save(parent.path(), "b", &run);
    save(parent.path(), "several/a", &run);
    fs::create_dir(parent.path().join("empty")).expect("a folder");
    fs::write(parent.path().join("notes.txt"), "no run").expect("a file");
    let found = trusted(parent.path());
    assert_eq!(folders(&found.runs), ["b", "several/a"]);
    let tally = run.snapshot.tally;
    let first = &found.runs[0];
    assert_eq!((first.planned, first.tags["commit"].as_str()), (tally.planned, "abc"));
    let of_status: u64 = run.snapshot.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, n)| n).sum();
    assert_eq!(first.errors, tally.planned - tally.responses + of_status + run.facts.error_replies());
    assert_eq!(first.url.as_deref(), Some("http://127.0.0.1:8080/api"));
    assert_eq!(first.started_at_unix_ns, Some(100_000_000_000));
}

#[test]
fn the_index_is_used_and_never_trusted_over_the_folders() {
    let parent = tempdir().expect("a folder");
    for (name, seconds) in [("a", 1), ("b", 2), ("c", 3)] {
        save(parent.path(), name, &begun(seconds, name));
    }
    let fresh = trusted(parent.path());
    assert_eq!(fresh.from_index, 0);
    let again = trusted(parent.path());
    assert_eq!((again.from_index, &again.runs), (3, &fresh.runs));
    save(parent.path(), "b", &begun(20, "other"));
    fs::remove_dir_all(parent.path().join("c")).expect("a folder");
    let changed = trusted(parent.path());
    assert_eq!((changed.from_index, folders(&changed.runs)), (1, vec!["a", "b"]));
    assert_eq!(changed.runs[1].tags["commit"], "other");
    assert_eq!(trusted(parent.path()).from_index, 2, "the index follows");
    assert_eq!(catalog::read(parent.path(), IndexUse::Ignored).expect("a folder").from_index, 0);
}

#[test]
fn a_damaged_or_missing_index_changes_nothing() {
    let parent = tempdir().expect("a folder");
    save(parent.path(), "a", &begun(1, "a"));
    save(parent.path(), "b", &begun(2, "b"));
    let whole = trusted(parent.path());
    let index = parent.path().join(INDEX);
    let text = fs::read_to_string(&index).expect("an index");
    let forged = text.replace("\"planned\":", "\"planned\":7");
    let cut = &text[..text.len() - 20];
    let other_version = text.replacen("\"version\":\"", "\"version\":\"9", 1);
    for damaged in ["", "{}\n", "\u{0}\u{1}", cut, &other_version, &text.replace('{', "[")] {
        fs::write(&index, damaged).expect("a file");
        assert_eq!(trusted(parent.path()).runs, whole.runs, "{damaged}");
    }
    fs::remove_file(&index).expect("an index");
    assert_eq!(trusted(parent.path()).runs, whole.runs);
    // What decides about removals is read from the folders even if the stamps in the index are right.
    fs::write(&index, forged).expect("a file");
    assert_eq!(catalog::read(parent.path(), IndexUse::Ignored).expect("a folder").runs, whole.runs);
}

#[test]
fn what_is_no_run_is_named_or_passed_over() {
    let parent = tempdir().expect("a folder");
    save(parent.path(), "a", &begun(1, "a"));
    for (name, text) in [("broken", "{"), ("other", r#"{"schema": "else/1"}"#)] {
        fs::create_dir(parent.path().join(name)).expect("a folder");
        fs::write(parent.path().join(name).join("run.json"), text).expect("a file");
    }
    let elsewhere = tempdir().expect("a folder");
    save(elsewhere.path(), "linked", &begun(2, "b"));
    symlink(elsewhere.path().join("linked"), parent.path().join("link")).expect("a link");
    let found = trusted(parent.path());
    assert_eq!(folders(&found.runs), ["a"], "a link is not followed");
    let names: Vec<_> = found.unreadable.iter().map(|(folder, _)| folder.as_str()).collect();
    assert_eq!(names, ["broken", "other"]);
    assert!(found.unreadable.iter().all(|(_, why)| !why.contains('\n')), "{:?}", found.unreadable);
}

#[test]
fn a_filter_keeps_what_meets_every_condition() {
    let parent = tempdir().expect("a folder");
    for (name, seconds) in [("a", 10), ("b", 20), ("c", 30)] {
        save(parent.path(), name, &begun(seconds, name));
    }
    let mut virtual_time = begun(1, "d");
    virtual_time.facts.started_at_unix_ns = None;
    save(parent.path(), "d", &virtual_time);
    let runs = trusted(parent.path()).runs;
    let kept = |filter: RunFilter| -> String {
        runs.iter().filter(|run| filter.keeps(run)).map(|run| run.folder.as_str()).collect()
    };
    let none = RunFilter::default;
    let tag = |key: &str, value: Option<&str>| vec![TagFilter { key: key.to_owned(), value: value.map(str::to_owned) }];
    assert_eq!(kept(none()), "abcd");
    assert_eq!(kept(RunFilter { since_unix_ns: Some(20_000_000_000), ..none() }), "bc");
    assert_eq!(kept(RunFilter { before_unix_ns: Some(20_000_000_000), ..none() }), "a");
    assert_eq!(kept(RunFilter { tags: tag("commit", Some("b")), ..none() }), "b");
    assert_eq!(kept(RunFilter { tags: tag("commit", None), ..none() }), "abcd");
    assert_eq!(kept(RunFilter { tags: tag("build", None), ..none() }), "");
    assert_eq!(kept(RunFilter { target: Some("127.0.0.1:8080/API".to_owned()), ..none() }), "abcd");
    assert_eq!(kept(RunFilter { target: Some("elsewhere".to_owned()), ..none() }), "");
    let verdict = runs[0].verdict;
    let others = [VerdictState::Valid, VerdictState::Suspect, VerdictState::Invalid];
    let others = others.into_iter().filter(|state| *state != verdict).collect();
    assert_eq!(kept(RunFilter { verdicts: vec![verdict], ..none() }), "abcd");
    assert_eq!(kept(RunFilter { verdicts: others, ..none() }), "");
}

#[test]
fn an_order_has_the_newest_and_the_slowest_first() {
    let parent = tempdir().expect("a folder");
    for (name, seconds) in [("a", 10), ("b", 30), ("c", 20)] {
        save(parent.path(), name, &begun(seconds, name));
    }
    let mut runs = trusted(parent.path()).runs;
    runs[0].times.p99.value_ns = Some(5);
    runs[1].times.p99.value_ns = None;
    runs[2].times.p99.value_ns = Some(7);
    runs[2].started_at_unix_ns = None;
    let mut sorted = |order: RunOrder| -> String {
        order.sort(&mut runs);
        folders(&runs).concat()
    };
    assert_eq!([RunOrder::Started, RunOrder::P99, RunOrder::Planned].map(&mut sorted), ["bac", "cab", "abc"]);
}

#[test]
fn removing_a_run_leaves_what_truetail_did_not_write() {
    let parent = tempdir().expect("a folder");
    for name in ["a", "b", "c"] {
        save(parent.path(), name, &begun(1, name));
        folder::save_page(&parent.path().join(name), "<p>a page</p>").expect("a page");
    }
    assert_eq!(catalog::remove(&parent.path().join("a")).expect("it goes"), Removal::Folder);
    assert!(!parent.path().join("a").exists());
    let outside = tempdir().expect("a folder");
    fs::write(outside.path().join("precious"), "text").expect("a file");
    let [file, linked] = ["notes.txt", "samples.csv"].map(|name| parent.path().join("b").join(name));
    fs::write(&file, "mine").expect("a file");
    fs::remove_file(&linked).expect("a file");
    symlink(outside.path().join("precious"), &linked).expect("a link");
    let left = catalog::remove(&parent.path().join("b")).expect("it goes");
    assert_eq!(left, Removal::FilesOnly { left: "notes.txt".to_owned() });
    assert_eq!(fs::read_dir(parent.path().join("b")).expect("a folder").count(), 1);
    assert_eq!(fs::read_to_string(outside.path().join("precious")).expect("a file"), "text");
    let link = parent.path().join("link");
    symlink(parent.path().join("c"), &link).expect("a link");
    assert!(catalog::remove(&link).is_err(), "a link is no folder");
    assert!(parent.path().join("c/run.json").exists());
}
