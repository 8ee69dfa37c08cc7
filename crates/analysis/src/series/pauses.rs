//! Pauses of the generator and the server.
//!
//! The generator records its own pauses. Pauses of the server are derived if every single request is known. A *silence*
//! is a stretch of time with requests in flight and without any answer or failure. It is a pause of the server if all
//! these rules hold. Time during a pause of the generator does not count.
//!
//! 1. The silence was at least 50 ms long.
//! 2. It was at least 40 times as long as the median silence of the run.
//! 3. The requests in flight waited in it, all together, for at least 40 times the median service time.
//! 4. Without one of them, the rest waited for at least 10 times the median service time.
//!
//! With n independent servers, requests in flight end at a rate of n over the mean service time. If service times are
//! exponential, their median is ln 2 times the mean, so chance meets rule 3 with probability 2^−40 in each silence. In
//! a queue with one server, a silence is as long as a service, and chance meets rule 2 with the same probability. Rule
//! 4 excludes single slow requests.
//!
//! Silences that meet all rules may be usual in a run. Then none is a pause. They are usual if they take more than half
//! of the time with requests in flight, not counting the longest of them.

use truetail_model::record::{Outcome, RequestRecord};
use truetail_model::time::NANOS_PER_SECOND;
use truetail_run::Run;

use super::data::{PauseSpan, PausedSide};
use super::time_axis::Grid;

/// Limit on the pauses to report. The longest are kept.
const MAX_PAUSES: usize = 200;
const SHORTEST_NS: u64 = 50_000_000;
const MEDIAN_SILENCES: u64 = 40;
const SERVICE_TIMES_WAITED: f64 = 40.0;
const SERVICE_TIMES_WAITED_BY_OTHERS: f64 = 10.0;
/// With fewer answers, nothing is usual.
const FEWEST_ANSWERS: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stretch {
    from: u64,
    to: u64,
}

impl Stretch {
    fn length(self) -> u64 {
        self.to - self.from
    }

    /// Length of the common part.
    fn overlap(self, other: Stretch) -> u64 {
        self.to.min(other.to).saturating_sub(self.from.max(other.from))
    }
}

/// A stretch with requests in flight throughout, and without an answer.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Silence {
    stretch: Stretch,
    /// Total waiting time of the requests in flight, in nanoseconds.
    waited: f64,
}

pub(super) fn pauses(run: &Run, every: Option<&[RequestRecord]>, grid: &Grid) -> Vec<PauseSpan> {
    let of_generator = generator_pauses(run, grid.measured_from_ns());
    let of_server = every.map_or(Vec::new(), |records| server_pauses(records, &of_generator));
    let spans = |side: PausedSide, stretches: Vec<Stretch>| stretches.into_iter().map(move |stretch| (side, stretch));
    let mut all: Vec<(PausedSide, Stretch)> =
        spans(PausedSide::Generator, of_generator).chain(spans(PausedSide::Server, of_server)).collect();
    all.sort_by_key(|(_, stretch)| std::cmp::Reverse(stretch.length()));
    all.truncate(MAX_PAUSES);
    all.sort_by_key(|(_, stretch)| stretch.from);
    let seconds = |ns: u64| ns as f64 / NANOS_PER_SECOND as f64;
    all.into_iter()
        .map(|(side, stretch)| PauseSpan { side, from_s: seconds(stretch.from), to_s: seconds(stretch.to) })
        .collect()
}

/// Pauses of any generator thread during the measured run, merged and in order.
fn generator_pauses(run: &Run, measured_from_ns: u64) -> Vec<Stretch> {
    let pauses = run.facts.generator.iter().flat_map(|generator| &generator.pauses);
    let stretch = |pause: &truetail_run::Pause| Stretch {
        from: pause.at_ns.max(measured_from_ns),
        to: pause.at_ns.saturating_add(pause.length_ns),
    };
    let mut stretches: Vec<Stretch> = pauses.map(stretch).filter(|stretch| stretch.to > stretch.from).collect();
    stretches.sort_by_key(|stretch| stretch.from);
    stretches.dedup_by(|later, kept| {
        let touch = later.from <= kept.to;
        if touch {
            kept.to = kept.to.max(later.to);
        }
        touch
    });
    stretches
}

/// Pauses of the server by the rules of this module. `excused` stretches are in order and do not overlap.
fn server_pauses(records: &[RequestRecord], excused: &[Stretch]) -> Vec<Stretch> {
    let service_times: Vec<u64> =
        records.iter().filter(|record| record.outcome.is_response()).map(|record| record.service_time().0).collect();
    if service_times.len() < FEWEST_ANSWERS {
        return Vec::new();
    }
    let silences = silences(records);
    let usual = Usual {
        service_ns: median(service_times).max(1) as f64,
        silence_ns: median(silences.iter().map(|silence| silence.stretch.length()).collect()),
    };
    let found: Vec<Stretch> = silences
        .iter()
        .filter(|silence| usual.is_exceeded_by(silence, excused))
        .map(|silence| silence.stretch)
        .collect();
    let sum = |stretches: &mut dyn Iterator<Item = Stretch>| stretches.map(Stretch::length).sum::<u64>();
    let longest = found.iter().map(|stretch| stretch.length()).max().unwrap_or(0);
    let in_flight = sum(&mut silences.iter().map(|silence| silence.stretch));
    let are_usual = sum(&mut found.iter().copied()) - longest > in_flight / 2;
    if are_usual { Vec::new() } else { found }
}

struct Usual {
    service_ns: f64,
    silence_ns: u64,
}

impl Usual {
    fn is_exceeded_by(&self, silence: &Silence, excused: &[Stretch]) -> bool {
        let length = silence.stretch.length();
        if length < SHORTEST_NS {
            return false;
        }
        let first = excused.partition_point(|stretch| stretch.to <= silence.stretch.from);
        let within = excused[first..].iter().take_while(|stretch| stretch.from < silence.stretch.to);
        let left = length - within.map(|stretch| stretch.overlap(silence.stretch)).sum::<u64>().min(length);
        let waited = silence.waited * left as f64 / length as f64;
        left >= SHORTEST_NS
            && left >= self.silence_ns.saturating_mul(MEDIAN_SILENCES)
            && waited >= SERVICE_TIMES_WAITED * self.service_ns
            && waited - left as f64 >= SERVICE_TIMES_WAITED_BY_OTHERS * self.service_ns
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

fn silences(records: &[RequestRecord]) -> Vec<Silence> {
    let mut events: Vec<(u64, Event)> = Vec::with_capacity(2 * records.len());
    for record in records.iter().filter(|record| record.outcome != Outcome::NeverIssued) {
        let gave_up = matches!(record.outcome, Outcome::TimedOut | Outcome::InFlightAtEnd);
        events.push((record.actual_start.0, Event::Sent));
        events.push((record.end.0.max(record.actual_start.0), if gave_up { Event::GivenUp } else { Event::Ended }));
    }
    events.sort_unstable();
    let mut sweep = Sweep::default();
    let mut found = Vec::with_capacity(records.len());
    events.into_iter().for_each(|(at, event)| found.extend(sweep.process(at, event)));
    found
}

/// Events of requests in flight. The order decides between events at the same time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    Sent,
    /// The server answered, or let the request fail.
    Ended,
    /// The client stopped waiting.
    GivenUp,
}

#[derive(Default)]
struct Sweep {
    in_flight: u64,
    /// Time of the last event.
    at: u64,
    /// Start of the current silence.
    since: u64,
    waited: f64,
}

impl Sweep {
    /// Processes an event. Returns the silence that it ends, if any.
    fn process(&mut self, at: u64, event: Event) -> Option<Silence> {
        self.waited += (at - self.at) as f64 * self.in_flight as f64;
        self.at = at;
        if event == Event::Sent {
            if self.in_flight == 0 {
                (self.since, self.waited) = (at, 0.0);
            }
            self.in_flight += 1;
            return None;
        }
        self.in_flight -= 1;
        if event == Event::GivenUp && self.in_flight > 0 {
            return None;
        }
        let silence = Silence { stretch: Stretch { from: self.since, to: at }, waited: self.waited };
        (self.since, self.waited) = (at, 0.0);
        Some(silence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silence(from: u64, to: u64, waited: f64) -> Silence {
        Silence { stretch: Stretch { from, to }, waited }
    }

    #[test]
    fn a_silence_ends_with_the_next_answer_or_failure() {
        let mut sweep = Sweep::default();
        let mut step = |at: u64, event: Event| sweep.process(at, event);
        assert_eq!(step(10, Event::Sent), None);
        assert_eq!(step(14, Event::Sent), None);
        assert_eq!(step(20, Event::Ended), Some(silence(10, 20, 16.0)));
        assert_eq!(step(21, Event::Ended), Some(silence(20, 21, 1.0)));
        assert_eq!(step(50, Event::Sent), None);
        assert_eq!(step(55, Event::Sent), None);
        assert_eq!(step(60, Event::GivenUp), None, "one still waits");
        assert_eq!(step(65, Event::GivenUp), Some(silence(50, 65, 20.0)));
    }

    #[test]
    fn what_the_generator_slept_is_not_billed_to_the_server() {
        let usual = Usual { service_ns: 1e6, silence_ns: 1_000_000 };
        let ms = 1_000_000;
        let long = silence(1_000 * ms, 1_200 * ms, 2_000e6);
        let asleep = |from: u64, to: u64| [Stretch { from: 0, to: 10 }, Stretch { from: from * ms, to: to * ms }];
        assert!(usual.is_exceeded_by(&long, &[]));
        assert!(usual.is_exceeded_by(&long, &asleep(1_150, 1_300)));
        assert!(!usual.is_exceeded_by(&long, &asleep(1_020, 1_190)));
        assert!(!usual.is_exceeded_by(&silence(0, 200 * ms, 200e6), &[]), "a single request");
        assert!(!usual.is_exceeded_by(&silence(0, 45 * ms, 2_000e6), &[]), "short");
    }
}
