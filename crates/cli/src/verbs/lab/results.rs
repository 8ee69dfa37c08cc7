//! What a survey comes to: tables and pictures, in words, for programs, and as files.

use std::fs;
use std::path::Path;

use serde::Serialize;
use truetail_analysis::league::{QUANTILES, Row, Stretch};
use truetail_engine::host;
use truetail_lab::{Entry, Reading, Setting, Survey};
use truetail_model::time::NANOS_PER_SECOND;
use truetail_report::Style;
use truetail_report::league::{LeagueTable, ToolData, csv, html, markdown, pictures, text};

use crate::outcome::{Result, could_not};
use crate::{output, utc};

/// A survey that was read.
pub struct Results<'a> {
    setting: &'a Setting,
    window: Vec<Stretch>,
    rows: Vec<Row>,
    entries: &'a [Entry],
}

impl<'a> Results<'a> {
    /// Of these tools.
    pub fn of(survey: &Survey<'a>, entries: &'a [Entry]) -> Results<'a> {
        let (rows, window) = (survey.league(entries), survey.window().stretches);
        Results { setting: survey.setting, window, rows, entries }
    }

    /// The tables for a terminal.
    pub fn text(&self, style: Style) -> String {
        text(&self.table(), style)
    }

    /// The table for programs.
    pub fn json(&self) -> String {
        let at = |q: &f64| True { q: *q, value_ns: self.setting.truth.quantile(*q).map(|value| value.0) };
        let league = League {
            scenario: &self.setting.scenario.name,
            duration_ns: self.setting.duration.0,
            truth: Quantiles { quantiles: QUANTILES.iter().map(at).collect() },
            window: &self.window,
            tools: &self.rows,
        };
        serde_json::to_string_pretty(&league).expect("every key is a text and every value has a JSON form") + "\n"
    }

    /// Writes tables and pictures into `folder`.
    ///
    /// # Errors
    /// When the system refuses, or there is no memory for a picture.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let table = self.table();
        let pictures = pictures(&table, &self.data());
        let mut files: Vec<(String, Vec<u8>)> = vec![
            ("league.txt".to_owned(), text(&table, Style { width: 100, ..Style::default() }).into_bytes()),
            ("league.json".to_owned(), self.json().into_bytes()),
            ("league.csv".to_owned(), csv(&table).into_bytes()),
            ("league.html".to_owned(), html(&table, &pictures, &self.made()).into_bytes()),
        ];
        let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
        files.push(("league.md".to_owned(), markdown(&table, &names, &self.made()).into_bytes()));
        for (name, picture) in &pictures {
            let png = picture.png().map_err(|error| could_not(format!("{name}.png: {error}")))?;
            files.push((format!("{name}.svg"), picture.svg().as_bytes().to_vec()));
            files.push((format!("{name}.png"), png));
        }
        files.iter().try_for_each(|(name, content)| {
            let path = folder.join(name);
            fs::write(&path, content).map_err(|error| could_not(format!("cannot write {}: {error}", path.display())))
        })
    }

    fn table(&self) -> LeagueTable<'_> {
        LeagueTable {
            scenario: &self.setting.scenario,
            duration: self.setting.duration,
            truth: &self.setting.truth,
            window: &self.window,
            rows: &self.rows,
        }
    }

    fn data(&self) -> Vec<ToolData<'_>> {
        let reading = |row: &Row| {
            let entry = self.entries.iter().find(|entry| entry.tool.name() == row.tool)?;
            entry.reading.as_ref()
        };
        self.rows.iter().filter_map(|row| reading(row).map(|reading| data_of(row, reading))).collect()
    }

    /// When, where and by whom.
    fn made(&self) -> String {
        let newest = self.entries.iter().filter_map(|entry| Some(entry.reading.as_ref()?.ran.started_at_unix_ns)).max();
        let when = newest.map_or("never".to_owned(), |ns| utc::stamp(ns / NANOS_PER_SECOND));
        let host = host::describe();
        let cpu = host.cpu_model.unwrap_or(host.arch);
        let kernel = host.kernel.unwrap_or(host.os);
        format!("Last run {when}; {} × {cpu}, {kernel}; read by truetail {}", host.cpus, env!("CARGO_PKG_VERSION"))
    }
}

fn data_of<'a>(row: &'a Row, reading: &'a Reading) -> ToolData<'a> {
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

#[derive(Serialize)]
struct League<'a> {
    scenario: &'a str,
    duration_ns: u64,
    truth: Quantiles,
    /// When the service could not answer, or was slow, on the fault clock.
    window: &'a [Stretch],
    tools: &'a [Row],
}

#[derive(Serialize)]
struct Quantiles {
    quantiles: Vec<True>,
}

/// One quantile of the truth; no value where no answer ever comes.
#[derive(Serialize)]
struct True {
    q: f64,
    value_ns: Option<u64>,
}

/// The tables, and where everything is kept.
pub fn shown(results: &Results<'_>, folder: &Path) -> String {
    let page = folder.join("league.html");
    format!("{}\n  pictures and tables: {}\n", results.text(output::stdout_style()), page.display())
}
