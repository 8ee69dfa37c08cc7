//! A few streams of a run in full: the slowest ones, and random ones.

use serde::{Deserialize, Serialize};

use super::event_marks::{EventMark, MAX_MARKS};
use super::sampled::{Sampleable, Sampled};
use super::stream_ending::StreamEnding;
use crate::limits::LONGEST_NS;

/// One stream. Instants are in nanoseconds since the origin of the run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledStream {
    /// Intended start.
    pub intended_start_ns: u64,
    /// Actual start.
    pub actual_start_ns: u64,
    /// End, successful or not.
    pub end_ns: u64,
    /// Ending of the stream.
    pub ending: StreamEnding,
    /// Time of the first content of a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_content_ns: Option<u64>,
    /// Its events, ascending.
    pub marks: Vec<EventMark>,
}

impl SampledStream {
    /// Returns the time from the intended start to the end.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.intended_start_ns)
    }

    /// Returns the number of events.
    pub fn events(&self) -> u64 {
        self.marks.iter().fold(0, |sum: u64, mark| sum.saturating_add(mark.events))
    }

    fn latest_ns(&self) -> u64 {
        let marks = self.marks.iter().map(|mark| mark.to_ns);
        let instants = [self.intended_start_ns, self.actual_start_ns, self.end_ns, self.first_content_ns.unwrap_or(0)];
        marks.chain(instants).max().unwrap_or(0)
    }

    /// Returns true if it was sent, ended, or has an event before its intended start.
    fn is_early(&self) -> bool {
        let first_mark = self.marks.first().map(|mark| mark.from_ns);
        let instants = [Some(self.actual_start_ns), Some(self.end_ns), self.first_content_ns, first_mark];
        instants.into_iter().flatten().any(|at_ns| at_ns < self.intended_start_ns)
    }

    fn problem(&self) -> Option<&'static str> {
        let is_mark =
            |mark: &EventMark| mark.from_ns <= mark.to_ns && mark.events >= 1 && mark.coalesced <= mark.events;
        let ascend = |pair: &[EventMark]| pair[0].to_ns <= pair[1].from_ns;
        if self.marks.len() > MAX_MARKS {
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

impl Sampleable for SampledStream {
    fn length_ns(&self) -> u64 {
        SampledStream::length_ns(self)
    }

    fn instants_ns(&self) -> [u64; 3] {
        [self.intended_start_ns, self.actual_start_ns, self.end_ns]
    }
}

/// Streams of a run that were sent: the slowest, from the intended start to the end, and random ones.
pub type SampledStreams = Sampled<SampledStream>;

impl SampledStreams {
    /// Offers a stream with these instants. `stream` is called only if the stream may be kept.
    pub fn offer_stream(
        &mut self,
        intended_start_ns: u64,
        actual_start_ns: u64,
        end_ns: u64,
        stream: impl FnOnce() -> SampledStream,
    ) {
        let length_ns = end_ns.saturating_sub(intended_start_ns);
        self.offer_with(length_ns, [intended_start_ns, actual_start_ns, end_ns], stream);
    }

    /// Returns the reason why no run can have these samples; `None` if they are possible.
    pub(super) fn problem(&self) -> Option<&'static str> {
        if self.is_too_large() {
            return Some("more streams are sampled than are kept");
        }
        if !self.is_in_order() {
            return Some("the slowest streams are not in order");
        }
        self.all().find_map(SampledStream::problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_that_no_run_has_are_refused() {
        let stream = |start: u64, length: u64| SampledStream {
            intended_start_ns: start,
            actual_start_ns: start,
            end_ns: start + length,
            ending: StreamEnding::Complete,
            first_content_ns: None,
            marks: Vec::new(),
        };
        let far = stream(0, u64::MAX);
        let early = SampledStream { actual_start_ns: 4, ..stream(5, 7) };
        let content = SampledStream { first_content_ns: Some(LONGEST_NS + 1), ..stream(5, 7) };
        for (stream, why) in [(far, "later than any run"), (early, "before it should"), (content, "later than any run")]
        {
            let sampled = SampledStreams { slowest: vec![stream], random: Vec::new() };
            assert!(sampled.problem().is_some_and(|problem| problem.contains(why)), "{why}");
        }
    }
}
