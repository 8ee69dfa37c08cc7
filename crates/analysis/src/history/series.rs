//! The series that runs make, and its changes.

use truetail_run::VerdictState;

use super::figure::{HistoryFigure, HistoryRun};
use super::levels::{Level, levels};
use super::point::Point;
use super::scan::smallest_shown;
use crate::compare::{ExpectedDifference, differences_except};

/// Limit on the runs that a series has: the newest.
const MAX_RUNS: usize = 2_000;

/// A run, and whether it belongs to the series.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its folder.
    pub folder: String,
    /// Its commit, if a label says so.
    pub commit: Option<String>,
    /// Reason why it is left out; `None` if it is used.
    pub left_out: Option<String>,
}

/// A series of runs, oldest first.
#[derive(Clone, PartialEq, Debug)]
pub struct History {
    /// Every run.
    pub runs: Vec<Member>,
    /// The percentiles, and other figures, for which the series has points.
    pub percentiles: Vec<PercentileHistory>,
}

/// A percentile, or another figure, in a series.
#[derive(Clone, PartialEq, Debug)]
pub struct PercentileHistory {
    /// The figure.
    pub figure: HistoryFigure,
    /// Places of the runs that have it, in [`History::runs`].
    pub runs: Vec<usize>,
    /// The points, one for each of these runs.
    pub points: Vec<Point>,
    /// Its levels, oldest first.
    pub levels: Vec<Level>,
    /// Its changes, oldest first.
    pub changes: Vec<Change>,
    /// Smallest shift that five further runs would show, as a share.
    pub smallest_shown: f64,
}

/// A change between two runs that follow each other in the series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Change {
    /// Place of the last run before it, in [`History::runs`].
    pub before: usize,
    /// Place of the first run after it.
    pub after: usize,
    /// Level before it, nanoseconds.
    pub before_ns: f64,
    /// Level after it, nanoseconds.
    pub after_ns: f64,
    /// Level after it divided by the level before it.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl History {
    /// Returns the places of the runs since the latest change of any percentile, oldest first.
    pub fn newest_level(&self) -> Vec<usize> {
        let changes = self.percentiles.iter().filter_map(|found| found.changes.last());
        let since = changes.map(|change| change.after).max().unwrap_or(0);
        let is_used = |at: &usize| self.runs[*at].left_out.is_none();
        (since..self.runs.len()).filter(is_used).collect()
    }
}

/// Finds the changes in a series of runs, which are given oldest first. Runs that cannot be compared with the newest
/// valid one are left out, except for the `expected` difference.
pub fn history(runs: &[HistoryRun], expected: ExpectedDifference) -> History {
    let newest = runs.iter().rev().find(|run| own_fault(run).is_none());
    let oldest_used = runs.len().saturating_sub(MAX_RUNS);
    let member = |(at, run): (usize, &HistoryRun)| {
        let too_old = || (at < oldest_used).then(|| format!("a series has the newest {MAX_RUNS} runs"));
        let differs = || newest.and_then(|newest| difference(newest, run, expected));
        let twice = || is_again(&runs[..at], run).then(|| "it is a copy of an earlier run".to_owned());
        Member {
            folder: run.folder.clone(),
            commit: run.facts.tags.get("commit").cloned(),
            left_out: too_old().or_else(|| own_fault(run)).or_else(differs).or_else(twice),
        }
    };
    let members: Vec<Member> = runs.iter().enumerate().map(member).collect();
    let figures = HistoryFigure::of(runs);
    let percentiles = figures.into_iter().filter_map(|of| PercentileHistory::new(of, runs, &members)).collect();
    History { runs: members, percentiles }
}

/// Returns why the numbers of a run mean nothing, whatever it is compared with.
fn own_fault(run: &HistoryRun) -> Option<String> {
    if run.facts.checkpoint.is_some() {
        return Some("it never ended".to_owned());
    }
    let why = run.verdict.reasons.first().map_or("", |reason| reason.code.as_str());
    (run.verdict.state == VerdictState::Invalid).then(|| format!("it is INVALID ({why})"))
}

fn difference(newest: &HistoryRun, run: &HistoryRun, expected: ExpectedDifference) -> Option<String> {
    let (what, here, there) = differences_except(expected, &run.facts, &newest.facts).into_iter().next()?;
    Some(format!("{what} is {here}, and {there} in the newest run"))
}

/// Returns true if the run is among `earlier`, which are in the order of their starts.
fn is_again(earlier: &[HistoryRun], run: &HistoryRun) -> bool {
    let last = earlier.last().filter(|_| run.facts.started_at_unix_ns.is_some());
    last.is_some_and(|last| {
        last.facts.started_at_unix_ns == run.facts.started_at_unix_ns && last.facts.elapsed_ns == run.facts.elapsed_ns
    })
}

impl PercentileHistory {
    fn new(figure: HistoryFigure, all: &[HistoryRun], members: &[Member]) -> Option<PercentileHistory> {
        let used = all.iter().zip(members).enumerate().filter(|(_, (_, member))| member.left_out.is_none());
        let (runs, points): (Vec<usize>, Vec<Point>) =
            used.filter_map(|(at, (run, _))| Some((at, figure.point(run)?))).unzip();
        if points.is_empty() {
            return None;
        }
        let levels = levels(&points);
        let changes = levels.windows(2).map(|pair| Change::between(&pair[0], &pair[1], &runs)).collect();
        let newest = &points[levels[levels.len() - 1].points.clone()];
        let smallest_shown = smallest_shown(newest).exp_m1();
        Some(PercentileHistory { figure, runs, points, levels, changes, smallest_shown })
    }
}

impl Change {
    fn between(before: &Level, after: &Level, runs: &[usize]) -> Change {
        let (low, high) = after.ratio_to(before);
        Change {
            before: runs[before.points.end - 1],
            after: runs[after.points.start],
            before_ns: before.value.exp(),
            after_ns: after.value.exp(),
            ratio: (after.value - before.value).exp(),
            low: low.exp(),
            high: high.exp(),
        }
    }
}
