//! Test that another implementation reads `histograms.hlog` alike: the `hdrhistogram` package for Python finds the same
//! buckets and quantiles, over the whole run and over one interval.
//!
//! Needs `TRUETAIL_TEST_PYTHON`, the path of a Python with the packages of `tests/requirements.txt`, as `make test`
//! prepares it. Otherwise the tests are SKIPPED.

use crate::missing::missing;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{run, saved, steady};
use serde::Deserialize;
use truetail_model::record::{Histogram, Metric, RecorderOptions, rank_of};
use truetail_model::time::Nanos;
use truetail_run::{Run, folder};

const QUANTILES: [f64; 7] = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0];

#[derive(Deserialize)]
struct Seen {
    whole: BTreeMap<String, Distribution>,
    range: BTreeMap<String, Distribution>,
    first_start_ms: f64,
    last_end_ms: f64,
    start_time_s: f64,
}

#[derive(Deserialize)]
struct Distribution {
    count: u64,
    /// (highest value, count), ascending.
    buckets: Vec<(u64, u64)>,
    /// (rank, value).
    ranks: Vec<(u64, u64)>,
}

fn python() -> Option<PathBuf> {
    let python = std::env::var_os("TRUETAIL_TEST_PYTHON").map(PathBuf::from);
    if python.is_none() {
        missing("a Python that reads histograms.hlog (TRUETAIL_TEST_PYTHON is not set)", "make test");
    }
    python
}

/// Returns what Python reads in the log of a run, and in intervals that begin in `range`, in seconds after the start.
fn seen_by(python: &Path, run: &Run, range: (u64, u64)) -> Seen {
    let folder = saved(run);
    let ranks = |histogram: &Histogram| QUANTILES.map(|q| rank_of(q, histogram.count()));
    let queries: BTreeMap<&str, _> =
        Metric::ALL.into_iter().map(|metric| (metric.name(), ranks(run.snapshot.metric(metric)))).collect();
    let mut child = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_hlog.py"))
        .arg(folder.path().join(folder::HISTOGRAMS))
        .args([range.0.to_string(), range.1.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", python.display()));
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&serde_json::to_vec(&queries).unwrap()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "read_hlog.py failed; its complaint is above");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn assert_same(tag: &str, seen: Option<&Distribution>, ours: &Histogram) {
    if ours.is_empty() {
        assert!(seen.is_none(), "{tag}: Python sees values where there are none");
        return;
    }
    let seen = seen.unwrap_or_else(|| panic!("{tag}: Python does not see it"));
    assert_eq!(seen.count, ours.count(), "{tag}");
    let buckets: Vec<_> = ours.buckets().map(|(_, highest, count)| (highest.0, count)).collect();
    assert_eq!(seen.buckets, buckets, "{tag}");
    for &(rank, value) in &seen.ranks {
        // Python does not know the exact maximum, and returns the end of its bucket.
        let ours = ours.value_at_rank(rank).unwrap().0;
        let highest = buckets.iter().find(|(highest, _)| *highest >= ours).unwrap().0;
        assert_eq!(value, highest, "{tag}, rank {rank}");
    }
}

#[test]
fn python_finds_the_same_quantiles_in_the_whole_run() {
    let Some(python) = python() else { return };
    let run = run(RecorderOptions::default(), &steady(10));
    let seen = seen_by(&python, &run, (0, 0));
    for metric in Metric::ALL {
        let whole = seen.whole.get(metric.name());
        assert_same(metric.name(), whole, run.snapshot.metric(metric));
        assert!(whole.is_none_or(|whole| whole.ranks.len() == QUANTILES.len()));
    }
    assert_same("error_status_time", seen.whole.get("error_status_time"), &run.snapshot.error_status_time);
    assert!(run.snapshot.metric(Metric::Censored).count() > 0 && run.snapshot.metric(Metric::ConnectTime).count() > 0);
}

#[test]
fn python_finds_the_same_quantiles_in_one_interval() {
    let Some(python) = python() else { return };
    let run = run(RecorderOptions::default(), &steady(10));
    let seen = seen_by(&python, &run, (6, 6));
    for metric in Metric::ALL {
        let mut sixth = Histogram::new();
        for (value, count) in run.snapshot.intervals.rows()[6].metric(metric).buckets() {
            sixth.record_n(value, count);
        }
        assert_same(metric.name(), seen.range.get(metric.name()), &sixth);
    }
    assert_eq!(seen.range["response_time"].count + seen.range["censored"].count + seen.range["failed"].count, 1000);
}

#[test]
fn python_finds_the_same_times() {
    let Some(python) = python() else { return };
    let run = run(RecorderOptions::default(), &steady(10));
    let seen = seen_by(&python, &run, (0, 0));
    // The log has milliseconds.
    let start_ms = (run.facts.started_at_unix_ns.unwrap() / 1_000_000) as f64;
    assert!((seen.start_time_s * 1000.0 - start_ms).abs() < 1.0, "{}", seen.start_time_s);
    assert!((seen.first_start_ms - start_ms).abs() < 1.0, "{}", seen.first_start_ms);
    let last_ms = start_ms + 1000.0 * (run.snapshot.last_end.second() + 1) as f64;
    assert!((seen.last_end_ms - last_ms).abs() < 1.0, "{}", seen.last_end_ms);
}

#[test]
fn python_reads_a_run_without_seconds_and_with_long_times() {
    let Some(python) = python() else { return };
    let mut records = steady(2);
    records[500].end = records[500].actual_start + Nanos::from_secs(2 * 3600);
    let mut run = run(RecorderOptions { per_second: false, ..RecorderOptions::default() }, &records);
    run.facts.started_at_unix_ns = None;
    let seen = seen_by(&python, &run, (0, 0));
    for metric in Metric::ALL {
        assert_same(metric.name(), seen.whole.get(metric.name()), run.snapshot.metric(metric));
    }
    assert_eq!((seen.start_time_s, seen.first_start_ms), (0.0, 0.0));
}
