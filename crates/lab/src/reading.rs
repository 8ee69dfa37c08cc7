//! What a tool left, read back from its files: the same now and in a year, with whatever parser there is then.

use std::fs;
use std::io;
use std::path::Path;

use truetail_analysis::league::{LeagueRow, ServerView, ToolReport, ToolState, ToolUnderTest, row};
use truetail_analysis::league::{ObservationWindow, ReportedLatency};
use truetail_model::record::Snapshot;
use truetail_model::time::Nanos;
use truetail_run::Claims;
use truetail_tools::{Found, Output, Report, Tool};

use crate::process::EndedBy;
use crate::raw;
use crate::trial::{TRUTH, last_line};
use crate::{Ran, Setting, truth_log};

/// The parsed figures, beside the raw files.
const REPORT: &str = "report.json";

/// A tool that was run, as its files tell.
#[derive(Debug)]
pub struct Reading {
    /// How it was run.
    pub ran: Ran,
    /// What the server saw; `None` where its log cannot be read.
    pub server_view: Option<ServerView>,
    /// What the tool said; `None` where that is nothing, or was not understood.
    pub report: Option<Report>,
    /// The report's data as a run's record.
    pub data: Snapshot,
    /// What became of it.
    pub state: ToolState,
    /// Why, where it is not ok; else what went wrong all the same.
    pub message: Option<String>,
}

impl Reading {
    /// Reads what `tool` left in `folder`; `None` where nothing was run there.
    pub fn of(tool: &dyn Tool, folder: &Path) -> Option<Reading> {
        let ran = Ran::read(folder)?;
        let (saw, log_trouble) = match truth_log::read(&folder.join(TRUTH)) {
            Ok(saw) => (Some(saw), None),
            Err(trouble) => (None, Some(trouble)),
        };
        let heard = heard(tool, &ran, folder);
        let data = heard.report.as_ref().map(Report::snapshot).unwrap_or_default();
        let (state, message) = judged(&ran, &heard, &data);
        Some(Reading { server_view: saw, data, state, message: message.or(log_trouble), report: heard.report, ran })
    }

    /// Writes the parsed figures beside the raw files.
    ///
    /// # Errors
    /// The system's.
    pub fn write_report(&self, folder: &Path) -> io::Result<()> {
        let reported = self.report.as_ref().map(|report| ReportedLatency::of(&report.claims, &self.data));
        let parsed = Parsed {
            tool: &self.ran.tool,
            version: &self.ran.version,
            state: self.state,
            message: self.message.as_deref(),
            claims: self.report.as_ref().map(|report| &report.claims),
            reported,
            single_requests: self.report.as_ref().map_or(0, |report| report.requests.len()),
            notes: self.report.as_ref().map_or(&[], |report| &report.notes),
        };
        let json = serde_json::to_string_pretty(&parsed).map_err(io::Error::other)?;
        fs::write(folder.join(REPORT), json + "\n")
    }

    /// Its row in the table.
    pub fn row(&self, tool: &dyn Tool, setting: &Setting, window: &ObservationWindow) -> LeagueRow {
        let heard = |report| heard_of(report, &self.data);
        let version = self.report.as_ref().and_then(|report| report.version.as_deref());
        let cpu = self.ran.ended.map(|ended| (ended.cpu.user_ns + ended.cpu.system_ns) as f64 / 1e9);
        let subject = ToolUnderTest {
            tool: tool.name(),
            version: Some(self.ran.version.as_str()).filter(|version| *version != "unknown").or(version),
            label_model: tool.about().label_model,
            state: self.state,
            message: self.message.as_deref(),
            server_view: self.server_view.as_ref(),
            report: self.report.as_ref().map(heard),
            cpu_seconds: cpu,
            peak_memory_bytes: self.ran.ended.and_then(|ended| ended.peak_memory_bytes),
        };
        row(&subject, &setting.truth, setting.rate, window)
    }
}

fn heard_of<'a>(report: &'a Report, data: &'a Snapshot) -> ToolReport<'a> {
    ToolReport { claims: &report.claims, data, notes: &report.notes }
}

/// `report.json`.
#[derive(serde::Serialize)]
struct Parsed<'a> {
    tool: &'a str,
    version: &'a str,
    state: ToolState,
    message: Option<&'a str>,
    claims: Option<&'a Claims>,
    reported: Option<ReportedLatency>,
    single_requests: usize,
    notes: &'a [String],
}

/// What came out of a tool.
struct HeardOf {
    stderr: Vec<u8>,
    report: Option<Report>,
    /// Why there is no report.
    trouble: Option<String>,
}

fn heard(tool: &dyn Tool, ran: &Ran, folder: &Path) -> HeardOf {
    let nothing = |stderr, trouble| HeardOf { stderr, report: None, trouble: Some(trouble) };
    let Some(load) = ran.load.load() else {
        return nothing(Vec::new(), "its ran.json names no rate".to_owned());
    };
    let exit_code = ran.ended.and_then(|ended| ended.exit_code);
    // Wanted is what the present parser wants, which may be more than the one that was there when the tool was run.
    let found = Found { path: ran.found_at.clone().into(), version: ran.version.clone() };
    let wanted = tool.command(&found, &load, &folder.join(raw::WORK)).map_or_else(
        |_| ran.outputs.clone(),
        |invocation| invocation.outputs.into_iter().map(|(key, path)| (key.to_owned(), path)).collect(),
    );
    match raw::read(folder, exit_code, &wanted) {
        Err(error) => nothing(Vec::new(), format!("its output cannot be read: {error}")),
        Ok(output) => parsed(tool, output, &load),
    }
}

fn parsed(tool: &dyn Tool, output: Output, load: &truetail_tools::Load) -> HeardOf {
    match tool.parse(&output, load) {
        Ok(report) => HeardOf { stderr: output.stderr, report: Some(report), trouble: None },
        Err(error) => HeardOf { stderr: output.stderr, report: None, trouble: Some(error.to_string()) },
    }
}

/// A tool that ended by itself and gave a figure is ok, whatever its exit code; that is told.
fn judged(ran: &Ran, heard: &HeardOf, data: &Snapshot) -> (ToolState, Option<String>) {
    let Some(ended) = ran.ended else {
        return (ToolState::Failed, ran.trouble.clone().or_else(|| Some("it was never started".to_owned())));
    };
    if ended.by == EndedBy::TimeLimit {
        let limit = Nanos(ran.limit_ns).as_secs_f64();
        return (ToolState::Hung, Some(format!("it still ran after {limit:.1} s, and was ended with its children")));
    }
    let has_figures = heard.report.as_ref().is_some_and(|report| {
        !report.claims.quantiles.is_empty() || report.claims.max_ns.is_some() || data.tally.planned > 0
    });
    let ending = match (ended.exit_code, ended.signal) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit code {code}{}", said(&heard.stderr))),
        (None, signal) => Some(format!("ended by signal {}{}", signal.unwrap_or_default(), said(&heard.stderr))),
    };
    let trouble = heard.trouble.clone().or_else(|| ran.trouble.clone());
    match (has_figures, ending, trouble) {
        (true, ending, trouble) if ended.signal.is_none() => (ToolState::Ok, trouble.or(ending)),
        (_, ending, trouble) => {
            let why: Vec<String> = ending.into_iter().chain(trouble).collect();
            let why = if why.is_empty() { "it gave no figure".to_owned() } else { why.join("; ") };
            (ToolState::Failed, Some(why))
        }
    }
}

fn said(stderr: &[u8]) -> String {
    match last_line(stderr) {
        line if line.is_empty() => String::new(),
        line => format!(": {line}"),
    }
}
