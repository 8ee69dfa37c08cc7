//! Gaps of streams under way.

use truetail_model::time::Nanos;
use truetail_run::{MAX_GAPS_OF_STREAM, StreamKind, StreamTime};

use crate::options::StreamOptions;

/// Gaps of one stream until now: their number, and the first ones if there is room for them.
#[derive(Clone, Default, Debug)]
pub(crate) struct OpenGaps {
    pub(crate) count: u32,
    /// The first gaps, or none. Its capacity never changes.
    pub(crate) first: Vec<Nanos>,
}

impl OpenGaps {
    /// Returns no gaps, with room for as many as are kept of one stream: 32 KiB, of which only touched memory costs
    /// RAM.
    pub(crate) fn with_room() -> OpenGaps {
        OpenGaps { count: 0, first: Vec::with_capacity(MAX_GAPS_OF_STREAM) }
    }

    #[inline]
    pub(crate) fn add(&mut self, gap: Nanos) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < self.first.capacity() {
            self.first.push(gap);
        }
    }

    /// Forgets the gaps, and keeps the room for another stream.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.first.clear();
    }
}

/// Recorder of the gaps of the stream under way.
#[derive(Debug)]
pub(crate) struct GapRecorder {
    /// Gaps of the stream.
    pub(crate) open: OpenGaps,
    /// The time that is a gap in it, if gaps are kept.
    gap: Option<StreamTime>,
}

impl GapRecorder {
    /// Creates a recorder. A channel is no request, so gaps of pushes are not kept.
    pub(crate) fn new(options: &StreamOptions) -> GapRecorder {
        let gap = match options.kind {
            StreamKind::Pushes => None,
            _ if options.llm.is_some() => Some(StreamTime::ContentGap),
            _ => Some(StreamTime::EventGap),
        };
        GapRecorder { open: OpenGaps::default(), gap }
    }

    #[inline]
    pub(crate) fn record(&mut self, time: StreamTime, value: Nanos) {
        if self.gap == Some(time) {
            self.open.add(value);
        }
    }
}
