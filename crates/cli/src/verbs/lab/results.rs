//! Results of a survey: the league, shown and saved.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use truetail_analysis::league::{LeagueRow, StreamRow, TimeRange};
use truetail_engine::host;
use truetail_lab::{LabRunner, ToolEntry, ToolResult, TrialPlan};
use truetail_report::league::{LeagueTable, ToolData, files, json, text};

use crate::error::{Result, runtime_error};
use crate::output;
use crate::output_folder::{utc_stamp, write_files};

pub(super) struct Results<'a> {
    setting: &'a TrialPlan,
    window: Vec<TimeRange>,
    rows: Vec<LeagueRow>,
    streams: Vec<StreamRow>,
    entries: &'a [ToolEntry],
}

impl<'a> Results<'a> {
    /// Collects the results of these tools.
    pub(super) fn collect(survey: &LabRunner<'a>, entries: &'a [ToolEntry]) -> Results<'a> {
        let rows = survey.league(entries);
        let window = survey.window().stretches;
        let streams = survey.stream_league(entries, &rows);
        Results { setting: survey.plan, window, rows, streams, entries }
    }

    /// Returns the tables for a terminal, and the path of the saved page.
    pub(super) fn text(&self, folder: &Path) -> String {
        let page = folder.join("league.html");
        let tables = text(&self.table(), output::stdout_style());
        format!("{tables}\n  plots and tables: {}\n", page.display())
    }

    /// Returns the tables as JSON.
    pub(super) fn json(&self) -> String {
        json(&self.table())
    }

    /// Writes tables and pictures into `folder`.
    ///
    /// # Errors
    /// If a file cannot be written, or memory for a picture is lacking.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let files = files(&self.table(), &self.data(), &self.provenance()).map_err(runtime_error)?;
        write_files(folder, &files)
    }

    fn table(&self) -> LeagueTable<'_> {
        LeagueTable {
            scenario: &self.setting.scenario,
            duration: self.setting.duration,
            truth: &self.setting.truth,
            window: &self.window,
            rows: &self.rows,
            streams: self.setting.stream_truth.as_ref().map(|truth| (truth, self.streams.as_slice())),
        }
    }

    fn data(&self) -> Vec<ToolData<'_>> {
        let reading = |row: &LeagueRow| {
            let entry = self.entries.iter().find(|entry| entry.tool.name() == row.tool)?;
            entry.result.as_ref()
        };
        self.rows.iter().filter_map(|row| reading(row).map(|reading| data_of(row, reading))).collect()
    }

    /// Returns when and on which machine the tools ran, and the version that read their output.
    fn provenance(&self) -> String {
        let newest = self.entries.iter().filter_map(|entry| Some(entry.result.as_ref()?.run.started_at_unix_ns)).max();
        let when = newest.map_or("never".to_owned(), |ns| utc_stamp(UNIX_EPOCH + Duration::from_nanos(ns)));
        let host = host::describe();
        let cpu = host.cpu_model.unwrap_or(host.arch);
        let kernel = host.kernel.unwrap_or(host.os);
        format!("Last run {when}; {} × {cpu}, {kernel}; read by truetail {}", host.cpus, env!("CARGO_PKG_VERSION"))
    }
}

fn data_of<'a>(row: &'a LeagueRow, reading: &'a ToolResult) -> ToolData<'a> {
    let report = reading.report.as_ref();
    let printed = report.map_or(Vec::new(), |report| {
        let quantiles = report.claims.quantiles.iter().map(|claimed| (claimed.q, claimed.value_ns));
        quantiles.chain(report.claims.max_ns.map(|max| (1.0, max))).collect()
    });
    let mut requests: Vec<(u64, u64)> = report.map_or(Vec::new(), |report| {
        report.requests.iter().filter_map(|request| Some((request.start_ns?, request.latency.0))).collect()
    });
    let first = requests.iter().map(|(start, _)| *start).min().unwrap_or_default();
    requests.iter_mut().for_each(|(start, _)| *start -= first);
    ToolData { row, data: &reading.data, points: printed, requests }
}
