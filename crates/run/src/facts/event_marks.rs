//! Times of the events of one stream, in bounded memory.

use serde::{Deserialize, Serialize};
use truetail_model::time::Timestamp;

/// Limit on the marks of one stream.
pub(super) const MAX_MARKS: usize = 128;
/// Divisor that sets the resolution when the limit is reached: marks closer than the stream's length / 64 are joined.
const MARKS_LEFT: u64 = 64;

/// Events that came at one instant, or too close to each other to be kept apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventMark {
    /// Time of the first event, nanoseconds since the origin of the run.
    pub from_ns: u64,
    /// Time of the last event, nanoseconds since the origin of the run.
    pub to_ns: u64,
    /// Number of events, at least 1.
    pub events: u64,
    /// Number of events that were read together with the event before them.
    pub coalesced: u64,
}

impl EventMark {
    /// Returns true if the gap that ended at `gap_ended_ns` lies between this mark and `later`.
    #[inline]
    fn is_before(&self, later: &EventMark, gap_ended_ns: u64) -> bool {
        self.to_ns < gap_ended_ns && later.from_ns == gap_ended_ns
    }

    /// Adds the events of a later mark if they are close enough, and returns true if it did.
    #[inline]
    fn try_join(&mut self, later: &EventMark, resolution_ns: u64) -> bool {
        let is_close = later.to_ns.saturating_sub(self.from_ns) <= resolution_ns;
        if is_close {
            self.to_ns = self.to_ns.max(later.to_ns);
            self.events += later.events;
            self.coalesced += later.coalesced;
        }
        is_close
    }
}

/// Times of the events of one stream, in order and in bounded memory. Gaps longer than the resolution lie between two
/// marks and are exact. So is the longest gap.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct EventMarks {
    marks: Vec<EventMark>,
    resolution_ns: u64,
    /// Length and end of the longest gap; of several equal gaps, the first.
    longest_ns: u64,
    longest_ended_ns: u64,
}

impl EventMarks {
    /// Returns an empty list with room for all marks, so that [`record`](EventMarks::record) allocates nothing.
    pub fn with_room() -> EventMarks {
        EventMarks { marks: Vec::with_capacity(MAX_MARKS), ..EventMarks::default() }
    }

    /// Removes all marks.
    pub fn clear(&mut self) {
        self.marks.clear();
        (self.resolution_ns, self.longest_ns, self.longest_ended_ns) = (0, 0, 0);
    }

    /// Adds the latest event. `is_coalesced`: it was read together with the event before it.
    #[inline]
    pub fn record(&mut self, at: Timestamp, is_coalesced: bool) {
        let mark = EventMark { from_ns: at.0, to_ns: at.0, events: 1, coalesced: u64::from(is_coalesced) };
        self.update_longest_gap(at.0);
        if self.try_join_last(&mark) {
            return;
        }
        while self.marks.len() >= MAX_MARKS {
            self.coarsen();
            if self.try_join_last(&mark) {
                return;
            }
        }
        self.marks.push(mark);
    }

    #[inline]
    fn update_longest_gap(&mut self, at_ns: u64) {
        let gap_ns = self.marks.last().map_or(0, |last| at_ns.saturating_sub(last.to_ns));
        if gap_ns > self.longest_ns {
            (self.longest_ns, self.longest_ended_ns) = (gap_ns, at_ns);
        }
    }

    /// Joins `mark` with the last mark if they are close enough, and returns true if it did.
    #[inline]
    fn try_join_last(&mut self, mark: &EventMark) -> bool {
        let resolution_ns = self.resolution_ns;
        let longest_ended_ns = self.longest_ended_ns;
        let last = self.marks.last_mut();
        last.is_some_and(|last| !last.is_before(mark, longest_ended_ns) && last.try_join(mark, resolution_ns))
    }

    fn coarsen(&mut self) {
        let ends = self.marks.first().zip(self.marks.last());
        let length_ns = ends.map_or(0, |(first, last)| last.to_ns.saturating_sub(first.from_ns));
        self.resolution_ns = (length_ns / MARKS_LEFT).max(self.resolution_ns.saturating_mul(2));
        let mut last = 0;
        for i in 1..self.marks.len() {
            let mark = self.marks[i];
            let is_apart = self.marks[last].is_before(&mark, self.longest_ended_ns);
            if is_apart || !self.marks[last].try_join(&mark, self.resolution_ns) {
                last += 1;
                self.marks[last] = mark;
            }
        }
        self.marks.truncate(last + 1);
    }

    /// Returns the marks, ascending.
    pub fn all(&self) -> &[EventMark] {
        &self.marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_event_is_kept_and_the_longest_gap_is_exact(gaps in prop::collection::vec((0u64..1_000_000, any::<bool>()), 1..2_000)) {
            let mut marks = EventMarks::with_room();
            let mut at = 0;
            let mut longest = 0;
            for (i, (gap, together)) in gaps.iter().enumerate() {
                let gap = if *together { 0 } else { *gap };
                at += gap;
                longest = longest.max(if i == 0 { 0 } else { gap });
                marks.record(Timestamp(at), *together);
            }
            prop_assert!(marks.all().len() <= MAX_MARKS);
            prop_assert_eq!(marks.all().iter().map(|mark| mark.events).sum::<u64>(), gaps.len() as u64);
            let coalesced = gaps.iter().filter(|(_, together)| *together).count() as u64;
            prop_assert_eq!(marks.all().iter().map(|mark| mark.coalesced).sum::<u64>(), coalesced);
            let between = marks.all().windows(2).map(|pair| pair[1].from_ns - pair[0].to_ns);
            prop_assert_eq!(between.max().unwrap_or(0), longest);
        }
    }
}
