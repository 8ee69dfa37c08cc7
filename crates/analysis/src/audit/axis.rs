//! Prefix sums over the bins of a run, so that a rate over any stretch costs two lookups.

use super::bins::Bins;
use super::cells::{Durations, Events};

/// A stretch of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) from: u64,
    pub(super) to: u64,
}

impl Span {
    pub(super) fn length(self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

/// Starts and concurrency of a run over time.
pub(super) struct Axis<'a> {
    pub(super) events: &'a Bins<Events>,
    pub(super) blocks: &'a Bins<Durations>,
    /// Starts before each bin, plus a last entry for the end of the run.
    starts: Vec<u64>,
    in_flight: Vec<i64>,
    /// Excluded time before each bin, in nanoseconds.
    excluded_before: Vec<u64>,
}

impl<'a> Axis<'a> {
    pub(super) fn new(events: &'a Bins<Events>, blocks: &'a Bins<Durations>) -> Axis<'a> {
        let cells = events.cells();
        let mut starts = Vec::with_capacity(cells.len() + 1);
        starts.push(0);
        let mut in_flight = Vec::with_capacity(cells.len());
        let mut begun = 0;
        let mut open = 0;
        for cell in cells {
            begun += u64::from(cell.starts);
            open += i64::from(cell.starts) - i64::from(cell.ends);
            starts.push(begun);
            in_flight.push(open);
        }
        Axis { events, blocks, starts, in_flight, excluded_before: vec![0; cells.len() + 1] }
    }

    /// Excludes `spans` from the usual rates. They must be in order and must not overlap.
    pub(super) fn exclude(&mut self, spans: &[Span]) {
        let mut spans = spans.iter().peekable();
        let mut done = 0;
        for index in 0..self.excluded_before.len() {
            let boundary = self.events.begins(index);
            while let Some(span) = spans.next_if(|span| span.to <= boundary) {
                done += span.length();
            }
            let part = spans.peek().map_or(0, |span| boundary.saturating_sub(span.from));
            self.excluded_before[index] = done + part;
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    pub(super) fn bins(&self) -> usize {
        self.events.cells().len()
    }

    pub(super) fn in_flight_after(&self, index: usize) -> i64 {
        self.in_flight[index]
    }

    /// Share of the bins `from..to` that end with more than `in_flight` requests in flight.
    pub(super) fn share_busier(&self, (from, to): (usize, usize), in_flight: i64) -> f64 {
        let busier = self.in_flight[from..to].iter().filter(|open| **open > in_flight).count();
        busier as f64 / to.saturating_sub(from).max(1) as f64
    }

    pub(super) fn starts_between(&self, from: usize, to: usize) -> u64 {
        self.starts[to] - self.starts[from]
    }

    /// Time between the beginnings of two bins without excluded time, in nanoseconds.
    pub(super) fn time_between(&self, from: usize, to: usize) -> u64 {
        let whole = self.events.begins(to) - self.events.begins(from);
        whole.saturating_sub(self.excluded_before[to] - self.excluded_before[from])
    }

    pub(super) fn total_time(&self) -> u64 {
        self.time_between(0, self.bins())
    }

    /// Returns the first bin that begins at most `length` before bin `to`, excluded time not counted.
    pub(super) fn first_bin_within(&self, to: usize, length: u64) -> usize {
        partition(0, to, |index| self.time_between(index, to) > length)
    }

    /// Returns the first bin that begins at least `length` after bin `from`, or the end of the run if that is earlier.
    pub(super) fn first_bin_after(&self, from: usize, length: u64) -> usize {
        partition(from, self.bins(), |index| self.time_between(from, index) < length)
    }

    /// Median duration of the requests that started in the given bins, in nanoseconds.
    pub(super) fn typical_duration(&self, stretches: [(usize, usize); 2]) -> Option<u64> {
        let mut sum = Durations::default();
        for (from, to) in stretches.into_iter().filter(|(from, to)| from < to) {
            let first = self.blocks.index_of(self.events.begins(from));
            let last = self.blocks.index_of(self.events.begins(to) - 1);
            for block in &self.blocks.cells()[first..=last] {
                super::bins::Cell::absorb(&mut sum, block);
            }
        }
        sum.median()
    }
}

/// Returns the first index in `from..to` that does not satisfy `before`, or `to` if all satisfy it.
fn partition(from: usize, to: usize, before: impl Fn(usize) -> bool) -> usize {
    let mut low = from;
    let mut high = to;
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
