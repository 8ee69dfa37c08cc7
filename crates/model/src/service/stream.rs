//! A service whose answers are streams of server-sent events: what is in one, and when its events leave.

use crate::random::Random;
use crate::time::{Nanos, Timestamp};

/// Most events of a stream, tokens of an event, and bytes of the data of one.
pub const MAX_EVENTS: u64 = 100_000;
/// Most bytes of data in all events of a stream.
const MAX_STREAM_BYTES: u64 = 16 << 20;
/// What keeps the gaps of streams apart from other random numbers.
const PURPOSE: u64 = 0x0073_7472_6561_6d73;

/// What a service answers with in place of a body of one piece.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StreamDescription {
    /// What is in a stream.
    pub content: StreamContent,
    /// When it leaves.
    pub pace: StreamPace,
}

impl StreamDescription {
    /// The batch that its streams share; `None` where each goes at its own pace.
    pub const fn batch(&self) -> Option<Batch> {
        match self.pace {
            StreamPace::Batched(batch) => Some(batch),
            StreamPace::Alone(_) => None,
        }
    }

    /// Its pace where it does not depend on other streams.
    pub const fn timing(&self) -> Option<StreamTiming> {
        match self.pace {
            StreamPace::Alone(timing) => Some(timing),
            StreamPace::Batched(_) => None,
        }
    }
}

/// What decides when events leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamPace {
    /// Nothing but the stream itself.
    Alone(StreamTiming),
    /// The batch in which all streams are worked on together.
    Batched(Batch),
}

impl Default for StreamPace {
    fn default() -> StreamPace {
        StreamPace::Alone(StreamTiming::default())
    }
}

/// What is in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamContent {
    /// Events with content, unless the request says how many tokens it wants; at most [`MAX_EVENTS`].
    pub events: u64,
    /// Tokens in each of them, from 1; the last may have fewer.
    pub tokens: u64,
    /// Bytes of content in each of them, at least.
    pub bytes: u64,
    /// The connection is closed before this one of them, from 0.
    pub cut: Option<u64>,
    /// How it ends; `None`: as its format wants it.
    pub end: Option<StreamEnd>,
    /// What it says of its tokens, where the request asks for that.
    pub usage: UsageReport,
}

impl Default for StreamContent {
    fn default() -> StreamContent {
        StreamContent { events: 10, tokens: 1, bytes: 0, cut: None, end: None, usage: UsageReport::Right }
    }
}

/// How a stream ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamEnd {
    /// After its last event, without a mark.
    Whole,
    /// After one more event, with the data `[DONE]`.
    Done,
    /// Inside a further event.
    Unfinished,
}

/// What a stream says of how many tokens it has.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum UsageReport {
    /// How many there are.
    #[default]
    Right,
    /// Nothing, though it was asked.
    Missing,
    /// Twice as many and one.
    Wrong,
}

/// In which form events are sent.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum StreamFormat {
    /// The data is a number.
    #[default]
    Plain,
    /// As `/v1/chat/completions` of OpenAI does it.
    Chat,
    /// As `/v1/completions` of OpenAI does it.
    Completions,
}

impl StreamFormat {
    /// The form in which a path is answered; a query does not matter.
    pub fn of_path(path: &str) -> StreamFormat {
        match path.split(['?', '#']).next() {
            Some("/v1/chat/completions") => StreamFormat::Chat,
            Some("/v1/completions") => StreamFormat::Completions,
            _ => StreamFormat::Plain,
        }
    }
}

/// What a request asks of its stream.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StreamRequest {
    /// In which form.
    pub format: StreamFormat,
    /// How many tokens; `None`: as many as the service likes.
    pub tokens: Option<u64>,
    /// It wants to be told how many tokens there are.
    pub wants_usage: bool,
}

/// The events of one stream, without their instants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamOutline {
    /// Events with content that leave.
    pub content: u64,
    /// Tokens in all events that it would have.
    pub tokens: u64,
    /// Events that leave with the first of them, before it.
    pub before: u64,
    /// Events that leave with the last of them, after it.
    pub after: u64,
    /// How it ends.
    pub end: StreamEnd,
    /// The connection is closed before the end.
    pub is_cut: bool,
}

impl StreamOutline {
    /// Events of all kinds in a write with so much content. The first write of a stream has those that stand before it, and
    /// the one that `ends` a stream those behind it.
    pub const fn events_of(&self, write: StreamWrite) -> u64 {
        let before = if write.first == 0 { self.before } else { 0 };
        before + write.content + if write.ends { self.after } else { 0 }
    }
}

impl StreamContent {
    /// Most events that a stream may have: an answer is kept whole, and a token takes up to eight bytes.
    pub fn most_events(&self) -> u64 {
        let bytes_each = self.bytes.max(self.tokens.saturating_mul(8));
        MAX_STREAM_BYTES.checked_div(bytes_each).unwrap_or(MAX_EVENTS).min(MAX_EVENTS)
    }

    /// The events of a stream that answers `request`.
    pub fn outline(&self, request: StreamRequest) -> StreamOutline {
        let tokens_each = self.tokens.max(1);
        let all = request.tokens.map_or(self.events, |tokens| tokens.div_ceil(tokens_each)).min(self.most_events());
        let tokens = request.tokens.unwrap_or(u64::MAX).min(all.saturating_mul(tokens_each));
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

/// When the events of a stream leave that depends on no other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamTiming {
    /// From the head to the first write.
    pub first: Nanos,
    /// Between two writes.
    pub gap: Nanos,
    /// Gaps are exponential, with this seed and the mean `gap`.
    pub seed: Option<u64>,
    /// Events with content in one write, from 1.
    pub burst: u64,
    /// So long before a write is complete its first bytes leave, where the write before it has left by then.
    pub trickle: Nanos,
    /// Before this event (from 0) the stream stalls for so long, on top of the gap.
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

/// What leaves at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamWrite {
    /// When.
    pub at: Timestamp,
    /// The number of its first event with content, from 0.
    pub first: u64,
    /// How many events with content it has.
    pub content: u64,
    /// The stream ends with it, as it should.
    pub ends: bool,
    /// The stream's own stall delays it.
    pub is_stalled: bool,
}

impl StreamTiming {
    /// The writes of stream `number`, whose head leaves at `due`. `pass` says when a write leaves that is ready at an instant.
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

/// Continuous batching: what a model server does that works on many streams at once, one step after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Most streams in a step, from 1. Others wait in one queue, first in, first out.
    pub cap: u32,
    /// How much longer a step is for each stream that begins with it.
    pub prefill: Nanos,
    /// How long a step is, above zero.
    pub step: Nanos,
    /// How much longer it is for each stream in it.
    pub step_per_stream: Nanos,
}

impl Batch {
    /// How long a step of so many streams is, of which `beginning` begin with it.
    pub const fn step_of(&self, streams: u64, beginning: u64) -> Nanos {
        let for_each = self.step_per_stream.0.saturating_mul(streams);
        let for_new = self.prefill.0.saturating_mul(beginning);
        Nanos(self.step.0.saturating_add(for_each).saturating_add(for_new))
    }
}
