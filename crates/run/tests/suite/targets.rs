//! Distributions of targets in a run folder.

use std::fs;
use std::path::Path;

use crate::support::{self, findings, run, saved, saved_with, steady, through_a_folder};
use serde_json::Value;
use truetail_model::record::{Metric, RecorderOptions, TargetTimes};
use truetail_run::{Mix, MixTarget, OfferedLoad, Run, folder, merge};

fn example() -> Run {
    run(RecorderOptions::default(), &steady(2))
}

fn edit(folder: &Path, json: impl Fn(&mut Value), keep: impl Fn(&str) -> bool) {
    let path = folder.join(folder::RUN);
    let mut run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    json(&mut run);
    fs::write(path, run.to_string()).unwrap();
    let path = folder.join(folder::HISTOGRAMS);
    let log = fs::read_to_string(&path).unwrap();
    fs::write(path, log.split_inclusive('\n').filter(|line| keep(line)).collect::<String>()).unwrap();
}

fn without_exact(run: &mut Value, is_wanted: impl Fn(&str) -> bool) {
    run["recorded"]["exact"].as_object_mut().unwrap().retain(|tag, _| !is_wanted(tag));
}

#[test]
fn they_come_back_as_they_were() {
    let run = example();
    assert!(run.snapshot.targets[0].metric(Metric::ServiceTime).is_some_and(|times| times.count() > 0));
    let loaded = through_a_folder(&run);
    assert_eq!(loaded.snapshot.targets, run.snapshot.targets);
}

#[test]
fn a_folder_of_an_older_version_has_none_and_is_read() {
    let folder = saved(&example());
    let is_of_target = |text: &str| text.contains('@');
    edit(folder.path(), |run| without_exact(run, is_of_target), |line| !line.contains("Tag=") || !is_of_target(line));
    let loaded = folder::load(folder.path()).unwrap().run;
    assert_eq!(loaded.snapshot.targets, []);
    assert_eq!(merge(vec![loaded]).unwrap().snapshot.targets, []);
}

#[test]
fn a_line_that_is_missing_or_belongs_to_nobody_is_told() {
    let of = |tag: &'static str| move |line: &str| !line.contains(&format!("Tag={tag},"));
    let gone = saved(&example());
    edit(gone.path(), |_| (), of("service_time@1"));
    let error = folder::load(gone.path()).unwrap_err().to_string();
    assert!(error.contains("service_time@1") && error.contains("missing"), "{error}");
    let fewer = saved(&example());
    edit(fewer.path(), |run| without_exact(run, |tag| tag == "response_time@1"), of("response_time@1"));
    let error = folder::load(fewer.path()).unwrap_err().to_string();
    assert!(error.contains("response_time@1") && error.contains("by_target"), "{error}");
    let nobodys = saved(&example());
    edit(nobodys.path(), |run| run["by_target"] = Value::Array(Vec::new()), |_| true);
    let error = folder::load(nobodys.path()).unwrap_err().to_string();
    assert!(error.contains("of a target that run.json lacks"), "{error}");
}

#[test]
fn a_whole_has_them_where_each_part_has_them() {
    let a = example();
    let mut b = run(RecorderOptions::default(), &steady(1));
    b.facts.started_at_unix_ns = Some(1);
    let count = |run: &Run| run.snapshot.targets[0].metric(Metric::ResponseTime).map_or(0, |times| times.count());
    let whole = merge(vec![a.clone(), b.clone()]).unwrap();
    assert_eq!(count(&whole), count(&a) + count(&b));
    b.snapshot.targets.clear();
    assert_eq!(merge(vec![a, b]).unwrap().snapshot.targets, Vec::<TargetTimes>::new());
}

#[test]
fn the_gates_of_a_run_are_loaded_with_it() {
    let run = example();
    let findings = findings(&run);
    let folder = saved_with(&run, &findings);
    assert_eq!(folder::load(folder.path()).unwrap().gates, findings.gates);
}

#[test]
fn names_are_method_and_path_and_differ() {
    let mut offered: OfferedLoad = example().facts.offered;
    let target = |method: &str, url: &str| MixTarget { method: method.into(), url: url.into(), weight: 1, name: None };
    let mix = offered.mix.as_mut().unwrap();
    mix.targets = vec![
        target("GET", "http://h:1/items?page={{n}}"),
        target("POST", "http://h:1/items"),
        target("POST", "http://h:1/items"),
        target("GET", "http://h:1"),
        target("POST", "http://h:1/items"),
    ];
    let expected = ["GET /items?page={{n}}", "POST /items", "POST /items #2", "GET /", "POST /items #3"];
    assert_eq!(offered.target_names(), expected);
    offered.mix = None;
    (offered.method, offered.url) = (Some("GET".into()), Some("http://h:1/a".into()));
    assert_eq!(offered.target_names(), ["GET /a"]);
    offered.url = None;
    assert_eq!(offered.target_names(), Vec::<String>::new());
}

#[test]
fn many_targets_of_one_name_are_numbered() {
    let names = |urls: &[&str]| {
        let target = |url: &&str| MixTarget { method: "GET".to_owned(), url: (*url).to_owned(), weight: 1, name: None };
        let mix = Mix { targets: urls.iter().map(target).collect(), ..support::mix() };
        OfferedLoad { mix: Some(mix), ..support::offered() }.target_names()
    };
    assert_eq!(
        names(&["http://a/x", "http://a/x", "http://a/x #3", "http://a/x", "http://a/y", "http://a/x"]),
        ["GET /x", "GET /x #2", "GET /x #3", "GET /x #4", "GET /y", "GET /x #5"]
    );
    assert_eq!(
        names(&["http://a/x", "http://b/x", "http://b/x"]),
        ["GET http://a/x", "GET http://b/x", "GET http://b/x #2"]
    );
    // It takes linear time in the number of targets.
    assert_eq!(names(&vec!["/x"; 100_000]).last().map(String::as_str), Some("GET /x #100000"));
}
