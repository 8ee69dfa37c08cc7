//! Streams of the single requests that a run keeps, saved with the requests in `samples.csv`.

use std::collections::HashSet;

use truetail_model::record::{OfRequest, Samples};
use truetail_model::time::{Nanos, Timestamp};

use super::gap_lists::{GapList, GapLists};
use super::llm_finish::FinishReason;
use super::stream_ending::StreamEnding;

/// The stream of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestStream {
    /// Index of the request in the whole schedule.
    pub index: u64,
    /// Ending of the stream.
    pub ending: StreamEnding,
    /// Reason why a language model ended its answer, as the server gave it last.
    pub finish: Option<FinishReason>,
    /// Number of gaps of known length between its events, or between the content of a language model.
    pub gaps: u32,
    /// Instant of the first event; `None` without one.
    pub first_event: Option<Timestamp>,
    /// Instant of the last event; `None` without one.
    pub last_event: Option<Timestamp>,
    /// Instant of the first content of a language model; `None` if it is unknown, and without content.
    pub first_content: Option<Timestamp>,
    /// See [`StreamTime::TimePerOutputToken`](crate::StreamTime::TimePerOutputToken).
    pub time_per_output_token: Option<Nanos>,
    /// Tokens of the answer of a language model.
    pub tokens: RequestTokens,
}

/// Tokens of one answer, by the server's count. `None` if it is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RequestTokens {
    /// Tokens of the prompt.
    pub input: Option<u32>,
    /// Tokens of the prompt that the server had in its cache.
    pub cached: Option<u32>,
    /// Tokens of the answer, also of its reasoning. A tokenizer's count, if the server sent none.
    pub output: Option<u32>,
    /// Tokens of reasoning.
    pub reasoning: Option<u32>,
}

impl RequestStream {
    /// Creates a stream with this ending that is otherwise unknown.
    pub fn new(index: u64, ending: StreamEnding) -> RequestStream {
        RequestStream {
            index,
            ending,
            finish: None,
            gaps: 0,
            first_event: None,
            last_event: None,
            first_content: None,
            time_per_output_token: None,
            tokens: RequestTokens::default(),
        }
    }
}

impl OfRequest for RequestStream {
    fn index(&self) -> u64 {
        self.index
    }
}

/// Streams of the requests that a run keeps.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RequestStreams {
    rows: Vec<RequestStream>,
    gaps: Vec<GapList>,
}

impl RequestStreams {
    /// Creates streams from rows and lists of gaps in any order. Gaps of requests without a row are left out.
    pub fn new(mut rows: Vec<RequestStream>, gaps: GapLists) -> RequestStreams {
        rows.sort_unstable_by_key(|row| row.index);
        let mut streams = RequestStreams { rows, gaps: Vec::new() };
        let with_row = gaps.into_lists().into_iter().filter(|list| streams.of(list.index).is_some());
        streams.gaps = with_row.collect();
        streams
    }

    /// Returns true without any stream.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the streams by index.
    pub fn all(&self) -> &[RequestStream] {
        &self.rows
    }

    /// Returns the stream of the request with this index.
    pub fn of(&self, index: u64) -> Option<&RequestStream> {
        let place = self.rows.binary_search_by_key(&index, |row| row.index).ok()?;
        self.rows.get(place)
    }

    /// Returns the first gaps of the stream of the request with this index; `None` if they are not kept.
    pub fn gaps_of(&self, index: u64) -> Option<&[Nanos]> {
        if self.of(index)?.gaps == 0 {
            return Some(&[]);
        }
        let place = self.gaps.binary_search_by_key(&index, |list| list.index).ok()?;
        Some(&self.gaps.get(place)?.gaps)
    }

    /// Forgets the streams of other requests than `samples` has.
    pub fn keep_only(&mut self, samples: &Samples) {
        if self.rows.is_empty() {
            return;
        }
        let kept: HashSet<u64> =
            samples.even().iter().chain(samples.slowest_left_out()).map(OfRequest::index).collect();
        self.rows.retain(|row| kept.contains(&row.index));
        self.gaps.retain(|list| kept.contains(&list.index));
    }

    /// Returns true if both have streams of different requests. Several runs of one load share indices, so a request of
    /// one run would get the stream of another.
    pub fn can_merge(&self, other: &RequestStreams) -> bool {
        other.rows.iter().all(|row| self.of(row.index).is_none())
    }

    /// Adds the streams of another part of the load, if [`RequestStreams::can_merge`].
    pub fn merge(&mut self, other: &RequestStreams) {
        let mut gaps = GapLists::default();
        self.gaps.iter().chain(&other.gaps).for_each(|list| gaps.keep(list.index, &list.gaps));
        let mut rows = std::mem::take(&mut self.rows);
        rows.extend_from_slice(&other.rows);
        *self = RequestStreams::new(rows, gaps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(indices: &[u64]) -> RequestStreams {
        let mut gaps = GapLists::default();
        indices.iter().for_each(|index| gaps.keep(*index, &[Nanos(*index), Nanos(7)]));
        let row = |index: &u64| RequestStream { gaps: 3, ..RequestStream::new(*index, StreamEnding::Complete) };
        RequestStreams::new(indices.iter().map(row).collect(), gaps)
    }

    #[test]
    fn parts_of_one_load_are_merged_and_runs_of_one_load_are_not() {
        let mut whole = streams(&[4, 0]);
        let part = streams(&[3, 1]);
        assert!(whole.can_merge(&part) && !whole.can_merge(&whole));
        whole.merge(&part);
        assert_eq!(whole, streams(&[0, 1, 3, 4]));
        assert_eq!((whole.gaps_of(3), whole.gaps_of(2)), (Some(&[Nanos(3), Nanos(7)][..]), None));
    }

    #[test]
    fn gaps_without_their_stream_are_left_out() {
        let mut gaps = GapLists::default();
        gaps.keep(1, &[Nanos(5)]);
        gaps.keep(2, &[Nanos(6)]);
        let rows = vec![RequestStream { gaps: 1, ..RequestStream::new(2, StreamEnding::Cut) }];
        let kept = RequestStreams::new(rows, gaps);
        assert_eq!((kept.gaps_of(1), kept.gaps_of(2)), (None, Some(&[Nanos(6)][..])));
    }
}
