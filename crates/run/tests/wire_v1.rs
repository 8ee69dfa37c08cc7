//! `run.json`, version 1, may gain fields and must never change them. The schema is declared here a second time, with
//! every unknown field refused, so that no change goes by unseen.
//!
//! Where the change is meant and only adds: add the field here, and refresh the stored sample with
//! `TRUETAIL_REFRESH=1 cargo test -p truetail-run --test wire_v1`.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};
use support::{findings, run, slow, steady};
use truetail_model::record::{RecorderOptions, SamplesOptions};
use truetail_run::Run;
use truetail_run::wire::{self, v1};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Mirror {
    schema: String,
    verdict: MirrorVerdict,
    scenario: MirrorScenario,
    seed: Option<u64>,
    schedule_hash: String,
    host: Option<MirrorHost>,
    version: String,
    source: Map<String, Value>,
    started_at_unix_ns: Option<u64>,
    elapsed_ns: u64,
    interrupted: bool,
    notes: Vec<String>,
    tally: MirrorTally,
    warmup_tally: MirrorTally,
    statuses: BTreeMap<String, u64>,
    by_target: Vec<MirrorTargetBooks>,
    causes: BTreeMap<String, u64>,
    throughput_per_second: Option<f64>,
    offered_per_second: Option<f64>,
    response_time: MirrorDistribution,
    response_time_success: Option<MirrorDistribution>,
    response_time_error_status: Option<MirrorDistribution>,
    service_time: MirrorDistribution,
    start_delay: MirrorDistribution,
    generator_lag: MirrorDistribution,
    connection_wait: MirrorDistribution,
    connect_time: MirrorDistribution,
    read_lag: MirrorDistribution,
    tls_handshake_time: MirrorDistribution,
    settling: Option<MirrorSettling>,
    arrival_fidelity: Option<MirrorFidelity>,
    closed_loop_shadow: Option<MirrorShadow>,
    uncertainty: Vec<MirrorUncertainty>,
    generator: Option<MirrorGenerator>,
    bytes_in: u64,
    recorded: MirrorRecorded,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorVerdict {
    state: String,
    /// `code`, `state`, `message`, and numbers by whatever name.
    reasons: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorScenario {
    name: Option<String>,
    model: String,
    url: Option<String>,
    method: Option<String>,
    mix: Option<MirrorMix>,
    profile: Option<String>,
    spacing: Option<String>,
    seed: Option<u64>,
    duration_ns: Option<u64>,
    requests: Option<u64>,
    users: Option<u32>,
    requests_per_session: Option<u32>,
    think_time_ns: Option<u64>,
    connections: Option<u32>,
    http2: Option<BTreeMap<String, Option<u32>>>,
    timeout_ns: Option<u64>,
    drain_ns: u64,
    warmup_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorMix {
    targets: Vec<MirrorMixTarget>,
    rows: u32,
    order: Option<String>,
    seed: Option<u64>,
    hash: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorMixTarget {
    method: String,
    url: String,
    weight: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorTargetBooks {
    method: String,
    url: String,
    tally: MirrorTally,
    statuses: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorHost {
    os: String,
    kernel: Option<String>,
    arch: String,
    cpu_model: Option<String>,
    cpus: u32,
    memory_bytes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorTally {
    planned: u64,
    issued: u64,
    never_issued: u64,
    responses: u64,
    connect_failed: u64,
    reset: u64,
    malformed: u64,
    timed_out: u64,
    in_flight_at_end: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorDistribution {
    count: u64,
    censored: u64,
    failed: u64,
    mean_ns: Option<f64>,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    quantiles: Vec<MirrorQuantile>,
    exact: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorUncertainty {
    q: f64,
    value_ns: u64,
    sampling_ns: Option<u64>,
    histogram_ns: u64,
    clock_ns: u64,
    generator_lag_ns: Option<u64>,
    read_lag_ns: Option<u64>,
    largest: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorQuantile {
    q: f64,
    value_ns: Option<u64>,
    low_ns: Option<u64>,
    high_ns: Option<u64>,
    at_least: bool,
    no_answer: bool,
    supported: bool,
    needs_n: Option<u64>,
    #[serde(default)]
    effective_n: Option<u64>,
    unresolved: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorSettling {
    state: String,
    why: String,
    cut_ns: Option<u64>,
    cut_arrivals: Option<u64>,
    shift: Option<MirrorShift>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorShift {
    at_ns: u64,
    until_ns: u64,
    from_ns: Option<u64>,
    to_ns: Option<u64>,
    lowest_ns: Option<u64>,
    highest_ns: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorFidelity {
    issued: u64,
    within_1ms: f64,
    mean_gap_ns: u64,
    within_tenth_of_gap: f64,
    displaced_by_generator: u64,
    gaps: Option<MirrorGaps>,
    dispersion: Option<MirrorDispersion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorGaps {
    count: u64,
    distance: f64,
    tolerance_ns: u64,
    exponential: Option<MirrorExponential>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorExponential {
    planned_distance: f64,
    actual_distance: f64,
    critical_distance: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorDispersion {
    window_ns: u64,
    planned: f64,
    actual: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorShadow {
    users: u32,
    requests: u64,
    unanswered: u64,
    quantiles: Vec<MirrorShadowQuantile>,
    one_in: u64,
    resolution_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorShadowQuantile {
    q: f64,
    value_ns: Option<u64>,
    omission_factor: Option<f64>,
    at_least: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorStreams {
    peak: u64,
    allowed: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorGenerator {
    threads: u32,
    cpu: MirrorCpu,
    peak_memory_bytes: Option<u64>,
    pauses: Vec<MirrorPause>,
    pause_count: u64,
    paused_ns: u64,
    connections_opened: u64,
    connections_peak: u64,
    streams: Option<MirrorStreams>,
    stray_answers: u64,
    end_clock: String,
    busiest_worker_cpu_ns: u64,
    surroundings: BTreeMap<String, Option<u64>>,
    timing: String,
    clock_reading_ns: Option<u64>,
    unstamped: u64,
    clock_steps: u64,
    open_files_limit: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorCpu {
    user_ns: u64,
    system_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorPause {
    worker: u32,
    at_ns: u64,
    length_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorRecorded {
    measure_from_ns: u64,
    last_end_ns: u64,
    bytes_in: u64,
    intervals: MirrorIntervals,
    exact: BTreeMap<String, MirrorExact>,
    timeline: MirrorTimeline,
    samples: MirrorSamples,
}

/// `"second"`, `"whole_run"`, or `{"seconds": 8}`.
#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged, deny_unknown_fields)]
enum MirrorIntervals {
    Word(String),
    Long { seconds: u64 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorExact {
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorTimeline {
    seconds: u64,
    planned: u64,
    sent: u64,
    completed: u64,
    failed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct MirrorSamples {
    complete: bool,
    even: u64,
    one_in: u64,
    only_slow: u64,
    seen: u64,
    capacity: u64,
    slowest: u64,
}

/// A run of which every part of the file has something to say.
fn example() -> Run {
    let options = RecorderOptions {
        measure_from: truetail_model::time::Timestamp(1_000_000_000),
        samples: SamplesOptions { capacity: 500, slowest: 50 },
        ..RecorderOptions::default()
    };
    run(options, &steady(3))
}

/// A run so long that its intervals are of some seconds.
fn long_example() -> Run {
    run(RecorderOptions { samples: SamplesOptions::NONE, ..RecorderOptions::default() }, &slow(1_500))
}

fn stored() -> PathBuf {
    stored_as("run-v1.json")
}

fn stored_as(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

#[test]
fn the_stored_samples_are_what_is_written() {
    for (name, run) in [("run-v1.json", example()), ("run-v1-long.json", long_example())] {
        let written = v1::run_file(&run, &findings(&run)).to_json();
        if std::env::var_os("TRUETAIL_REFRESH").is_some() {
            fs::write(stored_as(name), &written).unwrap();
        }
        assert_eq!(written, fs::read_to_string(stored_as(name)).unwrap(), "{name}");
    }
}

#[test]
fn the_stored_samples_read_back() {
    for (name, run) in [("run-v1.json", example()), ("run-v1-long.json", long_example())] {
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
    let broken = stored.replacen("\"planned\": ", "\"planned\": -", 1);
    for (text, says) in [
        (newer.as_str(), "\"truetail.run/2\" and this truetail reads \"truetail.run/1\""),
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
fn a_field_that_a_later_program_added_is_passed_over() {
    let text = fs::read_to_string(stored()).unwrap();
    let with_more = text.replacen("{", "{\"a_field_of_the_future\": [1],", 1);
    assert_eq!(wire::parse(&with_more).unwrap(), wire::parse(&text).unwrap());
}
