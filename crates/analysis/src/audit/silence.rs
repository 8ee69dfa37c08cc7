//! Silences: stretches without a start or an end although requests are in flight, and how they end.

use super::axis::{Axis, Span};
use super::usual::{Usual, usual};

/// A silence counts as slow if it is this many times as long as the usual request.
const SLOW_FACTOR: f64 = 2.0;
/// The next request follows at once if it comes within this share of the length of the silence.
const AT_ONCE: f64 = 0.1;
/// Silences with fewer missing starts are ignored.
const FEWEST_MISSING: f64 = 2.0;
/// Largest share of the time before a silence in which more requests were in flight than in the silence.
const SHARE_BUSIER: f64 = 0.1;
/// Times closer than this are treated as equal, in nanoseconds.
const SAME_TIME: u64 = 1_000;

/// Precision of the times in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    /// Largest error of an end (start + duration), in nanoseconds.
    pub(super) end: u64,
    /// Usual time of a worker between an answer and its next request, in nanoseconds. 0 if unknown or irregular.
    pub(super) think: u64,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    span: Span,
    /// First and last bin of the gap.
    bins: (usize, usize),
    in_flight: i64,
    /// True if the gap ended with the end of a request, not with a start.
    by_end: bool,
    /// Time from the end of the gap to the next start, in nanoseconds.
    resumes_after: u64,
}

/// A silence of a client that waits for answers: something was slow, and the next request followed its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    pub(super) span: Span,
    /// Starts expected in the silence at the usual rate.
    pub(super) expected: f64,
    /// Starts expected at the rate of the busier side.
    pub(super) expected_high: f64,
    /// Variability of the number of starts: see [`Usual::dispersion`].
    pub(super) dispersion: f64,
    /// Time from the end of the silence to the next start, in nanoseconds.
    pub(super) resumes_after: u64,
    pub(super) in_flight: i64,
    pub(super) usual_duration: u64,
}

impl Silence {
    /// Probability that a Poisson process of the usual rate has a start this soon after any given instant.
    pub(super) fn chance_of_resuming(&self, precision: Precision) -> f64 {
        let rate = self.expected / self.span.length().max(1) as f64;
        1.0 - libm::exp(-rate * (self.resumes_after + precision.end.max(SAME_TIME)) as f64)
    }
}

/// Silences and gaps of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Silences {
    /// Silences of a client that waits, in order of time.
    pub(super) waiting: Vec<Silence>,
    /// Expected starts in each stretch without starts that has another cause, in ascending order.
    pub(super) innocent: Vec<f64>,
    /// Gaps with requests in flight that end with an answer and a prompt request.
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
    // Slow stretches are known only from the usual rate, and the usual rate only without slow stretches. So two passes.
    let first: Vec<Span> = waiting(axis, &suspects).iter().map(|silence| silence.span).collect();
    axis.exclude(&first);
    found.waiting = waiting(axis, &suspects);
    found.innocent = innocent(axis, &found.waiting);
    found
}

fn followed_at_once(gap: &Gap, precision: Precision) -> bool {
    let patience = (gap.span.length() as f64 * AT_ONCE) as u64;
    let think = precision.think + precision.think / 2;
    gap.by_end && gap.resumes_after <= patience.max(3 * precision.end).max(think)
}

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
    // An end later than the next bin is not the end of this gap.
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

/// Returns the expected starts of each stretch without starts and without a silence of a waiting client.
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
