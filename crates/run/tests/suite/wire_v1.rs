//! Test that fields of `run.json`, version 1, never change: new fields are allowed. `testdata/run-v1-fields.txt`
//! declares every field and its kinds, so that every change shows.
//!
//! After an intended addition, add the field there, and refresh the stored samples with `TRUETAIL_REFRESH=1 cargo test
//! -p truetail-run --test suite wire_v1`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::sessions::run_with_flows;
use crate::streams::{run_with_streams, with_llm};
use crate::support::{assert_same_histogram, assert_same_samples, findings, run, saved, saved_with, slow, steady};
use serde_json::Value;
use truetail_model::arrival::ScheduleHash;
use truetail_model::record::{Metric, Recorder, RecorderOptions, SamplesOptions, Tally};
use truetail_model::time::Nanos;
use truetail_run::wire::{self, v1};
use truetail_run::{
    CheckpointFacts, Findings, Run, SessionGoodput, Shard, Shards, StartFacts, StripeFacts, VerdictState, folder,
};

/// Returns a run that uses every part of the file.
fn example() -> Run {
    let options = RecorderOptions {
        measure_from: truetail_model::time::Timestamp(1_000_000_000),
        samples: SamplesOptions { capacity: 500, slowest: 50 },
        ..RecorderOptions::default()
    };
    let mut run = run(options, &steady(3));
    run.snapshot.cancelled = Tally { planned: 150, issued: 150, responses: 2, timed_out: 148, ..Tally::default() };
    run
}

/// Returns a long run, whose intervals have several seconds.
fn long_example() -> Run {
    run(RecorderOptions { samples: SamplesOptions::NONE, ..RecorderOptions::default() }, &slow(1_500))
}

/// Returns a run with the fields that only runs of several machines have.
fn shards_example() -> Run {
    let options = RecorderOptions { samples: SamplesOptions::NONE, per_second: false, ..RecorderOptions::default() };
    let mut run = run(options, &steady(1));
    run.facts.stripe = Some(StripeFacts { index: 2, of: 8, schedule: "0123456789abcdef".to_owned() });
    run.facts.start = Some(StartFacts { at_unix_ns: 1_750_000_000_000_000_000, late_ns: 123_456_789, missed: 12 });
    run.facts.offered.users_over_time = Some("10..200/60s".to_owned());
    run.facts.offered.values_seed = Some(1);
    let shard = Shard {
        index: 1,
        started_at_unix_ns: Some(1_750_000_000_000_000_000),
        late_ns: 0,
        planned: 125,
        never_issued: 0,
        responses: 125,
        generator_lag_p99_ns: Some(20_000),
        generator_lag_max_ns: Some(90_000),
        verdict: Some(VerdictState::Suspect),
        reasons: vec!["too_few_samples".to_owned()],
    };
    run.facts.checkpoint = Some(CheckpointFacts { scheduled: Some(60_000) });
    run.facts.shards = Some(Shards { of: 8, missing: vec![3, 4], by_stripe: vec![shard] });
    run
}

#[test]
fn what_is_said_of_several_machines_comes_back() {
    let file = stored_json("run-v1-shards.json");
    assert_eq!(file["checkpoint"]["scheduled"], 60_000);
    assert_eq!((&file["stripe"]["index"], &file["stripe"]["of"]), (&2.into(), &8.into()));
    let shards = &file["shards"];
    assert_eq!(
        (&shards["missing"], &shards["by_stripe"][0]["verdict"]),
        (&serde_json::json!([3, 4]), &"SUSPECT".into())
    );
    let run = shards_example();
    assert_eq!(folder::load(saved(&run).path()).unwrap().run.facts, run.facts);
}

/// The channels that were opened before the load are only counted at the end of a run.
#[test]
fn a_checkpoint_may_have_more_connect_times_than_arrivals() {
    let mut run = shards_example();
    let mut opened = Recorder::new(RecorderOptions::default());
    (0..2 * run.snapshot.tally.planned).for_each(|_| opened.record_opening(Nanos(1_000), None));
    run.snapshot.merge(&opened.finish(ScheduleHash::default()));
    folder::load(saved(&run).path()).unwrap();
    run.facts.checkpoint = None;
    let error = folder::load(saved(&run).path()).unwrap_err().to_string();
    assert!(error.contains("recorded.exact.connect_time"), "{error}");
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn stored_as(name: &str) -> String {
    fs::read_to_string(path_of(name)).unwrap()
}

fn stored_json(name: &str) -> Value {
    serde_json::from_str(&stored_as(name)).unwrap()
}

fn stored() -> String {
    stored_as("run-v1.json")
}

fn samples() -> [(&'static str, Run); 3] {
    [("run-v1.json", example()), ("run-v1-long.json", long_example()), ("run-v1-shards.json", shards_example())]
}

#[test]
fn the_stored_samples_are_what_is_written_and_read() {
    for (name, run) in samples() {
        let file = v1::run_file(&run, &findings(&run));
        let written = file.to_json();
        if std::env::var_os("TRUETAIL_REFRESH").is_some() {
            fs::write(path_of(name), &written).unwrap();
        }
        let stored = stored_as(name);
        assert_eq!(written, stored, "{name}");
        let read = wire::parse(&stored).unwrap();
        assert_eq!(read.to_json(), stored, "{name}");
        assert_eq!(read, file, "{name}");
    }
}

/// Adds the kind of each field below `path`. The items of a list share a path.
fn add_fields(path: &str, value: &Value, fields: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let kind = match value {
        Value::Object(inner) => {
            let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            return inner.iter().for_each(|(name, value)| add_fields(&below(name), value, fields));
        }
        Value::Array(items) => {
            items.iter().for_each(|item| add_fields(&format!("{path}[]"), item, fields));
            "list"
        }
        Value::Null => "null",
        Value::Bool(_) => "flag",
        Value::String(_) => "text",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "whole",
    };
    fields.entry(path.to_owned()).or_default().insert(kind);
}

#[test]
fn the_fields_are_the_declared_ones() {
    let (streamed, streamed_findings) = run_with_streams();
    let (flows, flows_findings) = run_with_flows();
    let mut files = samples().map(|(_, run)| v1::run_file(&run, &findings(&run))).to_vec();
    files.push(v1::run_file(&with_llm(streamed), &streamed_findings));
    files.push(v1::run_file(&flows, &flows_findings));
    let mut agents = flows.clone();
    let sessions = agents.facts.sessions.as_mut().expect("sessions");
    sessions.goodput = Some(SessionGoodput { met: 1, cannot_tell: 0 });
    sessions.steps.iter_mut().for_each(|step| step.planned = Some(step.per_session));
    files.push(v1::run_file(&agents, &flows_findings));
    let mut fields = BTreeMap::new();
    files.iter().for_each(|file| add_fields("", &serde_json::to_value(file).unwrap(), &mut fields));
    let line = |(path, kinds): (String, BTreeSet<&str>)| format!("{path}: {}\n", Vec::from_iter(kinds).join(" or "));
    let found: String = fields.into_iter().map(line).collect();
    let declared = stored_as("run-v1-fields.txt");
    let only_in = |a: &str, b: &str| -> String {
        let b: BTreeSet<_> = b.lines().collect();
        a.lines().filter(|line| !b.contains(line)).map(|line| format!("\n{line}")).collect()
    };
    assert_eq!(only_in(&found, &declared), "", "written, and not declared");
    assert_eq!(only_in(&declared, &found), "", "declared, and not written");
}

#[test]
fn a_long_run_says_how_long_its_intervals_are() {
    let recorded = &stored_json("run-v1-long.json")["recorded"];
    assert_eq!((&recorded["intervals"]["seconds"], &recorded["timeline"]["seconds"]), (&4.into(), &1_500.into()));
}

#[test]
fn the_values_are_the_documented_ones() {
    let file = stored_json("run-v1.json");
    for (place, value) in [
        ("/schema", "truetail.run/1"),
        ("/verdict/state", "SUSPECT"),
        ("/scenario/model", "open"),
        ("/source/kind", "sockets"),
        ("/recorded/intervals", "second"),
    ] {
        assert_eq!(file.pointer(place), Some(&value.into()), "{place}");
    }
    let hash = file["schedule_hash"].as_str().unwrap();
    assert!(hash.len() == 16 && u64::from_str_radix(hash, 16).is_ok());
    let keys = |name: &str| file[name].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((keys("statuses"), keys("causes")), (vec!["200".into(), "503".into()], vec!["reset_by_peer".into()]));
    assert_eq!(file["by_target"][0]["tally"]["planned"], file["tally"]["planned"]);
    assert_eq!(file["tally"]["planned"].as_u64().unwrap() + file["warmup_tally"]["planned"].as_u64().unwrap(), 3000);
}

#[test]
fn a_run_of_one_arrival_has_no_rate() {
    let run = run(RecorderOptions::default(), &steady(1)[..1]);
    let none = Findings { offered_per_second: None, throughput_per_second: None, ..findings(&run) };
    let text = v1::run_file(&run, &none).to_json();
    assert!(text.contains("\"offered_per_second\": null") && text.contains("\"throughput_per_second\": null"));
}

#[test]
fn what_the_contract_names_is_there() {
    let file = stored_json("run-v1.json");
    let metrics = "response_time service_time start_delay generator_lag connection_wait connect_time read_lag \
                   tls_handshake_time";
    for metric in metrics.split(' ') {
        for field in "count censored mean_ns max_ns quantiles".split(' ') {
            assert!(file[metric].get(field).is_some(), "{metric}.{field}");
        }
        for field in "q value_ns low_ns high_ns at_least supported".split(' ') {
            assert!(file[metric]["quantiles"][0].get(field).is_some(), "{metric}.quantiles[0].{field}");
        }
    }
    let sum = |fields: &str| fields.split(' ').map(|field| file["tally"][field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("planned"), sum("issued never_issued"));
    assert_eq!(sum("issued"), sum("responses connect_failed reset malformed timed_out in_flight_at_end"));
}

#[test]
fn what_is_no_run_of_this_version_is_refused_in_one_line() {
    let stored = stored();
    let newer = stored.replacen("truetail.run/1", "truetail.run/2", 1);
    let further = stored.replacen("\"intervals\": \"second\"", "\"intervals\": {\"minutes\": 1}", 1);
    let broken = stored.replacen("\"planned\": ", "\"planned\": -", 1);
    for (text, says) in [
        (newer.as_str(), "\"truetail.run/2\", but this truetail reads \"truetail.run/1\""),
        (further.as_str(), "unknown variant `minutes`"),
        (broken.as_str(), "invalid value: integer `-"),
        ("{\"schema\": \"truetail.run/1\"}", "missing field `verdict`"),
        ("{\"latencies\": {}}", "its schema is missing, not \"truetail.run/1\""),
        ("{\"schema\": \"other/1\"}", "its schema is \"other/1\", not"),
        ("{\"schema\": 1}", "invalid type"),
        ("Running 10s test @ http://localhost", "expected value at line 1"),
        ("", "EOF"),
    ] {
        let error = wire::parse(text).unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_metric_that_most_runs_lack_is_written_where_it_has_values() {
    let mut records = steady(2);
    records.iter_mut().step_by(2).for_each(|record| record.first_byte = Some(record.actual_start));
    for (records, is_there) in [(steady(2), false), (records, true)] {
        let run = run(RecorderOptions::default(), &records);
        let mut findings = findings(&run);
        if is_there {
            findings.metrics[Metric::FirstByteTime] = findings.response_time.clone();
        }
        let folder = saved_with(&run, &findings);
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(text("run.json").contains("\n  \"first_byte_time\": {"), is_there);
        assert_eq!(text("histograms.hlog").contains("\n#first_byte_time"), is_there);
        assert_eq!(text("histograms.hlog").contains("\nTag=first_byte_time,"), is_there);
        assert_eq!(text("timeline.csv").contains(",first_byte_time_p99_ns"), is_there);
        assert_eq!(text("samples.csv").contains(",first_byte_ns"), is_there);
        let parsed = wire::parse(&text("run.json")).unwrap();
        assert_eq!(parsed.metrics, findings.metrics);
        let loaded = folder::load(folder.path()).unwrap().run.snapshot;
        assert_same_histogram(
            "first_byte_time",
            loaded.metric(Metric::FirstByteTime),
            run.snapshot.metric(Metric::FirstByteTime),
        );
        assert_same_samples(&loaded.samples, &run.snapshot.samples);
    }
}

#[test]
fn a_metric_of_every_run_must_be_there() {
    let stored = stored();
    for (name, lack) in [("service_time", Some("missing field `service_time`")), ("read_lag", None)] {
        let text = stored.replacen(&format!("\n  \"{name}\": "), &format!("\n  \"not_{name}\": "), 1);
        let error = wire::parse(&text).err().map(|error| error.to_string());
        assert_eq!(error.is_some(), lack.is_some(), "{error:?}");
        assert!(error.is_none_or(|error| error.contains(lack.unwrap())));
    }
}

#[test]
fn a_field_that_a_later_program_added_is_passed_over() {
    let text = stored();
    let with_more = text.replacen("{", "{\"a_field_of_the_future\": [1],", 1);
    assert_eq!(wire::parse(&with_more).unwrap(), wire::parse(&text).unwrap());
}
