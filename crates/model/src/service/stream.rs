//! Services whose answers are streams of server-sent events: content of a stream, and times of its events.

use crate::random::Random;
use crate::time::{Nanos, Timestamp};

/// Maximum number of events of a stream, of tokens of an event, and of data bytes of an event.
pub const MAX_EVENTS: u64 = 100_000;
/// Maximum number of data bytes in all events of a stream.
const MAX_STREAM_BYTES: u64 = 16 << 20;
/// Purpose of the random numbers for gaps of streams.
const PURPOSE: u64 = 0x0073_7472_6561_6d73;

/// Stream that replaces a body of one piece.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StreamDescription {
    /// Content of the stream.
    pub content: StreamContent,
    /// Pace of the stream.
    pub pace: StreamPace,
}

impl StreamDescription {
    /// Returns the batch that all streams share; `None` if each stream has its own pace.
    pub const fn batch(&self) -> Option<Batch> {
        match self.pace {
            StreamPace::Batched(batch) => Some(batch),
            StreamPace::Independent(_) => None,
        }
    }

    /// Returns the pace of each stream; `None` if they share a batch.
    pub const fn timing(&self) -> Option<StreamTiming> {
        match self.pace {
            StreamPace::Independent(timing) => Some(timing),
            StreamPace::Batched(_) => None,
        }
    }
}

/// Decides when events leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamPace {
    /// Each stream has its own pace.
    Independent(StreamTiming),
    /// All streams share a batch.
    Batched(Batch),
}

impl Default for StreamPace {
    fn default() -> StreamPace {
        StreamPace::Independent(StreamTiming::default())
    }
}

/// Content of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamContent {
    /// Number of events with content, unless the request asks for a number of tokens; at most [`MAX_EVENTS`].
    pub events: u64,
    /// Tokens in each event with content, from 1; the last event may have fewer.
    pub tokens: u64,
    /// Minimum bytes of content in each event.
    pub bytes: u64,
    /// Event with content, from 0, before which the connection is closed.
    pub cut: Option<u64>,
    /// End of the stream; `None`: the end of its format.
    pub end: Option<StreamEnd>,
    /// Report of its tokens, if the request asks for it.
    pub usage: UsageReport,
}

impl Default for StreamContent {
    fn default() -> StreamContent {
        StreamContent { events: 10, tokens: 1, bytes: 0, cut: None, end: None, usage: UsageReport::Right }
    }
}

/// End of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamEnd {
    /// After its last event, without a mark.
    Whole,
    /// After one more event, with the data `[DONE]`.
    Done,
    /// Inside a further event.
    Unfinished,
}

/// Report of the number of tokens in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum UsageReport {
    #[default]
    /// The true number.
    Right,
    /// No report, although the request asked for it.
    Missing,
    /// Twice the number plus one.
    Wrong,
}

/// Format of events.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum StreamFormat {
    /// The data is a number.
    #[default]
    Plain,
    /// The format of OpenAI's `/v1/chat/completions`.
    Chat,
    /// The format of OpenAI's `/v1/completions`.
    Completions,
    /// The format of OpenAI's `/v1/embeddings`: an answer that comes whole, at the time of a first token.
    Embeddings,
}

impl StreamFormat {
    /// Returns the format of answers for a path; a query is ignored.
    pub fn for_path(path: &str) -> StreamFormat {
        match path.split(['?', '#']).next() {
            Some("/v1/chat/completions") => StreamFormat::Chat,
            Some("/v1/completions") => StreamFormat::Completions,
            Some("/v1/embeddings") => StreamFormat::Embeddings,
            _ => StreamFormat::Plain,
        }
    }
}

/// Options of a request for its stream.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StreamRequest {
    /// Format of events.
    pub format: StreamFormat,
    /// Number of tokens; `None`: the service decides.
    pub tokens: Option<u64>,
    /// True if the answer should report its number of tokens.
    pub wants_usage: bool,
}

/// Events of one stream, without their times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamOutline {
    /// Number of events with content that leave.
    pub content: u64,
    /// Number of tokens in all events, before a cut.
    pub tokens: u64,
    /// Number of events before the first event with content, which leave together with it.
    pub before: u64,
    /// Number of events after the last event with content, which leave together with it.
    pub after: u64,
    /// End of the stream.
    pub end: StreamEnd,
    /// True if the connection is closed before the end.
    pub is_cut: bool,
}

impl StreamOutline {
    /// Returns the number of events of all kinds in a write. The first write of a stream includes the events before its
    /// content, and the write that `ends` a stream the events after it.
    pub const fn events_of(&self, write: StreamWrite) -> u64 {
        let before = if write.first == 0 { self.before } else { 0 };
        before + write.content + if write.ends { self.after } else { 0 }
    }
}

impl StreamContent {
    /// Returns the maximum number of events of a stream: an answer is kept whole, and a token takes up to eight bytes.
    pub fn max_events(&self) -> u64 {
        let bytes_each = self.bytes.max(self.tokens.saturating_mul(8));
        MAX_STREAM_BYTES.checked_div(bytes_each).unwrap_or(MAX_EVENTS).min(MAX_EVENTS)
    }

    /// Returns the events of a stream that answers `request`.
    pub fn outline(&self, request: StreamRequest) -> StreamOutline {
        let tokens_each = self.tokens.max(1);
        let asked = if request.format == StreamFormat::Embeddings { Some(1) } else { request.tokens };
        let all = asked.map_or(self.events, |tokens| tokens.div_ceil(tokens_each)).min(self.max_events());
        let tokens = asked.unwrap_or(u64::MAX).min(all.saturating_mul(tokens_each));
        let is_cut = self.cut.is_some_and(|cut| cut < all);
        let is_plain = request.format == StreamFormat::Plain;
        let end = self.end.unwrap_or(if is_plain { StreamEnd::Whole } else { StreamEnd::Done });
        let content = if is_cut { self.cut.unwrap_or(all) } else { all };
        let says_usage = request.wants_usage && self.usage != UsageReport::Missing;
        let after = match end {
            StreamEnd::Unfinished => 0,
            _ if is_cut => 0,
            _ if is_plain => 0,
            _ => 1 + u64::from(says_usage),
        };
        StreamOutline {
            content,
            tokens,
            before: u64::from(request.format == StreamFormat::Chat && content > 0),
            after: after + u64::from(end == StreamEnd::Done && !is_cut),
            end,
            is_cut,
        }
    }
}

/// Times of a stream that does not depend on other streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamTiming {
    /// Time from the head to the first write.
    pub first: Nanos,
    /// Time between two writes.
    pub gap: Nanos,
    /// Seed of exponential gaps with the mean `gap`; `None`: constant gaps.
    pub seed: Option<u64>,
    /// Number of events with content in one write, from 1.
    pub burst: u64,
    /// Time from the first to the last byte of a write; the first byte never leaves before the previous write.
    pub trickle: Nanos,
    /// Event (from 0) before which the stream stalls, and duration of the stall in addition to the gap.
    pub stall: Option<(u64, Nanos)>,
}

impl Default for StreamTiming {
    fn default() -> StreamTiming {
        StreamTiming {
            first: Nanos::ZERO,
            gap: Nanos::from_millis(10),
            seed: None,
            burst: 1,
            trickle: Nanos::ZERO,
            stall: None,
        }
    }
}

/// Part of a stream that leaves at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamWrite {
    /// Instant of the write.
    pub at: Timestamp,
    /// Number of its first event with content, from 0.
    pub first: u64,
    /// Number of its events with content.
    pub content: u64,
    /// True if the stream ends with this write, uncut.
    pub ends: bool,
    /// True if the stream's own stall delays this write.
    pub is_stalled: bool,
}

impl StreamTiming {
    /// Returns the writes of stream `number`, whose head leaves at `due`. `pass` delays writes that are ready.
    pub fn writes(
        &self,
        number: u64,
        due: Timestamp,
        outline: &StreamOutline,
        mut pass: impl FnMut(Timestamp) -> Timestamp,
    ) -> Vec<StreamWrite> {
        let mut random = self.seed.map(|seed| Random::new(seed.wrapping_add(number), PURPOSE));
        let mut writes = Vec::new();
        let mut at = due + self.first;
        while writes.last().map_or(0, |last: &StreamWrite| last.first + last.content) < outline.content {
            let first = writes.last().map_or(0, |last: &StreamWrite| last.first + last.content);
            let content = (outline.content - first).min(self.burst.max(1));
            if first > 0 {
                at = at + random.as_mut().map_or(self.gap, |random| scaled(self.gap, random.exponential()));
            }
            let stall = self.stall.filter(|(stalled, _)| (first..first + content).contains(stalled));
            at = pass(at + stall.map_or(Nanos::ZERO, |(_, length)| length));
            let ends = first + content == outline.content && !outline.is_cut;
            writes.push(StreamWrite { at, first, content, ends, is_stalled: stall.is_some() });
        }
        if outline.content == 0 && !outline.is_cut {
            writes.push(StreamWrite { at: pass(at), first: 0, content: 0, ends: true, is_stalled: false });
        }
        writes
    }
}

fn scaled(length: Nanos, factor: f64) -> Nanos {
    Nanos((length.0 as f64 * factor) as u64)
}

/// Continuous batching: a model server works on many streams at once, one step after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Maximum number of streams in a step, from 1. Other streams wait in one queue, first in, first out.
    pub cap: u32,
    /// Additional time of a step for each stream that begins with it.
    pub prefill: Nanos,
    /// Duration of a step, above zero.
    pub step: Nanos,
    /// Additional time of a step for each stream in it.
    pub step_per_stream: Nanos,
}

impl Batch {
    /// Returns the duration of a step with `streams` streams, `beginning` of them new.
    pub const fn step_of(&self, streams: u64, beginning: u64) -> Nanos {
        let for_each = self.step_per_stream.0.saturating_mul(streams);
        let for_new = self.prefill.0.saturating_mul(beginning);
        Nanos(self.step.0.saturating_add(for_each).saturating_add(for_new))
    }
}
