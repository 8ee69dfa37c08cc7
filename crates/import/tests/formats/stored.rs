//! Every stored file of a tool, in `testdata/tools` and `testdata/import`, and how it is read:
//! `testdata/import/expected.json`, which `UPDATE_GOLDEN=1` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use flate2::Crc;
use truetail_import::recognise;
use truetail_model::record::Outcome;
use truetail_run::{Claims, ForeignRequest, ForeignRun, UnusedRows};

use crate::{file, recognised, testdata, try_import};

const EXPECTED: &str = "import/expected.json";
/// Files that no tool wrote.
const OURS: [&str; 3] = ["cmd.txt", "README.md", "expected.json"];

/// Returns the files below a folder of `testdata`, named relative to `testdata`.
fn files_below(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(testdata(folder)).expect("a folder").map(|entry| entry.expect("an entry"));
    let below = entries.flat_map(|entry| {
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() { files_below(&path) } else { vec![path] }
    });
    below.collect()
}

fn is_ours(path: &str) -> bool {
    PathBuf::from(path).file_name().is_some_and(|name| OURS.iter().any(|ours| name == *ours))
}

/// Returns the stored files that tools wrote, relative to `testdata`.
pub(crate) fn results() -> Vec<String> {
    ["tools", "import"].into_iter().flat_map(files_below).filter(|path| !is_ours(path)).collect()
}

#[test]
fn each_stored_file_is_read_as_expected() {
    let read: BTreeMap<String, Vec<String>> =
        results().into_iter().map(|path| (path.clone(), described(&file(&path)))).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let text = serde_json::to_string_pretty(&read).expect("JSON") + "\n";
        fs::write(testdata(EXPECTED), text).expect("written");
    }
    let expected: BTreeMap<String, Vec<String>> = serde_json::from_slice(&file(EXPECTED)).expect("expectations");
    let differ = read.keys().chain(expected.keys()).filter(|path| read.get(*path) != expected.get(*path));
    let differ: BTreeSet<_> = differ.collect();
    let texts = differ.into_iter().map(|path| format!("{path}: {:#?}\n not {:#?}", read.get(path), expected.get(path)));
    let texts: Vec<_> = texts.collect();
    assert!(texts.is_empty(), "if that is right, UPDATE_GOLDEN=1:\n{}", texts.join("\n"));
}

#[test]
fn files_that_no_tool_wrote_are_of_no_format() {
    let all = ["tools", "import"].into_iter().flat_map(files_below);
    let ours: Vec<_> = all.filter(|path| is_ours(path)).collect();
    assert!(ours.len() > 100, "{ours:?}");
    for path in ours {
        assert_eq!(recognised(&file(&path)), [""; 0], "{path}");
    }
}

/// Describes how bytes are read: the format, the figures, the requests, and the notes. Times are in milliseconds; `*`
/// marks a computed quantile.
fn described(bytes: &[u8]) -> Vec<String> {
    let format = match recognised(bytes)[..] {
        [] => return vec![recognise(bytes).err().expect("no format").to_string()],
        [format] => format,
        ref several => return vec![format!("several formats: {several:?}")],
    };
    let (run, requests) = match try_import(format, bytes) {
        Ok(read) => read,
        Err(error) => return vec![format!("{format}: error: {error}")],
    };
    let mut lines = vec![format!("{format}: {}", figures(&run)), facts(&run)];
    if let (Some(first), Some(last)) = (requests.first(), requests.last()) {
        lines.push(sum(&requests));
        lines.push(format!("first: {}", request_row(first)));
        lines.push(format!("last: {}", request_row(last)));
    }
    lines.extend(unused(&run.damage));
    lines.extend(run.notes.iter().map(|note| format!("note: {note}")));
    lines
}

fn millis(ns: u64) -> String {
    format!("{}", ns as f64 / 1e6)
}

fn figures(run: &ForeignRun) -> String {
    let Claims { latency_from, quantiles, mean_ns, max_ns, rate_per_second, .. } = &run.claims;
    let Claims { measured, requests, failed, error_answers, dropped, .. } = &run.claims;
    let mut parts = vec![format!("from {latency_from:?}")];
    let counts = [
        ("measured", measured),
        ("made", requests),
        ("failed", failed),
        ("error answers", error_answers),
        ("dropped", dropped),
    ];
    parts.extend(counts.iter().filter_map(|(name, count)| Some(format!("{} {name}", (**count)?))));
    parts.extend(rate_per_second.map(|rate| format!("{rate}/s")));
    parts.extend(quantiles.iter().map(|one| {
        let star = if one.printed { "" } else { "*" };
        format!("p{} {}{star}", (one.q * 1e7).round() / 1e5, millis(one.value_ns))
    }));
    parts.extend(mean_ns.map(|mean| format!("mean {}", millis(mean))));
    parts.extend(max_ns.map(|max| format!("max {}", millis(max))));
    if let Some(histogram) = &run.histogram {
        let at = |q| histogram.quantile(q).map_or(0, |value| value.0);
        parts.push(format!("histogram of {} p50 {} p99 {}", histogram.count(), millis(at(0.5)), millis(at(0.99))));
    }
    parts.join(", ")
}

fn facts(run: &ForeignRun) -> String {
    let mut parts: Vec<_> = run.version.iter().map(|version| format!("version {version}")).collect();
    parts.extend(run.load.users.map(|users| format!("{users} users")));
    parts.extend(run.load.rate_per_second.map(|rate| format!("planned {rate}/s")));
    parts.extend(run.load.model.map(|model| model.name().to_owned()));
    let clock = &run.clock;
    parts.push(format!("seen by the {:?}, starts {:?} to {} ns", run.view, clock.starts, clock.start_resolution_ns));
    parts.push(format!("durations to {} ns", clock.duration_resolution_ns));
    parts.join(", ")
}

/// Describes a request in nanoseconds, without names of types and fields, which may change.
fn request_row(request: &ForeignRequest) -> String {
    let ForeignRequest { start_ns, duration, waited, outcome, worker, bytes_in } = request;
    let number = |name: &str, number: Option<u64>| number.map_or(String::new(), |number| format!("{name} {number}, "));
    let start = number("start", *start_ns);
    let sender = number("worker", worker.map(u64::from));
    format!(
        "{start}took {}, waited {}, {sender}{}{}",
        duration.0,
        waited.0,
        number("bytes", *bytes_in),
        outcome_name(*outcome)
    )
}

fn outcome_name(outcome: Outcome) -> String {
    let detail = match outcome {
        Outcome::Response { status: Some(status) } => format!(" {status}"),
        outcome => outcome.cause().map(|cause| format!(" {}", cause.name())).unwrap_or_default(),
    };
    format!("{}{detail}", outcome.name())
}

/// Describes the rows that could not be used, if any.
fn unused(damage: &UnusedRows) -> Option<String> {
    let UnusedRows { rows_left_out, first, truncated_at } = damage;
    let first = first.iter().map(|(place, why)| format!(", first at line {} byte {}: {why}", place.line, place.byte));
    let end = truncated_at.iter().map(|place| format!("; cut off at line {} byte {}", place.line, place.byte));
    let parts: String = first.chain(end).collect();
    (*damage != UnusedRows::default()).then(|| format!("{rows_left_out} rows left out{parts}"))
}

/// Counts requests by outcome, and sums up all of them in one checksum.
fn sum(requests: &[ForeignRequest]) -> String {
    let mut outcomes = BTreeMap::<String, usize>::new();
    let mut checksum = Crc::new();
    for request in requests {
        *outcomes.entry(outcome_name(request.outcome)).or_default() += 1;
        checksum.update(request_row(request).as_bytes());
    }
    let outcomes: Vec<_> = outcomes.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let workers: BTreeSet<_> = requests.iter().filter_map(|request| request.worker).collect();
    let slowest = requests.iter().map(|request| request.duration.0).max().unwrap_or_default();
    let waited = requests.iter().filter(|request| request.waited.0 > 0).count();
    format!(
        "{}; {} workers, slowest {}, {waited} waited, checksum {:08x}",
        outcomes.join(", "),
        workers.len(),
        millis(slowest),
        checksum.sum()
    )
}
