//! The report of a lab, as text and as pictures.

use truetail_model::time::Nanos;
use truetail_run::{Findings, Run};
use truetail_sim::labs::{LabSeries, QUANTILES};

use crate::number;
use crate::output_file::OutputFile;
use crate::plot::{self, Curve, IntervalPlot, Picture, PictureError, Role};
use crate::style::Style;
use crate::table::{Align, TextTable};

const INDENT: usize = 2;

/// Report of a lab.
#[derive(Clone, Debug)]
pub struct LabReport<'a> {
    /// Name of the lab.
    pub name: &'static str,
    /// Results of each way of measuring.
    pub series: Vec<SeriesReport<'a>>,
    /// Results of the same options in virtual time; empty unless the lab was measured in real time.
    pub truth: Vec<SeriesReport<'a>>,
    pub(super) title: String,
    /// The set-up in a sentence.
    pub(super) subtitle: String,
    pub(super) columns: Vec<Column>,
    pub(super) figures: Vec<String>,
    /// Pictures besides the percentile spectrum: (file name without extension, plot).
    pub(super) plots: Vec<(&'static str, IntervalPlot)>,
}

/// Results of one way of measuring.
#[derive(Clone, Debug)]
pub struct SeriesReport<'a> {
    /// Name, such as `open-loop`.
    pub name: &'static str,
    /// Role in pictures.
    pub role: Role,
    /// The recorded run.
    pub run: &'a Run,
    /// Findings about the run.
    pub findings: Findings,
    /// True if it was measured in real time, so that its verdict is shown.
    pub measured: bool,
    /// The slow requests, if the lab counts them.
    pub slow: Option<SlowRequests>,
}

/// Requests that took longer than a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlowRequests {
    /// The limit.
    pub limit: Nanos,
    /// Number of requests above the limit.
    pub requests: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) head: String,
    /// A cell for each of [`QUANTILES`], then the number of requests. Missing cells are empty.
    pub(super) cells: Vec<String>,
}

impl Column {
    /// Returns the response times of a simulated series, and its number of requests.
    pub(super) fn for_series(series: &LabSeries, head: &str) -> Column {
        let at = |q| series.quantile(q).map_or("–".to_owned(), |time| number::time(time.0));
        let cells = QUANTILES.into_iter().map(at).chain([number::count(series.count())]).collect();
        Column { head: head.to_owned(), cells }
    }
}

impl<'a> SeriesReport<'a> {
    pub(super) fn simulated(series: &'a LabSeries, role: Role) -> SeriesReport<'a> {
        let findings = truetail_analysis::findings(&series.run);
        SeriesReport { name: series.name, role, run: &series.run, findings, measured: false, slow: None }
    }

    fn verdict_lines(&self) -> impl Iterator<Item = String> + '_ {
        let verdict = &self.findings.verdict;
        let reasons = verdict.reasons.iter().map(|reason| format!("{}: {}", reason.code, reason.message));
        std::iter::once(format!("{}: {}", self.name, verdict.state.name())).chain(reasons)
    }
}

impl LabReport<'_> {
    /// Formats the table, and below it the figures, the verdicts of measured series, and the folder of the saved runs.
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

    /// Returns the title, and the set-up in a sentence.
    pub fn heading(&self) -> (&str, &str) {
        (&self.title, &self.subtitle)
    }

    /// Returns the column heads of the table.
    pub fn heads(&self) -> Vec<String> {
        std::iter::once(String::new()).chain(self.columns.iter().map(|column| column.head.clone())).collect()
    }

    /// Returns the rows of the table, each with its name first.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let names = QUANTILES.map(number::quantile_name).into_iter().chain(["requests".to_owned()]);
        let cell = |column: &Column, row: usize| column.cells.get(row).cloned().unwrap_or_default();
        let row = |(row, name): (usize, String)| {
            std::iter::once(name).chain(self.columns.iter().map(|column| cell(column, row))).collect()
        };
        names.enumerate().map(row).collect()
    }

    /// Returns the lines below the table.
    pub fn figures(&self) -> &[String] {
        &self.figures
    }

    /// Returns the pictures besides the percentile spectrum, each with its quantity.
    pub fn plots(&self) -> Vec<(Picture, String)> {
        self.plots.iter().map(|(_, plot)| (plot::intervals(plot), plot.quantity.clone())).collect()
    }

    /// Returns the pictures as files, the percentile spectrum last. Fails if there is no memory for the pixels.
    pub fn pictures(&self) -> Result<Vec<OutputFile>, PictureError> {
        let mut files = Vec::new();
        for (name, plot) in &self.plots {
            files.extend(plot::intervals(plot).files(name)?);
        }
        files.extend(self.spectrum().files(plot::SPECTRUM)?);
        Ok(files)
    }

    /// Draws the tails of all series. For a lab measured in real time, the picture also has the true tail of the open
    /// loop.
    fn spectrum(&self) -> Picture {
        let series = self.series.iter().map(|series| Curve::from_run(series.name, series.role, series.run));
        let open = self.truth.iter().filter(|series| series.role == Role::Open);
        let truth = open.map(|series| Curve::from_run(format!("{}, truth", series.name), Role::Truth, series.run));
        plot::spectrum(&self.title, &self.subtitle, &series.chain(truth).collect::<Vec<_>>())
    }
}
