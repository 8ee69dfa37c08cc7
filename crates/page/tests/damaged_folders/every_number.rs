//! Every number of a `run.json` at extreme values. Accepted values are usable, both singly and all together.

use std::fs;

use serde_json::{Number, Value};
use tempfile::tempdir;
use truetail_model::time::Nanos;
use truetail_run::{
    ClaimedQuantile, Claims, ClientTokens, LatencyFrom, LlmApi, LlmFacts, ObjectiveCounts, Run, Shard, Shards,
    StartFacts, StreamFacts, StreamTime, StripeFacts, folder,
};

use crate::{is_refused_or_whole, runs, save};

/// Returns the largest numbers, the limits of a run, and invalid counts.
fn edges() -> Vec<Number> {
    let whole = [u64::MAX, i64::MAX as u64, 1 << 60, u64::from(u32::MAX), 0].map(Number::from);
    let others = [Number::from(-1), Number::from_f64(1e308).expect("finite")];
    whole.into_iter().chain(others).collect()
}

/// Replaces each number under `place` by `number` if `is_taken` still accepts the whole. Returns the count of numbers.
/// Skips the parts of values that are accepted as a whole.
fn raise(whole: &mut Value, place: &str, number: &Number, is_taken: &impl Fn(&Value) -> bool) -> usize {
    let mut changed = whole.clone();
    let here = changed.pointer_mut(place).unwrap_or_else(|| panic!("{place}"));
    let numbers = replace(here, number);
    if numbers == 0 {
        return 0;
    }
    if is_taken(&changed) {
        *whole = changed;
        return numbers;
    }
    let parts: Vec<String> = match whole.pointer(place) {
        Some(Value::Array(items)) => (0..items.len()).map(|nth| nth.to_string()).collect(),
        Some(Value::Object(fields)) => fields.keys().map(|key| key.replace('~', "~0").replace('/', "~1")).collect(),
        _ => Vec::new(),
    };
    parts.iter().map(|part| raise(whole, &format!("{place}/{part}"), number, is_taken)).sum()
}

fn replace(value: &mut Value, number: &Number) -> usize {
    match value {
        Value::Number(old) => {
            old.clone_from(number);
            1
        }
        Value::Array(items) => items.iter_mut().map(|item| replace(item, number)).sum(),
        Value::Object(fields) => fields.values_mut().map(|field| replace(field, number)).sum(),
        Value::Null | Value::Bool(_) | Value::String(_) => 0,
    }
}

/// Returns runs that together have each part of `run.json`.
fn with_every_part() -> Vec<Run> {
    let mut runs = runs();
    // The other runs have the same parts.
    runs.dedup_by_key(|run| (run.facts.stream.is_some(), run.facts.sessions.is_some()));
    assert_eq!(runs.len(), 3);
    for (nth, run) in runs.iter_mut().enumerate() {
        let planned = run.snapshot.tally.planned;
        let facts = &mut run.facts;
        facts.start = Some(StartFacts { at_unix_ns: 1_750_000_000_000_000_000, late_ns: 3, missed: 1 });
        match nth % 3 {
            0 => facts.shards = Some(Shards { of: 2, missing: vec![2], by_stripe: vec![shard(1, planned)] }),
            1 => facts.stripe = Some(StripeFacts { index: 1, of: 2, schedule: "0123456789abcdef".to_owned() }),
            _ => {}
        }
        facts.stream.iter_mut().for_each(|streams| add_llm(streams, planned));
        facts.claims = Some(Claims {
            quantiles: vec![ClaimedQuantile { q: 0.99, value_ns: 7_000_000, printed: true }],
            mean_ns: Some(3),
            max_ns: Some(9_000_000),
            measured: Some(planned),
            requests: Some(planned),
            failed: Some(1),
            dropped: Some(2),
            rate_per_second: Some(100.0),
            ..Claims::silent(LatencyFrom::Send)
        });
        let offered = &mut facts.offered;
        (offered.requests, offered.users, offered.requests_per_session) = (Some(planned), Some(3), Some(4));
        offered.think_time_ns = Some(5_000_000);
    }
    runs
}

/// Adds the books of a language model that never sent content.
fn add_llm(streams: &mut StreamFacts, planned: u64) {
    let complete = streams.tally.complete;
    let mut llm = LlmFacts::new(LlmApi::OpenaiChat, vec!["ttft < 1s".to_owned()]);
    llm.other_events = streams.events;
    llm.tokens.not_counted = complete;
    llm.tokens.no_time_per_output_token = complete;
    llm.by_client =
        Some(ClientTokens { counted: complete, output: 9, ..ClientTokens::new("t".to_owned(), "0".to_owned()) });
    let slo = llm.slo.as_mut().expect("one objective");
    (slo.met, slo.each) = (complete, vec![ObjectiveCounts { met: complete, ..ObjectiveCounts::default() }]);
    streams.times.get_mut(StreamTime::FirstContentCensored).record_n(Nanos(7), planned);
    streams.llm = Some(llm);
}

fn shard(index: u32, planned: u64) -> Shard {
    Shard {
        index,
        started_at_unix_ns: Some(1_750_000_000_000_000_001),
        late_ns: 5,
        planned,
        never_issued: 0,
        responses: planned,
        generator_lag_p99_ns: Some(11),
        generator_lag_max_ns: Some(12),
        verdict: None,
        reasons: Vec::new(),
    }
}

#[test]
fn every_number_at_its_largest_is_refused_or_can_be_worked_with() {
    for run in with_every_part() {
        let folder = tempdir().unwrap();
        save(folder.path(), &run);
        let path = folder.path().join(folder::RUN);
        let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let is_taken = |file: &Value| {
            fs::write(&path, file.to_string()).unwrap();
            let refused = folder::load(folder.path()).err().map(|error| error.to_string());
            assert!(refused.iter().all(|line| !line.contains('\n')), "{refused:?}");
            refused.is_none()
        };
        for edge in edges() {
            let mut all = file.clone();
            let taken = raise(&mut all, "", &edge, &is_taken);
            assert!(taken > 0 || edge.is_f64(), "{edge}");
            assert!(is_taken(&all));
            is_refused_or_whole(folder.path());
        }
    }
}
