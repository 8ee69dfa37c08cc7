//! Silences: stretches in which nothing starts and nothing ends although requests are in flight, and what ends them.

use super::axis::{Axis, Span};
use super::usual::{Usual, usual};

/// A silence is that of something slow if it is so many times as long as a request usually takes.
const SLOW_FACTOR: f64 = 2.0;
/// The next request follows the end of a silence at once if it comes within this share of its length.
const AT_ONCE: f64 = 0.1;
/// Silences in which fewer starts are missing are not looked at.
const FEWEST_MISSING: f64 = 2.0;
/// More requests than in a silence may be in flight in this share of the time before it.
const SHARE_BUSIER: f64 = 0.1;
/// Two times that differ by less are one, nanoseconds.
const SAME_TIME: u64 = 1_000;

/// What the times of a file can show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    /// By so much an end, which is start + duration, may be wrong, nanoseconds.
    pub(super) end: u64,
    /// How long a worker usually waits between an answer and its next request, where that is known and regular,
    /// nanoseconds.
    pub(super) think: u64,
}

/// A stretch without a start or an end, with requests in flight.
#[derive(Clone, Copy, Debug)]
struct Gap {
    span: Span,
    /// The bin in which it begins, and the one in which it ends.
    bins: (usize, usize),
    in_flight: i64,
    /// It ended with the end of a request, and not with a start.
    by_end: bool,
    /// From its end to the next start, nanoseconds.
    resumes_after: u64,
}

/// A silence that a client shows that waits for answers: something was slow, and the next request followed its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    pub(super) span: Span,
    /// Starts that were to be expected in it at the usual rate.
    pub(super) expected: f64,
    /// The same at the rate of the busier side.
    pub(super) expected_high: f64,
    /// How much the number of starts varies: see [`Usual::dispersion`].
    pub(super) dispersion: f64,
    /// From its end to the next start, nanoseconds.
    pub(super) resumes_after: u64,
    pub(super) in_flight: i64,
    /// How long a request usually takes, nanoseconds.
    pub(super) usual_duration: u64,
}

impl Silence {
    /// How likely it is that a Poisson process of that rate has a start within that time of any instant.
    pub(super) fn chance_of_resuming(&self, precision: Precision) -> f64 {
        let rate = self.expected / self.span.length().max(1) as f64;
        1.0 - libm::exp(-rate * (self.resumes_after + precision.end.max(SAME_TIME)) as f64)
    }
}

/// What the silences of a run are.
#[derive(Clone, Debug, Default)]
pub(super) struct Silences {
    /// Those of a client that waits, the earliest first.
    pub(super) waiting: Vec<Silence>,
    /// The expected starts in stretches without starts that have another reason.
    pub(super) innocent: Vec<f64>,
    /// Gaps with requests in flight that end with an answer that the next request follows at once.
    pub(super) followed: u64,
    /// Gaps with requests in flight that end otherwise.
    pub(super) not_followed: u64,
}

/// Finds the silences of a run.
pub(super) fn silences(axis: &mut Axis<'_>, precision: Precision) -> Silences {
    let gaps = gaps(axis, precision);
    let (suspects, others): (Vec<Gap>, Vec<Gap>) = gaps.into_iter().partition(|gap| followed_at_once(gap, precision));
    let mut found =
        Silences { followed: suspects.len() as u64, not_followed: others.len() as u64, ..Silences::default() };
    // What is slow is known only against what is usual, and what is usual only without what is slow: twice.
    let first: Vec<Span> = waiting(axis, &suspects).iter().map(|silence| silence.span).collect();
    axis.leave_out(&first);
    found.waiting = waiting(axis, &suspects);
    found.innocent = innocent(axis, &found.waiting);
    found
}

fn followed_at_once(gap: &Gap, precision: Precision) -> bool {
    let patience = (gap.span.length() as f64 * AT_ONCE) as u64;
    let think = precision.think + precision.think / 2;
    gap.by_end && gap.resumes_after <= patience.max(3 * precision.end).max(think)
}

/// All gaps that the bins resolve in which something is in flight.
fn gaps(axis: &Axis<'_>, precision: Precision) -> Vec<Gap> {
    let mut found = Vec::new();
    let mut last: Option<(usize, u64)> = None;
    for (index, cell) in axis.events.cells().iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
        if let Some((before, from)) = last {
            let span = Span { from, to: cell.first() };
            let in_flight = axis.in_flight_after(before);
            if in_flight > 0 && span.length() > axis.events.width().max(2 * precision.end) {
                let ends = first_end(axis, index, span.to);
                let by_end = ends.is_some_and(|end| end <= span.to + precision.end);
                let resumes = first_start(axis, index, span.to).map_or(u64::MAX, |start| start - span.to);
                found.push(Gap { span, bins: (before, index), in_flight, by_end, resumes_after: resumes });
            }
        }
        last = Some((index, cell.last()));
    }
    found
}

fn first_end(axis: &Axis<'_>, index: usize, from: u64) -> Option<u64> {
    // An end that comes later than the next bin is no end of this gap.
    let near = &axis.events.cells()[index..(index + 2).min(axis.bins())];
    near.iter().filter(|cell| cell.ends > 0).map(|cell| cell.first_end).find(|end| *end >= from)
}

fn first_start(axis: &Axis<'_>, index: usize, from: u64) -> Option<u64> {
    let later = axis.events.cells()[index..].iter();
    later.filter(|cell| cell.starts > 0).map(|cell| cell.first_start).find(|start| *start >= from)
}

fn waiting(axis: &Axis<'_>, suspects: &[Gap]) -> Vec<Silence> {
    suspects.iter().filter_map(|gap| silence(axis, gap, &usual(axis, gap.span, gap.bins.0, gap.bins.1)?)).collect()
}

fn silence(axis: &Axis<'_>, gap: &Gap, usual: &Usual) -> Option<Silence> {
    let seconds = gap.span.length() as f64 / 1e9;
    let is_slow = gap.span.length() as f64 >= SLOW_FACTOR * usual.duration as f64;
    let all_wait = axis.share_busier(usual.before, gap.in_flight) <= SHARE_BUSIER;
    let expected = usual.rate * seconds;
    (is_slow && all_wait && expected >= FEWEST_MISSING).then_some(Silence {
        span: gap.span,
        expected,
        expected_high: usual.high_rate * seconds,
        dispersion: usual.dispersion,
        resumes_after: gap.resumes_after,
        in_flight: gap.in_flight,
        usual_duration: usual.duration,
    })
}

/// The expected starts in stretches without starts that hold no silence of a waiting client.
fn innocent(axis: &Axis<'_>, waiting: &[Silence]) -> Vec<f64> {
    let mut found = Vec::new();
    let mut silences = waiting.iter().peekable();
    let mut last: Option<(usize, u64)> = None;
    for (index, cell) in axis.events.cells().iter().enumerate().filter(|(_, cell)| cell.starts > 0) {
        if let Some((before, from)) = last {
            let span = Span { from, to: cell.first_start };
            while silences.next_if(|silence| silence.span.to <= span.from).is_some() {}
            let holds = silences.peek().is_some_and(|silence| silence.span.from < span.to);
            if !holds && index > before + 1 {
                let rate = usual(axis, span, before, index).map_or(0.0, |usual| usual.rate);
                found.push(rate * span.length() as f64 / 1e9);
            }
        }
        last = Some((index, cell.last_start));
    }
    found.retain(|expected| *expected >= 1.0);
    found.sort_by(f64::total_cmp);
    found
}
