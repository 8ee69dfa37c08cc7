//! A few streams of a run in full: the slowest ones, and some that chance chose.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::event_marks::{EventMark, MOST_MARKS};
use super::stream_ending::StreamEnding;
use crate::limits::LONGEST_NS;

/// So many of the slowest are kept …
const SLOWEST: usize = 4;
/// … and so many that chance chose.
const RANDOM: usize = 20;

/// One stream. Instants are in nanoseconds since the origin of the run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledStream {
    /// When it should have started.
    pub intended_start_ns: u64,
    /// When it was sent.
    pub actual_start_ns: u64,
    /// When it ended, or was given up.
    pub end_ns: u64,
    /// How it ended.
    pub ending: StreamEnding,
    /// When the first content of a language model came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_content_ns: Option<u64>,
    /// Its events, ascending.
    pub marks: Vec<EventMark>,
}

impl SampledStream {
    /// From the intended start to the end.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.intended_start_ns)
    }

    /// How many events came.
    pub fn events(&self) -> u64 {
        self.marks.iter().fold(0, |sum: u64, mark| sum.saturating_add(mark.events))
    }

    fn chance(&self) -> u64 {
        chance(self.intended_start_ns, self.actual_start_ns, self.end_ns)
    }

    /// The slower first. Those of one length have an order too, so that it does not matter who offered which.
    fn by_length(&self, other: &SampledStream) -> Ordering {
        other.length_ns().cmp(&self.length_ns()).then_with(|| self.cmp(other))
    }

    fn by_chance(&self, other: &SampledStream) -> Ordering {
        self.chance().cmp(&other.chance()).then_with(|| self.cmp(other))
    }

    /// The last of its instants.
    fn latest_ns(&self) -> u64 {
        let marks = self.marks.iter().map(|mark| mark.to_ns);
        let instants = [self.intended_start_ns, self.actual_start_ns, self.end_ns, self.first_content_ns.unwrap_or(0)];
        marks.chain(instants).max().unwrap_or(0)
    }

    /// Sent, ended, or with an event, before it should have started.
    fn is_early(&self) -> bool {
        let first_mark = self.marks.first().map(|mark| mark.from_ns);
        let instants = [Some(self.actual_start_ns), Some(self.end_ns), self.first_content_ns, first_mark];
        instants.into_iter().flatten().any(|at_ns| at_ns < self.intended_start_ns)
    }

    fn problem(&self) -> Option<&'static str> {
        let is_mark =
            |mark: &EventMark| mark.from_ns <= mark.to_ns && mark.events >= 1 && mark.coalesced <= mark.events;
        let ascend = |pair: &[EventMark]| pair[0].to_ns <= pair[1].from_ns;
        if self.marks.len() > MOST_MARKS {
            Some("a stream has more marks than are kept")
        } else if !self.marks.iter().all(is_mark) || !self.marks.windows(2).all(ascend) {
            Some("the marks of a stream are not in order")
        } else if self.is_early() {
            Some("a stream was sent, has an event or ends before it should have started")
        } else if self.latest_ns() > LONGEST_NS {
            Some("a stream has an instant that is later than any run is long")
        } else {
            None
        }
    }
}

/// Chance as a function of the instants of a stream, so that it does not matter which part of a run offered it: the finalizer
/// of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). All three count, because those of a burst should have started at once.
fn chance(intended_start_ns: u64, actual_start_ns: u64, end_ns: u64) -> u64 {
    [intended_start_ns, actual_start_ns, end_ns].into_iter().fold(0, |hash: u64, at_ns| {
        let mut z = (hash ^ at_ns).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// Puts a stream where it belongs, if it is among the first `most`.
fn insert(
    streams: &mut Vec<SampledStream>,
    stream: SampledStream,
    most: usize,
    order: fn(&SampledStream, &SampledStream) -> Ordering,
) {
    let place = streams.partition_point(|one| order(one, &stream).is_lt());
    if place < most {
        streams.insert(place, stream);
        streams.truncate(most);
    }
}

/// Streams of a run that were sent: the slowest, from the intended start to the end, and some that chance chose.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledStreams {
    /// The slowest, slowest first.
    pub slowest: Vec<SampledStream>,
    /// Those that chance chose. The slowest may be among them.
    pub random: Vec<SampledStream>,
}

impl SampledStreams {
    /// As [`offer_sent`](SampledStreams::offer_sent), where it costs little to make each stream: it says itself when it was sent.
    pub fn offer(&mut self, intended_start_ns: u64, end_ns: u64, stream: impl FnOnce() -> SampledStream) {
        let stream = stream();
        self.offer_sent(intended_start_ns, stream.actual_start_ns, end_ns, || stream);
    }

    /// Takes in a stream that should have started, was sent, and ended at these instants, where it is one of those that are kept.
    /// It is only made where it may be.
    pub fn offer_sent(
        &mut self,
        intended_start_ns: u64,
        actual_start_ns: u64,
        end_ns: u64,
        stream: impl FnOnce() -> SampledStream,
    ) {
        let length_ns = end_ns.saturating_sub(intended_start_ns);
        let chance = chance(intended_start_ns, actual_start_ns, end_ns);
        let may_be_slow =
            self.slowest.len() < SLOWEST || self.slowest.last().is_some_and(|last| last.length_ns() <= length_ns);
        let may_be_chosen =
            self.random.len() < RANDOM || self.random.last().is_some_and(|last| chance <= last.chance());
        if may_be_slow || may_be_chosen {
            self.keep(stream());
        }
    }

    fn keep(&mut self, stream: SampledStream) {
        insert(&mut self.slowest, stream.clone(), SLOWEST, SampledStream::by_length);
        insert(&mut self.random, stream, RANDOM, SampledStream::by_chance);
    }

    /// Takes in those of another part of the run.
    pub fn merge(&mut self, other: &SampledStreams) {
        let (slowest, random) = (other.slowest.iter().cloned(), other.random.iter().cloned());
        slowest.for_each(|stream| insert(&mut self.slowest, stream, SLOWEST, SampledStream::by_length));
        random.for_each(|stream| insert(&mut self.random, stream, RANDOM, SampledStream::by_chance));
    }

    /// Why no run can have these; `None` where one can.
    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.slowest.len() > SLOWEST || self.random.len() > RANDOM {
            return Some("more streams are sampled than are kept");
        }
        self.slowest.iter().chain(&self.random).find_map(SampledStream::problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stream(start: u64, length: u64) -> SampledStream {
        SampledStream {
            intended_start_ns: start,
            actual_start_ns: start,
            end_ns: start + length,
            ending: StreamEnding::Complete,
            first_content_ns: None,
            marks: Vec::new(),
        }
    }

    fn of(streams: impl Iterator<Item = (u64, u64)>) -> SampledStreams {
        let mut sampled = SampledStreams::default();
        streams.for_each(|(start, length)| sampled.offer(start, start + length, || stream(start, length)));
        sampled
    }

    fn of_streams<'a>(streams: impl Iterator<Item = &'a SampledStream>) -> SampledStreams {
        let mut sampled = SampledStreams::default();
        for one in streams {
            sampled.offer_sent(one.intended_start_ns, one.actual_start_ns, one.end_ns, || one.clone());
        }
        sampled
    }

    proptest! {
        /// Also where many are equally long, and some are alike in all instants.
        #[test]
        fn it_does_not_matter_who_offered_which(
            all in prop::collection::vec((0u64..4, 0u64..4, 0u64..4, 1u64..4), 0..300),
            parts in 1usize..4,
        ) {
            let all: Vec<SampledStream> = all.into_iter().map(|(start, sent, length, events)| SampledStream {
                actual_start_ns: start * 1_000 + sent,
                marks: vec![EventMark { from_ns: start * 1_000, to_ns: start * 1_000, events, coalesced: 0 }],
                ..stream(start * 1_000, length * 1_000)
            }).collect();
            let whole = of_streams(all.iter());
            let mut sum = SampledStreams::default();
            for part in (0..parts).rev() {
                sum.merge(&of_streams(all.iter().skip(part).step_by(parts)));
            }
            prop_assert_eq!(&sum, &whole);
            prop_assert_eq!(whole.slowest.len(), all.len().min(SLOWEST));
            prop_assert_eq!(whole.random.len(), all.len().min(RANDOM));
            let slowest = all.iter().map(SampledStream::length_ns).max();
            prop_assert_eq!(whole.slowest.first().map(SampledStream::length_ns), slowest);
            prop_assert_eq!(whole.problem(), None);
        }
    }

    #[test]
    fn instants_that_no_run_has_are_refused() {
        let far = stream(0, u64::MAX);
        let early = SampledStream { actual_start_ns: 4, ..stream(5, 7) };
        let content = SampledStream { first_content_ns: Some(LONGEST_NS + 1), ..stream(5, 7) };
        for (stream, why) in [(far, "later than any run"), (early, "before it should"), (content, "later than any run")]
        {
            let sampled = SampledStreams { slowest: vec![stream], random: Vec::new() };
            assert!(sampled.problem().is_some_and(|problem| problem.contains(why)), "{why}");
        }
    }

    /// Of a burst, whose requests should all have started at once, chance takes from all of it.
    #[test]
    fn chance_tells_the_streams_of_a_burst_apart() {
        let sampled = of((0..1_000).map(|length| (5, length)));
        let late = sampled.random.iter().filter(|one| one.length_ns() >= 500).count();
        assert!((3..18).contains(&late), "{late} of 20");
    }

    /// Of streams whose lengths rise, chance takes as many from the first half as from the second, but for chance.
    #[test]
    fn chance_has_no_favourites() {
        let mut late = 0;
        for round in 0..200u64 {
            let sampled = of((0..1_000).map(|i| ((round * 1_000 + i) * 50_000_000, i)));
            late += sampled.random.iter().filter(|one| one.length_ns() >= 500).count();
        }
        assert!((1_800..2_200).contains(&late), "{late} of 4000");
    }
}
