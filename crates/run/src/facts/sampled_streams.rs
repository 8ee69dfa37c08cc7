//! A few streams of a run in full: the slowest ones, and some that chance chose.

use serde::{Deserialize, Serialize};

use super::event_marks::{EventMark, MOST_MARKS};
use super::stream_ending::StreamEnding;

/// So many of the slowest are kept …
const SLOWEST: usize = 4;
/// … and so many that chance chose.
const RANDOM: usize = 20;

/// One stream. Instants are in nanoseconds since the origin of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

    /// Chance as a function of when it should have started, so that it does not matter which part of a run offered it: the
    /// finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    fn chance(intended_start_ns: u64) -> u64 {
        let mut z = intended_start_ns.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn problem(&self) -> Option<&'static str> {
        let is_mark =
            |mark: &EventMark| mark.from_ns <= mark.to_ns && mark.events >= 1 && mark.coalesced <= mark.events;
        let ascend = |pair: &[EventMark]| pair[0].to_ns <= pair[1].from_ns;
        if self.marks.len() > MOST_MARKS {
            Some("a stream has more marks than are kept")
        } else if !self.marks.iter().all(is_mark) || !self.marks.windows(2).all(ascend) {
            Some("the marks of a stream are not in order")
        } else if self.intended_start_ns > self.end_ns
            || self.marks.first().is_some_and(|mark| mark.from_ns < self.intended_start_ns)
        {
            Some("a stream ends, or has an event, before it should have started")
        } else {
            None
        }
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
    /// Takes in a stream that should have started at one instant and ended at another, where it is one of those that are kept.
    pub fn offer(&mut self, intended_start_ns: u64, end_ns: u64, stream: impl FnOnce() -> SampledStream) {
        let length_ns = end_ns.saturating_sub(intended_start_ns);
        let chance = SampledStream::chance(intended_start_ns);
        let is_slow =
            self.slowest.len() < SLOWEST || self.slowest.last().is_some_and(|last| last.length_ns() < length_ns);
        let is_chosen = self.random.len() < RANDOM
            || self.random.last().is_some_and(|last| chance < SampledStream::chance(last.intended_start_ns));
        if !(is_slow || is_chosen) {
            return;
        }
        let stream = stream();
        if is_slow {
            let place = self.slowest.partition_point(|one| one.length_ns() >= length_ns);
            self.slowest.insert(place, stream.clone());
            self.slowest.truncate(SLOWEST);
        }
        if is_chosen {
            let place = self.random.partition_point(|one| SampledStream::chance(one.intended_start_ns) <= chance);
            self.random.insert(place, stream);
            self.random.truncate(RANDOM);
        }
    }

    /// Takes in those of another part of the run.
    pub fn merge(&mut self, other: &SampledStreams) {
        let slowest = std::mem::take(&mut self.slowest).into_iter().chain(other.slowest.iter().cloned());
        let random = std::mem::take(&mut self.random).into_iter().chain(other.random.iter().cloned());
        let (mut slowest, mut random): (Vec<_>, Vec<_>) = (slowest.collect(), random.collect());
        slowest.sort_by_key(|stream| std::cmp::Reverse(stream.length_ns()));
        random.sort_by_key(|stream| SampledStream::chance(stream.intended_start_ns));
        slowest.truncate(SLOWEST);
        random.truncate(RANDOM);
        (self.slowest, self.random) = (slowest, random);
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

    proptest! {
        #[test]
        fn it_does_not_matter_who_offered_which(lengths in prop::collection::vec(0u64..1_000_000, 0..300), parts in 1usize..4) {
            // Different lengths, so that the slowest are certain.
            let all: Vec<(u64, u64)> = (0..).zip(&lengths).map(|(i, length)| (i * 1_000, length * 1_000 + i)).collect();
            let whole = of(all.iter().copied());
            let mut sum = SampledStreams::default();
            for part in 0..parts {
                sum.merge(&of(all.iter().copied().skip(part).step_by(parts)));
            }
            prop_assert_eq!(&sum, &whole);
            prop_assert_eq!(whole.slowest.len(), lengths.len().min(SLOWEST));
            prop_assert_eq!(whole.random.len(), lengths.len().min(RANDOM));
            let slowest = all.iter().map(|(_, length)| *length).max();
            prop_assert_eq!(whole.slowest.first().map(SampledStream::length_ns), slowest);
            prop_assert_eq!(whole.problem(), None);
        }
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
