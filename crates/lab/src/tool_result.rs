//! The result of one tool, read from its files. It can be read again at any later time, with the parser of that time.

use std::fs;
use std::io;
use std::path::Path;

use truetail_analysis::league::{
    FileAudit, LeagueRow, ObservationWindow, ReportView, ReportedLatency, ServerView, StreamRow, StreamView, ToolState,
    ToolUnderTest, row, stream_row,
};
use truetail_model::record::Snapshot;
use truetail_model::time::Nanos;
use truetail_run::{Claims, StreamClaims};
use truetail_tools::{InstalledTool, LoadSpec, Tool, ToolOutput, ToolReport};

use crate::audited::audit;
use crate::process::EndedBy;
use crate::tool_files::{self, WORK_FOLDER};
use crate::tool_run::ToolRun;
use crate::trial::{EVENTS, TRUTH, last_line};
use crate::trial_plan::TrialPlan;
use crate::truth_log;

const REPORT: &str = "report.json";

/// The result of one tool.
#[derive(Debug)]
pub struct ToolResult {
    /// The record of the run.
    pub run: ToolRun,
    /// The server's view; `None` if its log cannot be read.
    pub server_view: Option<ServerView>,
    /// The streams that the server sent; `None` if its answers are not streams or the log of their events cannot be
    /// read.
    pub stream_view: Option<StreamView>,
    /// The tool's report; `None` if the report is missing or was not understood.
    pub report: Option<ToolReport>,
    /// The report's data as the record of a run.
    pub data: Snapshot,
    /// State of the tool at its end.
    pub state: ToolState,
    /// Reason of a failure, or a problem of a tool that did not fail.
    pub message: Option<String>,
    /// Audit of the file that the tool left.
    pub audit: Option<FileAudit>,
}

impl ToolResult {
    /// Reads the output that `tool` left in `folder`; `None` if no tool was run there.
    pub fn read(tool: &dyn Tool, folder: &Path) -> Option<ToolResult> {
        let run = ToolRun::read(folder)?;
        let (server_view, log_trouble) = match truth_log::read(&folder.join(TRUTH)) {
            Ok(view) => (Some(view), None),
            Err(trouble) => (None, Some(trouble)),
        };
        let stream_view = truth_log::read_streams(&folder.join(TRUTH), &folder.join(EVENTS)).ok();
        let parsed = ParsedOutput::read(tool, &run, folder);
        let data = parsed.report.as_ref().map(ToolReport::snapshot).unwrap_or_default();
        let (state, message) = state_of(&run, &parsed, &data);
        let audit = audit(folder, &parsed.files);
        let message = message.or(log_trouble);
        Some(ToolResult { server_view, stream_view, data, state, message, report: parsed.report, run, audit })
    }

    /// Writes the parsed figures as `report.json`, next to the raw files.
    pub fn write_report(&self, folder: &Path) -> io::Result<()> {
        let reported = self.report.as_ref().map(|report| ReportedLatency::from_claims(&report.claims, &self.data));
        let file = ReportFile {
            tool: &self.run.tool,
            version: &self.run.version,
            state: self.state,
            message: self.message.as_deref(),
            claims: self.report.as_ref().map(|report| &report.claims),
            streams: self.report.as_ref().and_then(|report| report.streams.as_ref()),
            reported,
            single_requests: self.report.as_ref().map_or(0, |report| report.requests.len()),
            notes: self.report.as_ref().map_or(&[], |report| &report.notes),
        };
        let json = serde_json::to_string_pretty(&file).map_err(io::Error::other)?;
        fs::write(folder.join(REPORT), json + "\n")
    }

    /// Returns the row of this result in the league table.
    pub fn row(&self, tool: &dyn Tool, plan: &TrialPlan, window: &ObservationWindow) -> LeagueRow {
        let version = self.report.as_ref().and_then(|report| report.version.as_deref());
        let cpu = self.run.ended.map(|ended| ended.cpu.total_ns() as f64 / 1e9);
        let subject = ToolUnderTest {
            tool: tool.name(),
            version: Some(self.run.version.as_str()).filter(|version| *version != "unknown").or(version),
            label_model: tool.info().label_model,
            state: self.state,
            message: self.message.as_deref(),
            server_view: self.server_view.as_ref(),
            report: self.report.as_ref().map(|report| ReportView {
                claims: &report.claims,
                data: &self.data,
                notes: &report.notes,
            }),
            cpu_seconds: cpu,
            peak_memory_bytes: self.run.ended.and_then(|ended| ended.peak_memory_bytes),
        };
        LeagueRow { audit: self.audit.clone(), ..row(&subject, &plan.truth, plan.rate, window) }
    }

    /// Returns the row of this result in the tables of streams. `whole` is its row in the league table. Returns `None`
    /// if the scenario has no streams.
    pub fn stream_row(&self, whole: &LeagueRow, plan: &TrialPlan) -> Option<StreamRow> {
        let claims = self.report.as_ref().and_then(|report| report.streams.as_ref());
        Some(stream_row(whole, claims, self.stream_view.as_ref(), plan.stream_truth.as_ref()?))
    }
}

#[derive(serde::Serialize)]
struct ReportFile<'a> {
    tool: &'a str,
    version: &'a str,
    state: ToolState,
    message: Option<&'a str>,
    claims: Option<&'a Claims>,
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<&'a StreamClaims>,
    reported: Option<ReportedLatency>,
    single_requests: usize,
    notes: &'a [String],
}

struct ParsedOutput {
    /// Output files as (key, pattern).
    files: Vec<(String, String)>,
    stderr: Vec<u8>,
    report: Option<ToolReport>,
    /// Reason that there is no report.
    trouble: Option<String>,
}

impl ParsedOutput {
    fn read(tool: &dyn Tool, run: &ToolRun, folder: &Path) -> ParsedOutput {
        let Some(load) = run.load.to_spec() else {
            return ParsedOutput::unreadable("its ran.json has no rate".to_owned());
        };
        let exit_code = run.ended.and_then(|ended| ended.exit_code);
        let files = wanted_files(tool, run, &load, folder);
        let parsed = match tool_files::read(folder, exit_code, &files) {
            Err(error) => ParsedOutput::unreadable(format!("its output cannot be read: {error}")),
            Ok(output) => ParsedOutput::parse(tool, output, &load),
        };
        ParsedOutput { files, ..parsed }
    }

    fn parse(tool: &dyn Tool, output: ToolOutput, load: &LoadSpec) -> ParsedOutput {
        match tool.parse(&output, load) {
            Ok(report) => {
                ParsedOutput { files: Vec::new(), stderr: output.stderr, report: Some(report), trouble: None }
            }
            Err(error) => ParsedOutput {
                files: Vec::new(),
                stderr: output.stderr,
                report: None,
                trouble: Some(error.to_string()),
            },
        }
    }

    fn unreadable(trouble: String) -> ParsedOutput {
        ParsedOutput { files: Vec::new(), stderr: Vec::new(), report: None, trouble: Some(trouble) }
    }
}

/// Returns the files that the present parser wants. The parser at the time of the run may have wanted fewer.
fn wanted_files(tool: &dyn Tool, run: &ToolRun, load: &LoadSpec, folder: &Path) -> Vec<(String, String)> {
    let installed = InstalledTool { path: run.found_at.clone().into(), version: run.version.clone() };
    match tool.command(&installed, load, &folder.join(WORK_FOLDER)) {
        Ok(invocation) => invocation.outputs.into_iter().map(|(key, path)| (key.to_owned(), path)).collect(),
        Err(_) => run.outputs.clone(),
    }
}

/// Returns the state of a tool. A tool that exited and reported a figure is ok. The message states a bad exit code.
fn state_of(run: &ToolRun, parsed: &ParsedOutput, data: &Snapshot) -> (ToolState, Option<String>) {
    let Some(ended) = run.ended else {
        return (ToolState::Failed, run.trouble.clone().or_else(|| Some("it was not started".to_owned())));
    };
    if ended.by == EndedBy::TimeLimit {
        let limit = Nanos(run.limit_ns).as_secs_f64();
        return (
            ToolState::Hung,
            Some(format!("it was still running after {limit:.1} s and was killed with its child processes")),
        );
    }
    let has_figures = parsed.report.as_ref().is_some_and(|report| {
        !report.claims.quantiles.is_empty() || report.claims.max_ns.is_some() || data.tally.planned > 0
    });
    let ending = match (ended.exit_code, ended.signal) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit code {code}{}", complaint(&parsed.stderr))),
        (None, signal) => Some(format!("ended by signal {}{}", signal.unwrap_or_default(), complaint(&parsed.stderr))),
    };
    let trouble = parsed.trouble.clone().or_else(|| run.trouble.clone());
    if has_figures && ended.signal.is_none() {
        return (ToolState::Ok, trouble.or(ending));
    }
    let why: Vec<String> = ending.into_iter().chain(trouble).collect();
    (ToolState::Failed, Some(if why.is_empty() { "it reported no figures".to_owned() } else { why.join("; ") }))
}

/// Returns the last line on standard error after a colon; empty if standard error is.
fn complaint(stderr: &[u8]) -> String {
    match last_line(stderr) {
        line if line.is_empty() => String::new(),
        line => format!(": {line}"),
    }
}
