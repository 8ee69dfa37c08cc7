//! Runs several tools through one scenario, one after the other.

use std::io;
use std::path::{Path, PathBuf};

use truetail_analysis::league::{
    LeagueRow, ObservationWindow, StreamRow, ToolState, ToolUnderTest, rank, rank_streams, row, window,
};
use truetail_model::time::Nanos;
use truetail_tools::{InstalledTool, SearchPath, Tool, ToolNotFound};

use crate::cancel::CancelToken;
use crate::tool_result::ToolResult;
use crate::tool_run::ToolRun;
use crate::trial::{check_overwritable, run_trial};
use crate::trial_plan::{TrialPlan, USERS};

/// Time to start a tool and to tidy up, used to estimate the time left.
const OVERHEAD: Nanos = Nanos::from_secs(3);

/// Runs tools, keeps their results in a folder, and compares them in a league table.
#[derive(Clone, Debug)]
pub struct LabRunner<'a> {
    /// The load and the time limits of every tool.
    pub plan: &'a TrialPlan,
    /// Folder of the scenario, with a subfolder for each tool.
    pub folder: &'a Path,
    /// Run tools again even if they have a result.
    pub force: bool,
}

/// A tool in a laboratory run.
pub struct ToolEntry {
    /// The tool.
    pub tool: &'static dyn Tool,
    /// Location of the installed tool, or a description of what is missing.
    pub found: Result<InstalledTool, ToolNotFound>,
    /// Result of the tool; `None` if it was never run in this folder.
    pub result: Option<ToolResult>,
}

/// Progress of a laboratory run.
#[derive(Debug)]
pub enum LabEvent<'a> {
    /// A tool is about to run.
    Starting {
        /// Name of the tool.
        tool: &'static str,
        /// Version of the tool.
        version: &'a str,
        /// Its position among the tools to run, from 1.
        number: usize,
        /// Number of tools to run.
        of: usize,
        /// Estimated time until all tools are done.
        left: Nanos,
    },
    /// A tool has run.
    Finished {
        /// Name of the tool.
        tool: &'static str,
        /// Its result; `None` if the user cancelled it.
        result: Option<&'a ToolResult>,
    },
    /// The result of an earlier run is used.
    Reused {
        /// Name of the tool.
        tool: &'static str,
        /// The earlier result.
        result: &'a ToolResult,
    },
    /// A tool is not installed.
    NotFound {
        /// Name of the tool.
        tool: &'static str,
        /// The program or file that was not found.
        missing: &'a ToolNotFound,
        /// Command that installs the tool.
        install: &'static str,
    },
}

impl LabRunner<'_> {
    /// Returns the folder of a tool.
    pub fn folder_of(&self, tool: &dyn Tool) -> PathBuf {
        self.folder.join(tool.name())
    }

    /// Runs `tools` in turn, each against a fresh server, and reads their results. A tool with a result of the same
    /// scenario and version is not run again, unless `force` is set. Cancelling `token` ends the running tool and
    /// starts no other.
    ///
    /// # Errors
    /// If the folder of any tool holds foreign files (see [`check_overwritable`]); no tool runs in this case. If no
    /// server can be started, or a folder cannot be written.
    pub fn run(
        &self,
        tools: &[&'static dyn Tool],
        search_path: &SearchPath,
        token: &CancelToken,
        tell: &mut dyn FnMut(LabEvent<'_>),
    ) -> io::Result<Vec<ToolEntry>> {
        let mut entries: Vec<ToolEntry> = tools.iter().map(|tool| self.entry(*tool, search_path)).collect();
        let due: Vec<usize> = (0..entries.len()).filter(|i| is_due(&entries[*i])).collect();
        for index in &due {
            check_overwritable(&self.folder_of(entries[*index].tool))?;
        }
        for entry in &entries {
            self.report_skipped(entry, tell);
        }
        for (number, index) in due.iter().enumerate() {
            let entry = &mut entries[*index];
            let Ok(found) = &entry.found else { continue };
            let left = Nanos((due.len() - number) as u64 * (self.plan.duration + OVERHEAD).0);
            tell(LabEvent::Starting {
                tool: entry.tool.name(),
                version: &found.version,
                number: number + 1,
                of: due.len(),
                left,
            });
            let tool_run = run_trial(entry.tool, found, self.plan, &self.folder_of(entry.tool), token)?;
            entry.result = self.read(entry.tool)?;
            let result = entry.result.as_ref().filter(|_| !tool_run.was_interrupted());
            tell(LabEvent::Finished { tool: entry.tool.name(), result });
            if token.is_cancelled() {
                break;
            }
        }
        Ok(entries)
    }

    /// Returns the `tools` that have a result of this scenario from an earlier run.
    pub fn earlier(&self, tools: &[&'static dyn Tool], search_path: &SearchPath) -> io::Result<Vec<ToolEntry>> {
        let mut entries = Vec::new();
        for tool in tools {
            if self.earlier_run(*tool, None).is_some() {
                entries.push(ToolEntry { tool: *tool, found: tool.locate(search_path), result: self.read(*tool)? });
            }
        }
        Ok(entries)
    }

    fn entry(&self, tool: &'static dyn Tool, search_path: &SearchPath) -> ToolEntry {
        let found = tool.locate(search_path);
        let earlier = self.earlier_run(tool, found.as_ref().ok()).filter(|_| !self.force || found.is_err());
        let result = earlier.and_then(|_| self.read(tool).ok().flatten());
        ToolEntry { tool, found, result }
    }

    fn report_skipped(&self, entry: &ToolEntry, tell: &mut dyn FnMut(LabEvent<'_>)) {
        match (&entry.result, &entry.found) {
            (Some(result), _) => tell(LabEvent::Reused { tool: entry.tool.name(), result }),
            (None, Err(missing)) => {
                tell(LabEvent::NotFound {
                    tool: entry.tool.name(),
                    missing,
                    install: entry.tool.info().install.debian,
                });
            }
            (None, Ok(_)) => {}
        }
    }

    /// Returns an earlier run of the same scenario, and of the same version if the installed version is known.
    fn earlier_run(&self, tool: &dyn Tool, found: Option<&InstalledTool>) -> Option<ToolRun> {
        let tool_run = ToolRun::read(&self.folder_of(tool))?;
        let same_version = found.is_none_or(|found| found.version == tool_run.version);
        (tool_run.scenario == self.plan.scenario.to_toml() && same_version).then_some(tool_run)
    }

    fn read(&self, tool: &dyn Tool) -> io::Result<Option<ToolResult>> {
        let folder = self.folder_of(tool);
        let result = ToolResult::read(tool, &folder);
        if let Some(result) = &result {
            result.write_report(&folder)?;
        }
        Ok(result)
    }

    /// Returns the league table, best tool first.
    pub fn league(&self, entries: &[ToolEntry]) -> Vec<LeagueRow> {
        let mut rows: Vec<LeagueRow> = entries.iter().filter_map(|entry| self.row(entry)).collect();
        rank(&mut rows);
        rows
    }

    /// Returns the rows of the tables of streams, best tool first; empty if the scenario has no streams.
    pub fn stream_league(&self, entries: &[ToolEntry], league: &[LeagueRow]) -> Vec<StreamRow> {
        let result = |row: &LeagueRow| entries.iter().find(|entry| entry.tool.name() == row.tool)?.result.as_ref();
        let mut rows: Vec<StreamRow> =
            league.iter().filter_map(|row| result(row)?.stream_row(row, self.plan)).collect();
        rank_streams(&mut rows);
        rows
    }

    /// Returns the parts of the scenario that reveal the load model of a tool.
    pub fn window(&self) -> ObservationWindow {
        window(&self.plan.scenario, USERS)
    }

    /// Returns these parts of the scenario for a closed loop with the number of users of `tool`.
    fn window_of(&self, tool: &dyn Tool) -> ObservationWindow {
        window(&self.plan.scenario, tool.users(&self.plan.load(String::new())))
    }

    /// Returns the row of a tool; `None` if the tool is installed but was not run because the user cancelled.
    fn row(&self, entry: &ToolEntry) -> Option<LeagueRow> {
        let window = self.window_of(entry.tool);
        if let Some(result) = &entry.result {
            return Some(result.row(entry.tool, self.plan, &window));
        }
        let missing = entry.found.as_ref().err()?;
        let message = format!("{missing}; {}", entry.tool.info().install.debian);
        let subject = ToolUnderTest {
            tool: entry.tool.name(),
            version: None,
            label_model: entry.tool.info().label_model,
            state: ToolState::Missing,
            message: Some(&message),
            server_view: None,
            report: None,
            cpu_seconds: None,
            peak_memory_bytes: None,
        };
        Some(row(&subject, &self.plan.truth, self.plan.rate, &window))
    }
}

fn is_due(entry: &ToolEntry) -> bool {
    entry.result.is_none() && entry.found.is_ok()
}
