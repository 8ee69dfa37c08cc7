//! Gaps of the streams under way, for those that the run keeps.

use truetail_model::time::Nanos;
use truetail_run::MAX_GAPS_OF_STREAM;

/// Gaps of one stream until now: their number, and the first ones.
#[derive(Clone, Default, Debug)]
pub(crate) struct OpenGaps {
    pub(crate) count: u32,
    pub(crate) first: Vec<Nanos>,
}

impl OpenGaps {
    /// Returns no gaps, with room for all that are kept of one stream. Untouched memory costs no RAM.
    pub(crate) fn with_room() -> OpenGaps {
        OpenGaps { count: 0, first: Vec::with_capacity(MAX_GAPS_OF_STREAM) }
    }

    #[inline]
    pub(crate) fn add(&mut self, gap: Nanos) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < MAX_GAPS_OF_STREAM {
            self.first.push(gap);
        }
    }

    /// Forgets the gaps, and keeps the room for those of another stream.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.first.clear();
    }
}
