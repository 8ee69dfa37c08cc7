//! A lab: run, saved, printed.

use std::path::Path;

use truetail_model::time::Nanos;
use truetail_report::number;
use truetail_report::plot::{self, Curve, Picture, Role};
use truetail_run::{Findings, Run};
use truetail_sim::labs::{LabError, LabSeries};

use super::experiment::{Clock, Experiment};
use super::{every_nth, freeze, json, order_router, pictures, real_time};
use crate::outcome::{Exit, Failure, Result, could_not, usage};
use crate::output;
use crate::target_folder::{Place, TargetFolder};

/// A lab that was run.
pub struct Lab {
    /// Its name on the command line.
    pub name: &'static str,
    /// What each way of measuring saw.
    pub lines: Vec<Line>,
    /// Of a lab in real time: the same in virtual time.
    pub truth: Vec<Line>,
    /// For the picture of all tails.
    pub title: String,
    /// What was asked, in a sentence.
    pub subtitle: String,
    /// Columns of the table: a head, and a cell for each quantile, then the number of requests.
    pub columns: Vec<Column>,
    /// What the table does not say.
    pub figures: Vec<String>,
    /// What is written beside the runs, made when it is to be.
    pub files: MakeFiles,
}

/// Files: (name, bytes).
pub type Files = Vec<(String, Vec<u8>)>;

/// From the picture of all tails to all files, that picture among them.
pub type MakeFiles = Box<dyn FnOnce(Files) -> Result<Files>>;

/// One way of measuring.
pub struct Line {
    /// Such as `open-loop`.
    pub name: &'static str,
    /// What it is.
    pub role: Role,
    /// All that was recorded.
    pub run: Run,
    /// What follows from it.
    pub findings: Findings,
    /// In real time, so that it has a verdict worth telling.
    pub measured: bool,
    /// How many requests were slow, where the lab asks that.
    pub slow: Option<Slow>,
}

/// Requests that took longer than a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slow {
    /// The limit.
    pub limit: Nanos,
    /// How many took longer.
    pub requests: u64,
}

/// A column of a table.
pub struct Column {
    /// What stands above it.
    pub head: String,
    /// A cell for each row.
    pub cells: Vec<String>,
}

impl Line {
    /// A series of virtual time.
    pub fn simulated(series: LabSeries, role: Role) -> Line {
        let findings = truetail_analysis::findings(&series.run);
        Line { name: series.name, role, run: series.run, findings, measured: false, slow: None }
    }
}

/// The response time of a simulated series at each quantile, then how many requests it had.
pub fn column(series: &LabSeries, head: &str) -> Column {
    let at = |q| series.quantile(q).map_or("–".to_owned(), |time| number::time(time.0));
    let cells = truetail_sim::labs::QUANTILES.into_iter().map(at).chain([number::count(series.count())]).collect();
    Column { head: head.to_owned(), cells }
}

/// What is wrong with an experiment: an option, or what came of it.
pub fn refused(name: &str, error: &LabError) -> Failure {
    let message = format!("{name}: {error}");
    match error {
        LabError::Unanswered { .. } | LabError::Simulation(_) => could_not(message),
        _ => usage(message),
    }
}

/// Runs a lab, saves each series as a run where asked, and prints it.
///
/// # Errors
/// When an option is out of range, or it cannot be saved or printed.
pub fn perform(experiment: Experiment, out: Option<&Path>, as_json: bool) -> Result<Exit> {
    let folders = Folders::prepare(experiment.series(), out)?;
    let lab = run(experiment)?;
    let text = if as_json { json::of_lab(&lab) } else { text(&lab, out) };
    let exit = Exit::of(lab.lines.iter().filter(|line| line.measured).map(|line| &line.findings.verdict));
    folders.save(lab)?;
    output::print(&text).map(|()| exit)
}

fn run(experiment: Experiment) -> Result<Lab> {
    match experiment {
        Experiment::Freeze(options) => freeze::run(&options),
        Experiment::EveryNth { options, clock: Clock::Virtual } => every_nth::run(&options),
        Experiment::EveryNth { options, clock: Clock::Wall { quiet } } => real_time::run(&options, quiet),
        Experiment::OrderRouter(options) => order_router::run(&options),
    }
}

/// The folders of a lab, found fit before it begins.
struct Folders<'a> {
    parent: Option<&'a Path>,
    runs: Vec<TargetFolder>,
}

impl Folders<'_> {
    fn prepare<'a>(series: &[&str], out: Option<&'a Path>) -> Result<Folders<'a>> {
        let mut runs = Vec::new();
        for name in series {
            let place = out.map_or(Place::Nowhere, |parent| Place::Chosen(parent.join(name)));
            runs.extend(TargetFolder::prepare(&place, name)?);
        }
        Ok(Folders { parent: out, runs })
    }

    fn save(mut self, lab: Lab) -> Result<()> {
        let Some(parent) = self.parent else { return Ok(()) };
        for (folder, line) in std::mem::take(&mut self.runs).into_iter().zip(&lab.lines) {
            folder.save(&line.run, &line.findings)?;
        }
        let picture = pictures::drawn(pictures::SPECTRUM, &spectrum(&lab))?;
        pictures::write(parent, &(lab.files)(picture)?)
    }
}

impl Drop for Folders<'_> {
    /// The first was made with its parents, so it goes last.
    fn drop(&mut self) {
        while self.runs.pop().is_some() {}
    }
}

/// The tails of all series, and the truth of the open loop where it is another.
fn spectrum(lab: &Lab) -> Picture {
    let measured = lab.lines.iter().map(|line| Curve::of(line.name, line.role, &line.run));
    let open = lab.truth.iter().filter(|line| line.role == Role::Open);
    let truth = open.map(|line| Curve::of(format!("{}, truth", line.name), Role::Truth, &line.run));
    plot::spectrum(&lab.title, &lab.subtitle, &measured.chain(truth).collect::<Vec<_>>())
}

/// The table, and below it what it does not say.
fn text(lab: &Lab, saved: Option<&Path>) -> String {
    let doubts = lab.lines.iter().filter(|line| line.measured).flat_map(doubts);
    let saved = saved.map(|folder| format!("saved in {}", folder.display()));
    let below = lab.figures.iter().cloned().chain(doubts).chain(saved).map(|line| format!("  {line}\n"));
    format!("{}\n{}", table(&lab.columns), below.collect::<String>())
}

fn doubts(line: &Line) -> impl Iterator<Item = String> + '_ {
    let verdict = &line.findings.verdict;
    let state = verdict.state.name();
    let reasons = verdict.reasons.iter().map(|reason| format!("  {}: {}", reason.code, reason.message));
    std::iter::once(format!("{}: {state}", line.name)).chain(reasons)
}

/// A row for each quantile, then the number of requests.
fn table(columns: &[Column]) -> String {
    let heads = truetail_sim::labs::QUANTILES.map(number::quantile_name).into_iter().chain(["requests".to_owned()]);
    let row = |head: &str, cell: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().map(|column| format!("{:>width$}", cell(column), width = column.width()));
        let text = format!("  {head:<8}{}", cells.collect::<String>());
        format!("{}\n", text.trim_end())
    };
    let mut text = row("", &|column| column.head.clone());
    for (number, head) in heads.enumerate() {
        text.push_str(&row(&head, &|column| column.cells.get(number).cloned().unwrap_or_default()));
    }
    text
}

impl Column {
    /// Of its widest cell, and the space before it.
    fn width(&self) -> usize {
        let cells = self.cells.iter().chain([&self.head]).map(|cell| cell.chars().count());
        cells.max().unwrap_or_default() + 3
    }
}
