//! Data for the picture of a file: starts, requests in flight and latencies over time, and the stops.

use super::axis::Axis;
use super::bins::Cell;
use super::cells::Durations;
use super::dips::Dip;
use super::rows::Rows;
use super::silence::Silence;
use super::steps::Steps;

/// Number of columns that divide a run, plus at most one.
const MAX_COLUMNS: u64 = 240;
/// Each column has room for at least this many starts at the mean rate.
const STARTS_A_COLUMN: f64 = 20.0;

/// A file over time, in columns of equal width.
#[derive(Clone, PartialEq, Debug)]
pub struct AuditTimeline {
    /// Start of the first column on the clock of the file, in nanoseconds.
    pub from_ns: u64,
    /// Width of a column in nanoseconds.
    pub column_ns: u64,
    /// Starts per second. `None` in the first and last column, which are incomplete.
    pub starts_per_s: Vec<Option<f64>>,
    /// Mean number of requests in flight.
    pub in_flight: Vec<f64>,
    /// Median latency of the requests that started, to within a quarter, in nanoseconds. `None` without starts.
    pub median_ns: Vec<Option<u64>>,
    /// Longest latency of the requests that started, in nanoseconds. `None` without starts.
    pub longest_ns: Vec<Option<u64>>,
}

/// A stretch of time with less sending than expected.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AuditStop {
    /// Start of the stop on the clock of the file, in nanoseconds.
    pub from_ns: u64,
    /// End of the stop in nanoseconds.
    pub to_ns: u64,
    /// Expected requests that are missing.
    pub missing: f64,
    /// True if nothing at all was sent, false if less than usual was sent.
    pub is_silence: bool,
}

impl AuditStop {
    /// Length of the stop in nanoseconds.
    pub const fn length_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    pub(super) fn from_silence(silence: &Silence) -> AuditStop {
        let span = silence.span;
        AuditStop { from_ns: span.from, to_ns: span.to, missing: silence.expected, is_silence: true }
    }

    pub(super) fn from_dip(dip: &Dip) -> AuditStop {
        let to_ns = dip.from.saturating_add(dip.length.0);
        AuditStop { from_ns: dip.from, to_ns, missing: dip.missing, is_silence: false }
    }
}

pub(super) fn timeline(rows: &Rows, resolution: u64) -> Option<AuditTimeline> {
    let axis = Axis::new(&rows.events, &rows.blocks);
    let used = used(&axis)?;
    let whole = axis.events.begins(used.1) - axis.events.begins(used.0);
    let for_starts = (STARTS_A_COLUMN * whole as f64 / axis.total().max(1) as f64) as u64;
    let width = (whole / MAX_COLUMNS).max(for_starts.min(whole)).max(axis.events.width()).max(axis.blocks.width());
    let steps = Steps::divide(&axis, width, resolution)?;
    // Bins may extend beyond the data.
    let column = |bin: usize| (axis.events.begins(bin) / steps.width - steps.first) as usize;
    let first = column(used.0);
    let last = column(used.1 - 1).min(steps.steps.len() - 1);
    let durations = durations(&axis, &steps);
    let rate = |index: usize| {
        let is_whole = first < index && index < last;
        is_whole.then(|| steps.steps[index].starts / (steps.width as f64 / 1e9))
    };
    Some(AuditTimeline {
        from_ns: (steps.first + first as u64) * steps.width,
        column_ns: steps.width,
        starts_per_s: (first..=last).map(rate).collect(),
        in_flight: steps.steps[first..=last].iter().map(|step| step.concurrency).collect(),
        median_ns: durations[first..=last].iter().map(Durations::median).collect(),
        longest_ns: durations[first..=last].iter().map(|one| (one.count() > 0).then_some(one.longest)).collect(),
    })
}

/// Returns the first bin with a start or an end, and the bin after the last one.
fn used(axis: &Axis<'_>) -> Option<(usize, usize)> {
    let cells = axis.events.cells();
    let first = cells.iter().position(|cell| !cell.is_empty())?;
    let last = cells.iter().rposition(|cell| !cell.is_empty())?;
    Some((first, last + 1))
}

/// Durations of the requests that started in each step. A block belongs to the step that contains its end, because
/// starts that were rounded down lie at the beginning of a step.
fn durations(axis: &Axis<'_>, steps: &Steps) -> Vec<Durations> {
    let mut columns = vec![Durations::default(); steps.steps.len()];
    for (index, block) in axis.blocks.cells().iter().enumerate().filter(|(_, block)| block.count() > 0) {
        let ends = axis.blocks.begins(index).saturating_add(axis.blocks.width() - 1);
        let column = ((ends / steps.width).saturating_sub(steps.first) as usize).min(columns.len() - 1);
        columns[column].absorb(block);
    }
    columns
}
