//! Test that fields of `run.json`, version 1, never change: new fields are allowed. The schema is declared a second
//! time in `mirror`, and unknown fields are refused, so that every change shows.
//!
//! After an intended addition, add the field to `mirror`, and refresh the stored sample with `TRUETAIL_REFRESH=1 cargo
//! test -p truetail-run --test wire_v1`.

mod mirror;
mod support;

use std::fs;
use std::path::PathBuf;

use mirror::{Mirror, MirrorIntervals};
use serde_json::Value;
use support::{assert_same_histogram, assert_same_samples, findings, run, slow, steady};
use truetail_model::record::{Metric, RecorderOptions, SamplesOptions};
use truetail_run::wire::{self, v1};
use truetail_run::{CheckpointFacts, Findings, Run, Shard, Shards, StartFacts, StripeFacts, VerdictState, folder};

/// Returns a run that uses every part of the file.
fn example() -> Run {
    let options = RecorderOptions {
        measure_from: truetail_model::time::Timestamp(1_000_000_000),
        samples: SamplesOptions { capacity: 500, slowest: 50 },
        ..RecorderOptions::default()
    };
    run(options, &steady(3))
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
    let mirror: Mirror = serde_json::from_str(&fs::read_to_string(stored_as("run-v1-shards.json")).unwrap()).unwrap();
    assert_eq!(mirror.checkpoint.and_then(|checkpoint| checkpoint.scheduled), Some(60_000));
    assert_eq!(mirror.stripe.map(|stripe| (stripe.index, stripe.of)), Some((2, 8)));
    assert_eq!(mirror.shards.map(|shards| (shards.missing, shards.by_stripe.len())), Some((vec![3, 4], 1)));
    let run = shards_example();
    let folder = tempfile::tempdir().unwrap();
    folder::save(folder.path(), &run, &findings(&run)).unwrap();
    assert_eq!(folder::load(folder.path()).unwrap().run.facts, run.facts);
}

fn stored() -> PathBuf {
    stored_as("run-v1.json")
}

fn stored_as(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

#[test]
fn the_stored_samples_are_what_is_written() {
    for (name, run) in
        [("run-v1.json", example()), ("run-v1-long.json", long_example()), ("run-v1-shards.json", shards_example())]
    {
        let written = v1::run_file(&run, &findings(&run)).to_json();
        if std::env::var_os("TRUETAIL_REFRESH").is_some() {
            fs::write(stored_as(name), &written).unwrap();
        }
        assert_eq!(written, fs::read_to_string(stored_as(name)).unwrap(), "{name}");
    }
}

#[test]
fn the_stored_samples_read_back() {
    for (name, run) in
        [("run-v1.json", example()), ("run-v1-long.json", long_example()), ("run-v1-shards.json", shards_example())]
    {
        let text = fs::read_to_string(stored_as(name)).unwrap();
        let run_file = wire::parse(&text).unwrap();
        assert_eq!(run_file.to_json(), text, "{name}");
        assert_eq!(run_file, v1::run_file(&run, &findings(&run)), "{name}");
    }
}

#[test]
fn a_long_run_says_how_long_its_intervals_are() {
    let mirror: Mirror = serde_json::from_str(&fs::read_to_string(stored_as("run-v1-long.json")).unwrap()).unwrap();
    assert_eq!(mirror.recorded.intervals, MirrorIntervals::Long { seconds: 4 });
    assert_eq!(mirror.recorded.timeline.seconds, 1_500);
}

#[test]
fn the_schema_is_the_one_declared_here() {
    let text = fs::read_to_string(stored()).unwrap();
    let mirror: Mirror = serde_json::from_str(&text).unwrap();
    assert_eq!(mirror.schema, "truetail.run/1");
    assert_eq!(mirror.verdict.state, "SUSPECT");
    for field in ["code", "state", "message"] {
        assert!(mirror.verdict.reasons[0].contains_key(field), "{field}");
    }
    assert_eq!(mirror.scenario.model, "open");
    assert_eq!(mirror.source["kind"], "sockets");
    assert!(mirror.schedule_hash.len() == 16 && u64::from_str_radix(&mirror.schedule_hash, 16).is_ok());
    assert_eq!(mirror.statuses.keys().collect::<Vec<_>>(), ["200", "503"]);
    assert_eq!(mirror.by_target[0].tally.planned, mirror.tally.planned);
    assert_eq!(mirror.scenario.mix.map(|mix| mix.targets[0].weight), Some(3));
    assert_eq!(mirror.causes.keys().collect::<Vec<_>>(), ["reset_by_peer"]);
    assert_eq!(mirror.recorded.intervals, MirrorIntervals::Word("second".to_owned()));
    assert_eq!(mirror.tally.planned + mirror.warmup_tally.planned, 3000);
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
    let file: Value = serde_json::from_str(&fs::read_to_string(stored()).unwrap()).unwrap();
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
    let stored = fs::read_to_string(stored()).unwrap();
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
        let folder = tempfile::tempdir().unwrap();
        folder::save(folder.path(), &run, &findings).unwrap();
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
    let stored = fs::read_to_string(stored()).unwrap();
    for (name, lack) in [("service_time", Some("missing field `service_time`")), ("read_lag", None)] {
        let text = stored.replacen(&format!("\n  \"{name}\": "), &format!("\n  \"not_{name}\": "), 1);
        let error = wire::parse(&text).err().map(|error| error.to_string());
        assert_eq!(error.is_some(), lack.is_some(), "{error:?}");
        assert!(error.is_none_or(|error| error.contains(lack.unwrap())));
    }
}

#[test]
fn a_field_that_a_later_program_added_is_passed_over() {
    let text = fs::read_to_string(stored()).unwrap();
    let with_more = text.replacen("{", "{\"a_field_of_the_future\": [1],", 1);
    assert_eq!(wire::parse(&with_more).unwrap(), wire::parse(&text).unwrap());
}
