//! Stored outputs, and a report in one line.

use std::fs;
use std::path::{Path, PathBuf};

use truetail_model::record::{Outcome, rank_of};
use truetail_model::time::{Nanos, Rate};
use truetail_run::{ClaimedQuantile, StreamClaims};
use truetail_tools::{LoadSpec, ParseError, ToolOutput, ToolReport, by_name};

/// One stored output: its files, and the expected report.
pub(crate) struct Case {
    /// Path below `testdata/tools/<tool>`, such as `2.3/healthy`.
    pub(crate) folder: &'static str,
    /// File with standard output; empty without one.
    pub(crate) stdout: &'static str,
    /// File with standard error, if it is stored.
    pub(crate) stderr: Option<&'static str>,
    /// Other files: (key, file).
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) exit: i32,
    /// The report as [`said`] prints it, or `error: ` with file, line and problem.
    pub(crate) says: &'static str,
    /// A part of each note, in order.
    pub(crate) notes: &'static [&'static str],
}

/// Defaults for all fields except the folder and the report.
pub(crate) const PLAIN: Case =
    Case { folder: "", stdout: "stdout.txt", stderr: None, files: &[], exit: 0, says: "", notes: &[] };

pub(crate) fn fixtures(tool: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tools").join(tool)
}

impl Case {
    pub(crate) fn output(&self, tool: &str) -> ToolOutput {
        let read = |file: &str| {
            if file.is_empty() {
                return Vec::new();
            }
            let path = fixtures(tool).join(self.folder).join(file);
            fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        ToolOutput {
            stdout: read(self.stdout),
            stderr: self.stderr.map(read).unwrap_or_default(),
            exit_code: Some(self.exit),
            files: self.files.iter().map(|(key, file)| ((*key).to_owned(), read(file))).collect(),
        }
    }
}

/// Checks every case and reports all differences.
pub(crate) fn check(tool: &str, cases: &[Case]) {
    let differ = cases.iter().filter_map(|case| {
        let report = parse(tool, &case.output(tool));
        let (says, notes) = match &report {
            Ok(report) => (said(report), report.notes.clone()),
            Err(error) => (complaint(error), Vec::new()),
        };
        let noted = notes.len() == case.notes.len() && case.notes.iter().zip(&notes).all(|(a, b)| b.contains(a));
        (says != case.says || !noted)
            .then(|| format!("{} {} {:?}\n  {says}\n  {notes:#?}", case.folder, case.stdout, case.files))
    });
    let differ: Vec<_> = differ.collect();
    assert!(differ.is_empty(), "{tool} is read differently:\n{}", differ.join("\n"));
}

/// Returns the place and the problem of an error, without the tool and the tested version.
fn complaint(error: &ParseError) -> String {
    let text = format!("error: {error}").replacen(&format!("{}: ", error.tool), "", 1);
    let tested = format!(" (this parser was tested with {} {})", error.tool, error.tested);
    text.strip_suffix(&tested).unwrap_or_else(|| panic!("no tested version in: {text}")).to_owned()
}

pub(crate) fn parse(tool: &str, output: &ToolOutput) -> Result<ToolReport, ParseError> {
    by_name(tool).unwrap_or_else(|| panic!("no tool {tool}")).parse(output, &load())
}

pub(crate) fn load() -> LoadSpec {
    LoadSpec {
        url: "http://127.0.0.1:8080/api".to_owned(),
        rate: Rate::per_second(100.0).expect("a rate"),
        duration: Nanos::from_secs(6),
        users: 5,
        connections: 5,
        timeout: None,
        answer_tokens: None,
    }
}

/// Formats a report in one line, with times in milliseconds: claims (`-` if missing), single requests and their error
/// statuses, the count of the histogram, quantiles (`*` if computed, not printed by the tool), and the figures of
/// streams.
pub(crate) fn said(report: &ToolReport) -> String {
    let claims = &report.claims;
    let count = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
    let time = |ns: Option<u64>| ns.map_or("-".to_owned(), millis);
    let is_error = |outcome| matches!(outcome, Outcome::Response { status } if status >= 400);
    let errors = report.requests.iter().filter(|request| is_error(request.outcome)).count();
    format!(
        "measured {} requests {} failed {} dropped {} rate {} mean {} max {} | single {} errors {errors} histogram {} |{}{}",
        count(claims.measured),
        count(claims.requests),
        count(claims.failed),
        count(claims.dropped),
        claims.rate_per_second.map_or("-".to_owned(), |rate| rate.to_string()),
        time(claims.mean_ns),
        time(claims.max_ns),
        report.requests.len(),
        count(report.histogram.as_ref().map(|histogram| histogram.count())),
        quantiles(&claims.quantiles),
        report.streams.as_ref().map_or(String::new(), streams),
    )
}

fn millis(ns: u64) -> String {
    format!("{}", ns as f64 / 1e6)
}

fn quantiles(claimed: &[ClaimedQuantile]) -> String {
    let said = claimed.iter().map(|claim| {
        let percent = format!("{:.3}", claim.q * 100.0);
        let star = if claim.printed { "" } else { "*" };
        format!(" p{}={}{star}", percent.trim_end_matches('0').trim_end_matches('.'), millis(claim.value_ns))
    });
    said.collect()
}

fn streams(said: &StreamClaims) -> String {
    let max = |ns: Option<u64>| ns.map_or("-".to_owned(), millis);
    format!(
        " | first of {:?}:{} max {} | gap of {:?}:{} max {}",
        said.measured,
        quantiles(&said.first),
        max(said.first_max_ns),
        said.gap_of,
        quantiles(&said.gaps),
        max(said.gap_max_ns)
    )
}

/// Returns quantile `q` of plain numbers by sorting, for comparison with computed quantiles.
pub(crate) fn by_sorting(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[rank_of(q, values.len() as u64) as usize - 1]
}
