//! The report of a lab, as text and as pictures.

use truetail_model::time::Nanos;
use truetail_run::{Findings, Run};
use truetail_sim::labs::{LabSeries, QUANTILES};

use crate::number;
use crate::output_file::OutputFile;
use crate::plot::{self, Curve, IntervalPlot, Picture, PictureError, Role};
use crate::style::Style;
use crate::table::{Align, TextTable};

/// Columns before each line.
const INDENT: usize = 2;

/// What is shown of a lab that was run.
#[derive(Clone, Debug)]
pub struct LabReport<'a> {
    /// The name of the lab.
    pub name: &'static str,
    /// What each way of measuring saw.
    pub series: Vec<SeriesReport<'a>>,
    /// What virtual time says of the same options; empty unless the lab was measured in real time.
    pub truth: Vec<SeriesReport<'a>>,
    /// The title of its pictures.
    pub(super) title: String,
    /// The set-up in a sentence.
    pub(super) subtitle: String,
    /// The columns of the table.
    pub(super) columns: Vec<Column>,
    /// Lines below the table.
    pub(super) figures: Vec<String>,
    /// Pictures besides the percentile spectrum: (file name without an ending, plot).
    pub(super) plots: Vec<(&'static str, IntervalPlot)>,
}

/// One way of measuring.
#[derive(Clone, Debug)]
pub struct SeriesReport<'a> {
    /// Such as `open-loop`.
    pub name: &'static str,
    /// How it is drawn.
    pub role: Role,
    /// All that was recorded.
    pub run: &'a Run,
    /// What follows from it.
    pub findings: Findings,
    /// Measured in real time, so that its verdict is shown.
    pub measured: bool,
    /// The slow requests, where the lab counts them.
    pub slow: Option<SlowRequests>,
}

/// Requests that took longer than a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlowRequests {
    /// The limit.
    pub limit: Nanos,
    /// How many took longer.
    pub requests: u64,
}

/// A column of the table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) head: String,
    /// A cell for each of [`QUANTILES`], then the number of requests; missing ones are empty.
    pub(super) cells: Vec<String>,
}

impl Column {
    /// The response times of a simulated series, and how many requests it had.
    pub(super) fn of_series(series: &LabSeries, head: &str) -> Column {
        let at = |q| series.quantile(q).map_or("–".to_owned(), |time| number::time(time.0));
        let cells = QUANTILES.into_iter().map(at).chain([number::count(series.count())]).collect();
        Column { head: head.to_owned(), cells }
    }
}

impl<'a> SeriesReport<'a> {
    /// A series of virtual time.
    pub(super) fn simulated(series: &'a LabSeries, role: Role) -> SeriesReport<'a> {
        let findings = truetail_analysis::findings(&series.run);
        SeriesReport { name: series.name, role, run: &series.run, findings, measured: false, slow: None }
    }

    /// The verdict and its reasons.
    fn verdict_lines(&self) -> impl Iterator<Item = String> + '_ {
        let verdict = &self.findings.verdict;
        let reasons = verdict.reasons.iter().map(|reason| format!("{}: {}", reason.code, reason.message));
        std::iter::once(format!("{}: {}", self.name, verdict.state.name())).chain(reasons)
    }
}

impl LabReport<'_> {
    /// The table, and below it the figures, the verdicts of what was measured, and where the runs were saved.
    pub fn text(&self, saved: Option<&str>, style: Style) -> String {
        let verdicts = self.series.iter().filter(|series| series.measured).flat_map(SeriesReport::verdict_lines);
        let saved = saved.map(|folder| format!("saved in {folder}"));
        let below = self.figures.iter().cloned().chain(verdicts).chain(saved);
        let wrapped = below.flat_map(|line| style.wrap(&line, style.columns() - INDENT));
        format!("{}\n{}", self.table(style), wrapped.map(|line| format!("  {line}\n")).collect::<String>())
    }

    fn table(&self, style: Style) -> String {
        let heads = self.heads();
        let align = |at: usize| if at == 0 { Align::Left } else { Align::Right };
        let columns: Vec<_> = heads.iter().enumerate().map(|(at, head)| (head.as_str(), align(at))).collect();
        let mut table = TextTable::new(&columns).with_gap(3);
        self.rows().into_iter().for_each(|row| table.row(row));
        table.lines(INDENT, style).into_iter().map(|line| line + "\n").collect()
    }

    /// Its title, and the set-up in a sentence.
    pub fn heading(&self) -> (&str, &str) {
        (&self.title, &self.subtitle)
    }

    /// The heads of its table.
    pub fn heads(&self) -> Vec<String> {
        std::iter::once(String::new()).chain(self.columns.iter().map(|column| column.head.clone())).collect()
    }

    /// The rows of its table, each with its name first.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let names = QUANTILES.map(number::quantile_name).into_iter().chain(["requests".to_owned()]);
        let cell = |column: &Column, row: usize| column.cells.get(row).cloned().unwrap_or_default();
        let row = |(row, name): (usize, String)| {
            std::iter::once(name).chain(self.columns.iter().map(|column| cell(column, row))).collect()
        };
        names.enumerate().map(row).collect()
    }

    /// The lines below its table.
    pub fn figures(&self) -> &[String] {
        &self.figures
    }

    /// Its pictures besides the percentile spectrum, each with what it shows.
    pub fn plots(&self) -> Vec<(Picture, String)> {
        self.plots.iter().map(|(_, plot)| (plot::intervals(plot), plot.quantity.clone())).collect()
    }

    /// Its pictures as files, the percentile spectrum last.
    ///
    /// # Errors
    /// [`PictureError`] when there is no memory for the pixels.
    pub fn pictures(&self) -> Result<Vec<OutputFile>, PictureError> {
        let mut files = Vec::new();
        for (name, plot) in &self.plots {
            files.extend(plot::intervals(plot).files(name)?);
        }
        files.extend(self.spectrum().files(plot::SPECTRUM)?);
        Ok(files)
    }

    /// The tails of all series, and the true one of the open loop if the lab was measured in real time.
    fn spectrum(&self) -> Picture {
        let series = self.series.iter().map(|series| Curve::of(series.name, series.role, series.run));
        let open = self.truth.iter().filter(|series| series.role == Role::Open);
        let truth = open.map(|series| Curve::of(format!("{}, truth", series.name), Role::Truth, series.run));
        plot::spectrum(&self.title, &self.subtitle, &series.chain(truth).collect::<Vec<_>>())
    }
}
