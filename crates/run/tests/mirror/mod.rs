//! A second declaration of the schema of `run.json`, version 1.
#![allow(dead_code)] // Most fields are declared and never read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    pub schema: String,
    pub verdict: MirrorVerdict,
    pub gates: Vec<MirrorGate>,
    pub checks: Vec<MirrorCheck>,
    pub scenario: MirrorScenario,
    pub seed: Option<u64>,
    pub schedule_hash: String,
    pub host: Option<MirrorHost>,
    pub version: String,
    pub source: Map<String, Value>,
    pub started_at_unix_ns: Option<u64>,
    pub elapsed_ns: u64,
    pub interrupted: bool,
    pub cut_short: Option<bool>,
    pub checkpoint: Option<MirrorCheckpoint>,
    pub stripe: Option<MirrorStripe>,
    pub start: Option<MirrorStart>,
    pub shards: Option<MirrorShards>,
    pub notes: Vec<String>,
    pub command: Option<String>,
    pub tally: MirrorTally,
    pub warmup_tally: MirrorTally,
    pub statuses: BTreeMap<String, u64>,
    pub by_target: Vec<MirrorTargetBooks>,
    pub targets: Vec<MirrorTarget>,
    pub causes: BTreeMap<String, u64>,
    pub throughput_per_second: Option<f64>,
    pub offered_per_second: Option<f64>,
    pub response_time: MirrorDistribution,
    pub response_time_success: Option<MirrorDistribution>,
    pub response_time_error_status: Option<MirrorDistribution>,
    pub service_time: MirrorDistribution,
    pub start_delay: MirrorDistribution,
    pub generator_lag: MirrorDistribution,
    pub connection_wait: MirrorDistribution,
    pub connect_time: MirrorDistribution,
    pub read_lag: MirrorDistribution,
    pub tls_handshake_time: MirrorDistribution,
    pub settling: Option<MirrorSettling>,
    pub arrival_fidelity: Option<MirrorFidelity>,
    pub closed_loop_shadow: Option<MirrorShadow>,
    pub uncertainty: Vec<MirrorUncertainty>,
    pub generator: Option<MirrorGenerator>,
    pub bytes_in: u64,
    pub recorded: MirrorRecorded,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorCheckpoint {
    pub scheduled: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorStripe {
    pub index: u32,
    pub of: u32,
    pub schedule: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorStart {
    pub at_unix_ns: u64,
    pub late_ns: u64,
    pub missed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorShards {
    pub of: u32,
    pub missing: Vec<u32>,
    pub by_stripe: Vec<MirrorShard>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorShard {
    pub index: u32,
    pub started_at_unix_ns: Option<u64>,
    pub late_ns: u64,
    pub planned: u64,
    pub never_issued: u64,
    pub responses: u64,
    pub generator_lag_p99_ns: Option<u64>,
    pub generator_lag_max_ns: Option<u64>,
    pub verdict: String,
    pub reasons: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorGate {
    pub text: String,
    /// `holds`, `fails` or `open`.
    pub state: String,
    pub value_ns: Option<u64>,
    pub limit_ns: Option<u64>,
    pub value: Option<f64>,
    pub limit: Option<f64>,
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorCheck {
    pub text: String,
    pub passed: u64,
    pub failed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorTarget {
    pub name: String,
    pub tally: MirrorTally,
    pub response_time: MirrorDistribution,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorVerdict {
    pub state: String,
    /// `code`, `state`, `message`, and numbers under any name.
    pub reasons: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorScenario {
    pub name: Option<String>,
    pub model: String,
    pub url: Option<String>,
    pub method: Option<String>,
    pub mix: Option<MirrorMix>,
    pub profile: Option<String>,
    pub spacing: Option<String>,
    pub seed: Option<u64>,
    pub duration_ns: Option<u64>,
    pub requests: Option<u64>,
    pub users: Option<u32>,
    pub requests_per_session: Option<u32>,
    pub think_time_ns: Option<u64>,
    pub connections: Option<u32>,
    #[serde(default)]
    pub connection_per_session: bool,
    pub http2: Option<BTreeMap<String, Option<u32>>>,
    pub timeout_ns: Option<u64>,
    pub drain_ns: u64,
    pub warmup_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorMix {
    pub targets: Vec<MirrorMixTarget>,
    pub rows: u32,
    pub order: Option<String>,
    pub seed: Option<u64>,
    pub hash: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorMixTarget {
    pub method: String,
    pub url: String,
    pub weight: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorTargetBooks {
    pub method: String,
    pub url: String,
    pub tally: MirrorTally,
    pub statuses: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorHost {
    pub os: String,
    pub kernel: Option<String>,
    pub arch: String,
    pub cpu_model: Option<String>,
    pub cpus: u32,
    pub memory_bytes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorTally {
    pub planned: u64,
    pub issued: u64,
    pub never_issued: u64,
    pub responses: u64,
    pub connect_failed: u64,
    pub reset: u64,
    pub malformed: u64,
    pub timed_out: u64,
    pub in_flight_at_end: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorDistribution {
    pub count: u64,
    pub censored: u64,
    pub failed: u64,
    pub mean_ns: Option<f64>,
    pub min_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub quantiles: Vec<MirrorQuantile>,
    pub exact: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorUncertainty {
    pub q: f64,
    pub value_ns: u64,
    pub sampling_ns: Option<u64>,
    pub histogram_ns: u64,
    pub clock_ns: u64,
    pub generator_lag_ns: Option<u64>,
    pub read_lag_ns: Option<u64>,
    pub largest: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorQuantile {
    pub q: f64,
    pub value_ns: Option<u64>,
    pub low_ns: Option<u64>,
    pub high_ns: Option<u64>,
    pub at_least: bool,
    pub no_answer: bool,
    pub supported: bool,
    pub needs_n: Option<u64>,
    #[serde(default)]
    pub effective_n: Option<u64>,
    #[serde(default)]
    pub without_generator_ns: Option<u64>,
    pub unresolved: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorSettling {
    pub state: String,
    pub why: String,
    pub cut_ns: Option<u64>,
    pub cut_arrivals: Option<u64>,
    pub shift: Option<MirrorShift>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorShift {
    pub at_ns: u64,
    pub until_ns: u64,
    pub from_ns: Option<u64>,
    pub to_ns: Option<u64>,
    pub lowest_ns: Option<u64>,
    pub highest_ns: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorFidelity {
    pub issued: u64,
    pub within_1ms: f64,
    pub mean_gap_ns: u64,
    pub within_tenth_of_gap: f64,
    pub displaced_by_generator: u64,
    pub gaps: Option<MirrorGaps>,
    pub dispersion: Option<MirrorDispersion>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorGaps {
    pub count: u64,
    pub distance: f64,
    pub tolerance_ns: u64,
    pub exponential: Option<MirrorExponential>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorExponential {
    pub planned_distance: f64,
    pub actual_distance: f64,
    pub critical_distance: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorDispersion {
    pub window_ns: u64,
    pub planned: f64,
    pub actual: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorShadow {
    pub users: u32,
    pub requests: u64,
    pub unanswered: u64,
    pub quantiles: Vec<MirrorShadowQuantile>,
    pub one_in: u64,
    pub resolution_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorShadowQuantile {
    pub q: f64,
    pub value_ns: Option<u64>,
    pub omission_factor: Option<f64>,
    pub at_least: bool,
    #[serde(default)]
    pub omission_low: Option<f64>,
    #[serde(default)]
    pub omission_high: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorStreams {
    pub peak: u64,
    pub allowed: Option<u32>,
    pub sent_again: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorGenerator {
    pub threads: u32,
    pub cpu: MirrorCpu,
    pub peak_memory_bytes: Option<u64>,
    pub pauses: Vec<MirrorPause>,
    pub pause_count: u64,
    pub paused_ns: u64,
    pub connections_opened: u64,
    pub connections_peak: u64,
    pub connections_available: Option<u64>,
    pub connections_limited_by: Option<String>,
    pub streams: Option<MirrorStreams>,
    pub stray_answers: u64,
    pub skipped_lines: Option<MirrorSkippedLines>,
    pub end_clock: String,
    pub busiest_worker_cpu_ns: u64,
    pub surroundings: BTreeMap<String, Option<u64>>,
    pub timing: String,
    #[serde(default)]
    pub realtime: bool,
    pub ticks: Option<MirrorTicks>,
    pub clock_reading_ns: Option<u64>,
    pub unstamped: u64,
    pub clock_steps: u64,
    pub open_files_limit: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorSkippedLines {
    pub answers: u64,
    pub first: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorTicks {
    pub longest_ns: u64,
    pub requests: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorCpu {
    pub user_ns: u64,
    pub system_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorPause {
    pub worker: u32,
    pub at_ns: u64,
    pub length_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorRecorded {
    pub measure_from_ns: u64,
    pub last_end_ns: u64,
    pub bytes_in: u64,
    pub intervals: MirrorIntervals,
    pub exact: BTreeMap<String, MirrorExact>,
    pub timeline: MirrorTimeline,
    pub samples: MirrorSamples,
}

/// `"second"`, `"whole_run"`, or `{"seconds": 8}`.
#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged, deny_unknown_fields)]
pub enum MirrorIntervals {
    Word(String),
    Long { seconds: u64 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorExact {
    pub count: u64,
    pub sum_ns: u128,
    pub min_ns: u64,
    pub max_ns: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorTimeline {
    pub seconds: u64,
    pub planned: u64,
    pub sent: u64,
    pub completed: u64,
    pub failed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorSamples {
    pub complete: bool,
    pub even: u64,
    pub one_in: u64,
    pub only_slow: u64,
    pub seen: u64,
    pub capacity: u64,
    pub slowest: u64,
}
