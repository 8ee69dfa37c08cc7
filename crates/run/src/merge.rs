//! Several runs of one workload as one: stripes that machines shared, or repetitions.
//!
//! Counts are added, second by second and bucket by bucket; no quantile is ever averaged. The runs must have been offered
//! the same load. Whether the services behind them were the same cannot be told from the numbers.

use std::collections::HashSet;
use std::fmt::Display;

use serde::Serialize;
use truetail_model::record::{ByInterval, Samples, SamplesOptions, Snapshot};

use crate::folder::possible::{MOST_ARRIVALS, MOST_BYTES};
use crate::wire::v1::IntervalWidth;
use crate::{Facts, HostInfo, Mix, OfferedLoad, Run, first_failed};

/// Why runs cannot be merged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// No run was given.
    #[error("there is no run to merge")]
    Nothing,
    /// The runs have different workloads.
    #[error(
        "these runs cannot be merged: {field} is {first} in run 1 and {other} in run {run}; merge only runs of the same workload"
    )]
    Different {
        /// Which run, counted from 1.
        run: usize,
        /// What differs, by its name in `run.json`.
        field: &'static str,
        /// Its value in the first run.
        first: String,
        /// Its value in the other.
        other: String,
    },
    /// One run was given twice.
    #[error("run {first} and run {second} are the same run; give each run once")]
    Twice {
        /// Counted from 1.
        first: usize,
        /// Counted from 1.
        second: usize,
    },
    /// Together they have more arrivals than a run can have.
    #[error(
        "these runs cannot be merged: together they plan {planned} arrivals, and a run has at most {MOST_ARRIVALS}"
    )]
    TooMany {
        /// How many, warm-up included.
        planned: u128,
    },
    /// Together their answers have more bytes than those of a run can have.
    #[error(
        "these runs cannot be merged: together their answers have {bytes} bytes, and those of a run have at most {MOST_BYTES}"
    )]
    TooManyBytes {
        /// How many.
        bytes: u128,
    },
}

/// Merges several runs of the same workload into one. Only their seeds may differ; then the merged run has no seed.
///
/// If several runs have the same arrivals, they are repetitions and not stripes: the rates of the merged run are then
/// sums over the repetitions, and a note says so. If the runs kept intervals of different lengths, the merged run has
/// the longest. If a run kept no distributions by second, or no single requests, the merged run has none either, and a
/// note says so.
///
/// # Errors
/// [`MergeError`]. It numbers the runs; the caller says which number is which run.
pub fn merge(runs: Vec<Run>) -> Result<Run, MergeError> {
    check(&runs)?;
    let notes = notes(&runs);
    let seconds = runs.iter().all(|run| has_seconds(&run.snapshot));
    let samples = runs.iter().all(|run| has_samples(&run.snapshot.samples));
    let targets = runs.iter().all(|run| run.snapshot.targets.len() == run.facts.by_target.len());
    let mut parts = runs.into_iter();
    let mut whole = parts.next().ok_or(MergeError::Nothing)?;
    for part in parts {
        whole.snapshot.merge(&part.snapshot);
        add_facts(&mut whole.facts, part.facts);
    }
    if !targets {
        whole.snapshot.targets.clear();
    }
    if !seconds {
        whole.snapshot.seconds.clear();
        whole.snapshot.intervals = ByInterval::default();
    }
    if !samples {
        let seen = whole.snapshot.samples.seen();
        whole.snapshot.samples = Samples::from_parts(SamplesOptions::NONE, Vec::new(), 1, &[], seen);
    }
    for note in notes {
        add_note(&mut whole.facts.notes, note);
    }
    Ok(whole)
}

fn check(runs: &[Run]) -> Result<(), MergeError> {
    let Some((first, others)) = runs.split_first() else { return Err(MergeError::Nothing) };
    for (run, other) in (2..).zip(others) {
        if let Some((field, first, other)) = difference(&first.facts, &other.facts) {
            return Err(MergeError::Different { run, field, first, other });
        }
    }
    let planned = |run: &Run| u128::from(run.snapshot.tally.planned) + u128::from(run.snapshot.warmup.planned);
    let planned: u128 = runs.iter().map(planned).sum();
    if planned > u128::from(MOST_ARRIVALS) {
        return Err(MergeError::TooMany { planned });
    }
    let bytes = runs.iter().map(bytes_of_samples).sum();
    if bytes > u128::from(MOST_BYTES) {
        return Err(MergeError::TooManyBytes { bytes });
    }
    for (second, other) in runs.iter().enumerate() {
        if let Some(first) = runs[..second].iter().position(|run| is_same(run, other)) {
            return Err(MergeError::Twice { first: first + 1, second: second + 1 });
        }
    }
    Ok(())
}

/// Bytes of the answers that were kept one by one.
fn bytes_of_samples(run: &Run) -> u128 {
    let samples = &run.snapshot.samples;
    samples.even().iter().chain(samples.only_slow()).map(|record| u128::from(record.bytes_in)).sum()
}

/// Are these one run? Two different runs never begin in the same nanosecond with the same arrivals and outcomes. Runs
/// without arrivals may; counting them twice changes nothing.
fn is_same(a: &Run, b: &Run) -> bool {
    let arrivals = a.snapshot.tally.planned + a.snapshot.warmup.planned;
    let started = (a.facts.started_at_unix_ns, b.facts.started_at_unix_ns);
    arrivals > 0
        && matches!(started, (Some(a), Some(b)) if a == b)
        && a.snapshot.schedule_hash == b.snapshot.schedule_hash
        && a.snapshot.tally == b.snapshot.tally
        && a.snapshot.last_end == b.snapshot.last_end
}

/// The first thing in which two runs differ so that they cannot be parts of one: its name and both values.
fn difference(a: &Facts, b: &Facts) -> Option<(&'static str, String, String)> {
    let (x, y) = (&a.offered, &b.offered);
    None.or_else(|| differ("source", &a.source, &b.source))
        .or_else(|| differ("scenario.name", &x.name, &y.name))
        .or_else(|| differ("scenario.model", &x.model, &y.model))
        .or_else(|| differ("scenario.url", &x.url, &y.url))
        .or_else(|| differ("scenario.method", &x.method, &y.method))
        .or_else(|| differ("scenario.mix.hash", &hash_of_requests(x), &hash_of_requests(y)))
        .or_else(|| differ("scenario.profile", &x.profile, &y.profile))
        .or_else(|| differ("scenario.spacing", &x.spacing, &y.spacing))
        .or_else(|| differ("scenario.duration_ns", &x.duration_ns, &y.duration_ns))
        .or_else(|| differ("scenario.requests", &x.requests, &y.requests))
        .or_else(|| differ("scenario.users", &x.users, &y.users))
        .or_else(|| differ("scenario.requests_per_session", &x.requests_per_session, &y.requests_per_session))
        .or_else(|| differ("scenario.think_time_ns", &x.think_time_ns, &y.think_time_ns))
        .or_else(|| differ("scenario.connections", &x.connections, &y.connections))
        .or_else(|| differ("scenario.http2", &x.http2, &y.http2))
        .or_else(|| differ("scenario.timeout_ns", &x.timeout_ns, &y.timeout_ns))
        .or_else(|| differ("scenario.drain_ns", &x.drain_ns, &y.drain_ns))
        .or_else(|| differ("scenario.warmup_ns", &x.warmup_ns, &y.warmup_ns))
        .or_else(|| differ("scenario", &without_seed(x), &without_seed(y)))
}

fn hash_of_requests(offered: &OfferedLoad) -> Option<&str> {
    offered.mix.as_ref().map(|mix| mix.hash.as_str())
}

/// All that must be equal, for fields that [`difference`] does not name.
fn without_seed(offered: &OfferedLoad) -> OfferedLoad {
    let mix = offered.mix.clone().map(|mix| Mix { seed: None, ..mix });
    OfferedLoad { seed: None, mix, ..offered.clone() }
}

fn differ<T: PartialEq + Serialize>(field: &'static str, a: &T, b: &T) -> Option<(&'static str, String, String)> {
    let json = |value: &T| serde_json::to_string(value).expect("a part of run.json");
    (a != b).then(|| (field, json(a), json(b)))
}

fn has_seconds(snapshot: &Snapshot) -> bool {
    IntervalWidth::of(snapshot) != IntervalWidth::WholeRun
}

fn has_samples(samples: &Samples) -> bool {
    samples.seen() == 0 || samples.options().capacity > 0
}

/// Notes on the whole, in order.
fn notes(runs: &[Run]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |applies: bool, text: String| notes.extend(applies.then_some(text));
    let count = runs.len();
    note(count > 1, format!("merged from {count} runs"));
    let overlap = overlap(runs);
    note(
        overlap,
        "several runs have the same arrivals, so they are repetitions; rates are sums over all of them".to_owned(),
    );
    note(
        differs(runs, |run| (run.facts.offered.seed, run.facts.offered.mix.as_ref().and_then(|mix| mix.seed))),
        "the runs had different seeds".to_owned(),
    );
    note(
        differs(runs, |run| &run.facts.version),
        format!("the runs were made with different versions of truetail: {}", versions(runs)),
    );
    let hosts = differs(runs, |run| &run.facts.host);
    note(hosts, format!("the runs were made on different machines: {}; host describes the first", machines(runs)));
    let no_seconds = runs.iter().any(|run| !has_seconds(&run.snapshot));
    note(no_seconds, "a run had no distributions by second, so the merged run has none".to_owned());
    let no_samples = runs.iter().any(|run| !has_samples(&run.snapshot.samples));
    note(no_samples, "a run had no single requests, so the merged run has none".to_owned());
    notes
}

fn differs<'a, T: PartialEq>(runs: &'a [Run], of: impl Fn(&'a Run) -> T) -> bool {
    runs.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]))
}

fn versions(runs: &[Run]) -> String {
    joined(runs.iter().map(|run| run.facts.version.as_str()))
}

fn machines(runs: &[Run]) -> String {
    let describe = |host: &HostInfo| format!("{} {} with {} CPUs", host.os, host.arch, host.cpus);
    joined(runs.iter().map(|run| run.facts.host.as_ref().map_or("unknown".to_owned(), describe)))
}

fn joined(texts: impl Iterator<Item = impl Display>) -> String {
    texts.map(|text| text.to_string()).collect::<Vec<_>>().join(", ")
}

/// Whether an arrival is in more than one run, judged by the single requests that were kept.
fn overlap(runs: &[Run]) -> bool {
    let mut seen = HashSet::new();
    runs.iter().any(|run| {
        let indices = || run.snapshot.samples.even().iter().map(|record| (record.index, record.intended_start));
        let twice = indices().any(|arrival| seen.contains(&arrival));
        seen.extend(indices());
        twice
    })
}

fn add_facts(whole: &mut Facts, part: Facts) {
    whole.started_at_unix_ns = earlier(whole.started_at_unix_ns, part.started_at_unix_ns);
    whole.elapsed_ns = whole.elapsed_ns.max(part.elapsed_ns);
    whole.interrupted |= part.interrupted;
    whole.cut_short = either(whole.cut_short, part.cut_short);
    whole.bytes_in = whole.bytes_in.saturating_add(part.bytes_in);
    if whole.offered.seed != part.offered.seed {
        whole.offered.seed = None;
    }
    if whole.command != part.command {
        whole.command = None;
    }
    if let (Some(whole), Some(part)) = (&mut whole.offered.mix, &part.offered.mix)
        && whole.seed != part.seed
    {
        whole.seed = None;
    }
    // Books by target that one part does not have are not known of the whole.
    if whole.by_target.len() != part.by_target.len() {
        add_note(&mut whole.notes, "not every run has books of each target: they are left out of the whole".to_owned());
        whole.by_target.clear();
    }
    whole.by_target.iter_mut().zip(&part.by_target).for_each(|(whole, part)| whole.merge(part));
    let same_checks = whole.checks.iter().map(|check| &check.text).eq(part.checks.iter().map(|check| &check.text));
    if same_checks {
        whole.failed_answers.extend(part.failed_answers);
        whole.failed_answers = first_failed(std::mem::take(&mut whole.failed_answers));
    } else {
        add_note(&mut whole.notes, "the runs had different checks: the whole has none".to_owned());
        whole.checks.clear();
        whole.failed_answers.clear();
    }
    whole.checks.iter_mut().zip(&part.checks).for_each(|(whole, part)| whole.merge(part));
    whole.stream = match (whole.stream.take(), &part.stream) {
        (None, None) => None,
        (Some(mut streams), Some(part)) if streams.is_alike(part) => {
            streams.merge(part);
            Some(streams)
        }
        _ => {
            let note = "the runs read streams in different ways: the whole has none";
            add_note(&mut whole.notes, note.to_owned());
            None
        }
    };
    if whole.host.is_none() {
        whole.host = part.host;
    }
    whole.generator = match (whole.generator.take(), part.generator) {
        (Some(whole), Some(part)) => Some(whole.and(part)),
        (one, other) => one.or(other),
    };
    part.notes.into_iter().for_each(|note| add_note(&mut whole.notes, note));
}

fn add_note(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// True where either is; else known only where both are.
fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (a, b) => a.and(b),
    }
}

/// The smaller of two that are known.
fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    [a, b].into_iter().flatten().min()
}
