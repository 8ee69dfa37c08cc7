//! Streams of single requests during a run.

use truetail_model::record::{KeptAnswers, Samples};
use truetail_model::time::{Nanos, Timestamp};

use super::gap_lists::{GapLists, MAX_GAPS_OF_STREAM};
use super::request_stream::{RequestStream, RequestStreams};

/// Streams of one worker, or of all: of the requests that a run may keep.
#[derive(Clone, Debug)]
pub struct KeptStreams {
    rows: KeptAnswers<RequestStream>,
    gaps: GapLists,
}

impl KeptStreams {
    /// Creates a record with room for as many streams as a run keeps requests.
    pub fn with_room() -> KeptStreams {
        KeptStreams { rows: KeptAnswers::with_room(), gaps: GapLists::default() }
    }

    /// Creates a record that is never added to.
    pub fn empty() -> KeptStreams {
        KeptStreams { rows: KeptAnswers::empty(), gaps: GapLists::default() }
    }

    /// Offers the stream of a request that was intended at `intended_start` and ended at `end`. `gaps` are the first of
    /// its gaps, at most [`MAX_GAPS_OF_STREAM`].
    pub fn keep(&mut self, row: &RequestStream, gaps: &[Nanos], (intended_start, end): (Timestamp, Timestamp)) {
        self.rows.keep(row, end.since(intended_start));
        self.gaps.keep(row.index, &gaps[..gaps.len().min(MAX_GAPS_OF_STREAM)]);
    }

    /// Changes each stream. The indices must stay.
    pub fn change_each(&mut self, change: impl Fn(&RequestStream) -> RequestStream) {
        self.rows.change_each(change);
    }

    /// Adds the streams of another worker.
    pub fn merge(&mut self, other: KeptStreams) {
        self.rows.merge(other.rows);
        self.gaps.merge(other.gaps);
    }

    /// Returns the streams of the requests in `samples`.
    pub fn of_samples(&self, samples: &Samples) -> RequestStreams {
        RequestStreams::new(self.rows.of_samples(samples), self.gaps.clone())
    }
}
