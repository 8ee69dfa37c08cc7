//! Files of the freeze: four CSV files, and the manifest that compares them with golden files.

use std::fmt::{self, Write};

use serde::Serialize;
use sha2::{Digest, Sha256};
use truetail_model::time::Nanos;

use super::{FreezeOptions, FreezeResult, FreezeSeries};

/// File that a lab produces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artifact {
    /// File name.
    pub name: String,
    /// Contents of the file.
    pub contents: String,
}

macro_rules! golden {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../../../testdata/golden/freeze/", $name)))),*]
    };
}

/// Golden CSV files of the default options: (name, contents). `testdata/golden/freeze` derives them by hand.
pub const GOLDEN: [(&str, &str); 4] =
    golden!["closed-loop-raw.csv", "closed-loop-corrected.csv", "open-loop.csv", "summary.csv"];

impl FreezeResult {
    /// Returns the CSV files and then the manifest, which also lists `pictures`: (file name, bytes) of each.
    pub fn artifacts(&self, pictures: &[(&str, &[u8])]) -> Vec<Artifact> {
        let mut files: Vec<Artifact> = self.series.iter().map(intervals_csv).collect();
        files.push(summary_csv(&self.series));
        files.push(manifest(&self.options, &files, pictures));
        files
    }
}

const INTERVAL_COLUMNS: &str = "elapsed_s,p50_ms,p95_ms,p99_ms,p999_ms,throughput_rps,total_requests";
const SUMMARY_COLUMNS: &str = "series,total_requests,whole_run_p99_ms";

fn intervals_csv(series: &FreezeSeries) -> Artifact {
    let mut text = format!("{INTERVAL_COLUMNS}\n");
    for row in &series.intervals {
        let [p50, p95, p99, p999] = [row.p50_ms, row.p95_ms, row.p99_ms, row.p999_ms].map(Ms);
        let elapsed = Seconds(row.elapsed);
        let total = row.total_requests;
        writeln!(text, "{elapsed},{p50},{p95},{p99},{p999},{:.1},{total}", row.throughput_rps)
            .expect("a String takes everything");
    }
    Artifact { name: format!("{}.csv", series.series.name), contents: text }
}

fn summary_csv(all: &[FreezeSeries]) -> Artifact {
    let mut text = format!("{SUMMARY_COLUMNS}\n");
    for series in all {
        let name = series.series.name;
        let total = series.total_requests;
        let p99 = Ms(series.whole_run_p99_ms);
        writeln!(text, "{name},{total},{p99}").expect("a String takes everything");
    }
    Artifact { name: "summary.csv".into(), contents: text }
}

/// Milliseconds with one decimal; an empty field without a value.
struct Ms(Option<u64>);

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |ms| write!(f, "{ms}.0"))
    }
}

/// Seconds with as many decimals as they have.
struct Seconds(Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}

#[derive(Serialize)]
struct Manifest<'a> {
    schema: &'static str,
    version: &'static str,
    options: ManifestOptions,
    artifacts: Vec<ManifestEntry<'a>>,
    plots: Vec<ManifestPlot<'a>>,
}

#[derive(Serialize)]
struct ManifestOptions {
    base: Nanos,
    pause_start: Nanos,
    pause_length: Nanos,
    duration: Nanos,
    expected_interval: Nanos,
    snapshot_interval: Nanos,
    users: u32,
}

/// Only the default options have a golden file to match.
#[derive(Serialize)]
struct ManifestEntry<'a> {
    file: &'a str,
    sha256: String,
    golden_sha256: Option<String>,
    golden_match: Option<bool>,
}

/// Picture of the figures, which has no golden file.
#[derive(Serialize)]
struct ManifestPlot<'a> {
    file: &'a str,
    sha256: String,
}

/// Returns `manifest.json` for `files`, and for `plots`: (file name, bytes).
fn manifest(options: &FreezeOptions, files: &[Artifact], plots: &[(&str, &[u8])]) -> Artifact {
    let has_golden = *options == FreezeOptions::default();
    let manifest = Manifest {
        schema: "truetail.freeze/1",
        version: env!("CARGO_PKG_VERSION"),
        options: ManifestOptions::from(options),
        artifacts: files.iter().map(|file| entry(file, has_golden)).collect(),
        plots: plots.iter().map(|(file, bytes)| ManifestPlot { file, sha256: sha256(bytes) }).collect(),
    };
    let json = serde_json::to_string_pretty(&manifest).expect("strings and numbers are always JSON");
    Artifact { name: "manifest.json".into(), contents: json + "\n" }
}

fn entry(file: &Artifact, has_golden: bool) -> ManifestEntry<'_> {
    let golden = GOLDEN.iter().find(|(name, _)| has_golden && *name == file.name).map(|(_, golden)| sha256(golden));
    let sha256 = sha256(&file.contents);
    let golden_match = golden.as_ref().map(|golden| *golden == sha256);
    ManifestEntry { file: &file.name, sha256, golden_sha256: golden, golden_match }
}

fn sha256(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl From<&FreezeOptions> for ManifestOptions {
    fn from(options: &FreezeOptions) -> ManifestOptions {
        let FreezeOptions { base, pause_start, pause_length, duration, expected_interval, snapshot_interval, users } =
            *options;
        ManifestOptions { base, pause_start, pause_length, duration, expected_interval, snapshot_interval, users }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests of the empty text and of "abc", as published in FIPS 180-4.
    #[test]
    fn sha256_is_the_published_one() {
        assert_eq!(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_file_that_differs_in_one_digit_does_not_match() {
        let (name, golden) = GOLDEN[3];
        let file = |contents: String| Artifact { name: name.into(), contents };
        let right = file(golden.to_owned());
        assert_eq!(entry(&right, true).golden_match, Some(true));
        let wrong = file(golden.replacen("460.0", "461.0", 1));
        assert_eq!(entry(&wrong, true).golden_match, Some(false));
        assert_eq!(entry(&right, false).golden_match, None);
    }
}
