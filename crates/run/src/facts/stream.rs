//! What became of answers that come in pieces (`--stream`).

use serde::{Deserialize, Serialize};
use truetail_model::record::CompactHistogram;

/// What the pieces of an answer are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// Server-sent events.
    Sse,
    /// Chunks of HTTP/1.1, frames of data of HTTP/2.
    Chunks,
}

/// The streams of a run: how they ended, and their events. Arrivals of the warm-up are in none of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StreamFacts {
    /// What an event is.
    pub kind: StreamKind,
    /// Gaps of at least this are stalls; `None`: none is.
    pub stall_ns: Option<u64>,
    /// A stream that brings no byte for this long is given up; `None`: none is.
    pub idle_timeout_ns: Option<u64>,
    /// The data of the event that has to come before the end; `None`: the end of the answer is enough.
    pub end_mark: Option<String>,
    /// How they ended.
    pub tally: StreamTally,
    /// Events of all streams.
    pub events: u64,
    /// Bytes of the bodies of all streams.
    pub bytes: u64,
    /// Gaps between events that were read at once: how long they are is not known.
    pub coalesced_gaps: u64,
    /// Gaps that lasted for `stall_ns` or longer, those that no event ended among them.
    pub stalls: u64,
    /// The times, which are saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: StreamTimes,
}

impl StreamFacts {
    /// Adds those of another part of the run. A file may hold any counts, so sums saturate.
    pub fn merge(&mut self, other: &StreamFacts) {
        self.tally.merge(&other.tally);
        let sums = [
            (&mut self.events, other.events),
            (&mut self.bytes, other.bytes),
            (&mut self.coalesced_gaps, other.coalesced_gaps),
            (&mut self.stalls, other.stalls),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
        self.times.merge(&other.times);
    }

    /// What was asked for is the same, so that the two may be added.
    pub fn is_alike(&self, other: &StreamFacts) -> bool {
        let asked = |facts: &StreamFacts| (facts.kind, facts.stall_ns, facts.idle_timeout_ns);
        asked(self) == asked(other) && self.end_mark == other.end_mark
    }

    /// Why this is what no run can have: `None` where its books balance with `planned` arrivals.
    pub fn imbalance(&self, planned: u64) -> Option<String> {
        let (ended, of) = (self.tally.ends(), |time: StreamTime| self.times.of(time).count());
        let begun = of(StreamTime::FirstEvent);
        let first = [begun, of(StreamTime::FirstEventCensored), of(StreamTime::FirstEventFailed)];
        let events = [begun, of(StreamTime::EventGap), self.coalesced_gaps];
        let sum = |parts: &[u64]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        if (self.tally.planned, ended) != (planned, planned) {
            return Some(format!(
                "it plans {} streams and {ended} have an end, of {planned} arrivals",
                self.tally.planned
            ));
        }
        if sum(&first) != planned {
            return Some(format!("{} streams have a time to first event or none, of {planned}", sum(&first)));
        }
        if sum(&events) != self.events {
            let counted = sum(&events);
            return Some(format!("it has {} events, but first events and gaps make {counted}", self.events));
        }
        (of(StreamTime::LongestGap) + of(StreamTime::LongestGapCensored) > begun)
            .then(|| "more streams have a longest gap than have an event".to_owned())
    }
}

/// The books of streams: `planned` is the sum of all others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct StreamTally {
    /// Measured arrivals.
    pub planned: u64,
    /// The answer is whole, and so is its last event; where an end mark was asked for, it came.
    pub complete: u64,
    /// The answer is whole by HTTP, but it ended inside an event or without its end mark.
    pub unfinished: u64,
    /// The connection broke, or what came was no HTTP any more, after the head of the answer.
    pub cut: u64,
    /// Nothing came for longer than the idle timeout.
    pub idle: u64,
    /// The time limit of the request was over.
    pub timed_out: u64,
    /// Still open at the end of the run.
    pub in_flight_at_end: u64,
    /// The answer was none that is read as a stream: by its status, its content type or its content coding.
    pub not_a_stream: u64,
    /// No answer began: connecting failed, or the connection broke before the head.
    pub failed: u64,
    /// Never issued.
    pub never_issued: u64,
}

impl StreamTally {
    fn each(&mut self) -> [&mut u64; 10] {
        [
            &mut self.planned,
            &mut self.complete,
            &mut self.unfinished,
            &mut self.cut,
            &mut self.idle,
            &mut self.timed_out,
            &mut self.in_flight_at_end,
            &mut self.not_a_stream,
            &mut self.failed,
            &mut self.never_issued,
        ]
    }

    /// How many ended, in whatever way.
    pub fn ends(mut self) -> u64 {
        self.each()[1..].iter().fold(0, |sum: u64, part| sum.saturating_add(**part))
    }

    /// How each stream ended that was not complete, in words.
    pub fn incomplete(&self) -> [(u64, &'static str); 8] {
        [
            (self.cut, "cut"),
            (self.unfinished, "without their end"),
            (self.idle, "idle"),
            (self.timed_out, "timed out"),
            (self.in_flight_at_end, "open at the end"),
            (self.not_a_stream, "not a stream"),
            (self.failed, "failed"),
            (self.never_issued, "never issued"),
        ]
    }

    fn merge(&mut self, other: &StreamTally) {
        let mut part = *other;
        self.each().into_iter().zip(part.each()).for_each(|(sum, part)| *sum = sum.saturating_add(*part));
    }
}

/// A time of streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamTime {
    /// From the intended start to the first event.
    FirstEvent,
    /// What was waited for a first event that may have come later.
    FirstEventCensored,
    /// What was waited until it was clear that no event would come.
    FirstEventFailed,
    /// From the intended start to the last event, of complete streams.
    LastEvent,
    /// From one event to the next that was read later.
    EventGap,
    /// From the last event to the end of a stream that was not complete.
    EventGapCensored,
    /// The longest gap of each stream that has one, where every gap ended.
    LongestGap,
    /// The same, where the last one did not end.
    LongestGapCensored,
}

impl StreamTime {
    /// All of them, in the order in which they are declared.
    pub const ALL: [StreamTime; 8] = [
        StreamTime::FirstEvent,
        StreamTime::FirstEventCensored,
        StreamTime::FirstEventFailed,
        StreamTime::LastEvent,
        StreamTime::EventGap,
        StreamTime::EventGapCensored,
        StreamTime::LongestGap,
        StreamTime::LongestGapCensored,
    ];

    /// Its tag in `histograms.hlog`.
    pub const fn tag(self) -> &'static str {
        match self {
            StreamTime::FirstEvent => "first_event_time",
            StreamTime::FirstEventCensored => "first_event_time_censored",
            StreamTime::FirstEventFailed => "first_event_time_failed",
            StreamTime::LastEvent => "last_event_time",
            StreamTime::EventGap => "event_gap",
            StreamTime::EventGapCensored => "event_gap_censored",
            StreamTime::LongestGap => "longest_gap",
            StreamTime::LongestGapCensored => "longest_gap_censored",
        }
    }
}

/// The distribution of each [`StreamTime`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StreamTimes([CompactHistogram; StreamTime::ALL.len()]);

impl StreamTimes {
    /// The distribution of one.
    pub fn of(&self, time: StreamTime) -> &CompactHistogram {
        &self.0[time as usize]
    }

    /// The same, to be added to.
    pub fn of_mut(&mut self, time: StreamTime) -> &mut CompactHistogram {
        &mut self.0[time as usize]
    }

    /// Those with a value, with their tags.
    pub fn tagged(&self) -> impl Iterator<Item = (&'static str, &CompactHistogram)> {
        StreamTime::ALL.into_iter().map(|time| (time.tag(), self.of(time))).filter(|(_, times)| times.count() > 0)
    }

    /// Adds those of another part of the run.
    pub fn merge(&mut self, other: &StreamTimes) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}
