//! What became of answers that come in pieces (`--stream`).

use serde::{Deserialize, Serialize};

use super::llm::LlmFacts;
use super::mix::{MixTarget, TargetBooks};
use super::offered::OfferedLoad;
use super::stream_detail::StreamDetail;
use super::stream_ending::StreamEnding;
use super::stream_time::{StreamTime, StreamTimes};

/// What the pieces of an answer are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// Server-sent events.
    Sse,
    /// Chunks of HTTP/1.1, frames of data of HTTP/2.
    Chunks,
    /// What an asynchronous generator yields.
    Items,
}

/// How answers were read as streams.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StreamReading {
    /// What an event is.
    pub kind: StreamKind,
    /// The steps of flows whose answers these are, by name; empty: all answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_steps: Vec<String>,
    /// Gaps of at least this are stalls; `None`: none is.
    pub stall_ns: Option<u64>,
    /// A stream that brings no byte for this long is given up; `None`: none is.
    pub idle_timeout_ns: Option<u64>,
    /// The data of the event that has to come before the end; `None`: the end of the answer is enough.
    pub end_mark: Option<String>,
}

impl StreamReading {
    /// All answers, as streams of this kind, without stalls, idle timeout or end mark.
    pub fn of(kind: StreamKind) -> StreamReading {
        StreamReading { kind, of_steps: Vec::new(), stall_ns: None, idle_timeout_ns: None, end_mark: None }
    }
}

/// The streams of a run: how they ended, and their events. Arrivals of the warm-up are in none of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StreamFacts {
    /// How answers were read.
    #[serde(flatten)]
    pub reading: StreamReading,
    /// How they ended.
    pub tally: StreamTally,
    /// Events of all streams.
    pub events: u64,
    /// Bytes of the bodies of all streams; `None` where nobody saw bytes: of items, and in the simulator.
    pub bytes: Option<u64>,
    /// Gaps between events that were read at once: how long they are is not known.
    pub coalesced_gaps: u64,
    /// Gaps that lasted for `stall_ns` or longer, those that no event ended among them.
    pub stalls: u64,
    /// What language models sent; `None` where answers were not read as theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmFacts>,
    /// The times, which are saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: StreamTimes,
    /// What is drawn of them, which is saved in `streams.json`; `None` where a run was saved without it.
    #[serde(skip)]
    pub detail: Option<StreamDetail>,
}

impl StreamFacts {
    /// Adds those of another part of the run. A file may hold any counts, so sums saturate.
    pub fn merge(&mut self, other: &StreamFacts) {
        self.tally.merge(&other.tally);
        let sums = [
            (&mut self.events, other.events),
            (&mut self.coalesced_gaps, other.coalesced_gaps),
            (&mut self.stalls, other.stalls),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
        self.bytes = self.bytes.zip(other.bytes).map(|(sum, part)| sum.saturating_add(part));
        self.llm.iter_mut().zip(&other.llm).for_each(|(sum, part)| sum.merge(part));
        self.times.merge(&other.times);
        // What one part does not have is not known of the whole.
        self.detail = match (self.detail.take(), &other.detail) {
            (Some(mut detail), Some(part)) => {
                detail.merge(part);
                Some(detail)
            }
            _ => None,
        };
    }

    /// What was asked for is the same, so that the two may be added.
    pub fn is_alike(&self, other: &StreamFacts) -> bool {
        let same_llm = match (&self.llm, &other.llm) {
            (Some(llm), Some(other)) => llm.is_alike(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        self.reading == other.reading && same_llm
    }

    /// Of the `planned` arrivals of a run with these requests, how many asked for these streams, or were to; `None` where the
    /// books of its targets are not there.
    pub(super) fn asked(&self, offered: &OfferedLoad, by_target: &[TargetBooks], planned: u64) -> Option<u64> {
        let targets = offered.mix.as_ref().map_or(&[][..], |mix| &mix.targets);
        if self.reading.of_steps.is_empty() || targets.is_empty() {
            return Some(planned);
        }
        let is_asked =
            |target: &MixTarget| target.name.as_ref().is_some_and(|name| self.reading.of_steps.contains(name));
        let tallies = targets.iter().zip(by_target).filter(|(target, _)| is_asked(target));
        (!by_target.is_empty()).then(|| tallies.fold(0, |sum: u64, (_, books)| sum.saturating_add(books.tally.planned)))
    }

    /// Why this is what no run can have: `None` where its books balance with `asked` arrivals that asked for these streams, or were to.
    pub fn imbalance(&self, asked: u64) -> Option<String> {
        let (ended, of) = (self.tally.ends(), |time: StreamTime| self.times.of(time).count());
        let begun = of(StreamTime::FirstEvent);
        let first = [begun, of(StreamTime::FirstEventCensored), of(StreamTime::FirstEventFailed)];
        let events = [begun, of(StreamTime::EventGap), self.coalesced_gaps];
        let sum = |parts: &[u64]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        let with_not_reached = asked.saturating_add(self.tally.not_reached);
        if (self.tally.planned, ended) != (with_not_reached, with_not_reached) {
            return Some(format!(
                "it plans {} streams and {ended} have an end, of {with_not_reached} arrivals",
                self.tally.planned
            ));
        }
        if sum(&first) != asked {
            return Some(format!("{} streams have a time to first event or none, of {asked}", sum(&first)));
        }
        if sum(&events) != self.events {
            let counted = sum(&events);
            return Some(format!("it has {} events, but first events and gaps make {counted}", self.events));
        }
        if of(StreamTime::LongestGap) + of(StreamTime::LongestGapCensored) > begun {
            return Some("more streams have a longest gap than have an event".to_owned());
        }
        self.llm.as_ref().and_then(|llm| self.imbalance_of_llm(llm, asked))
    }

    /// The same for the books of language models.
    fn imbalance_of_llm(&self, llm: &LlmFacts, asked: u64) -> Option<String> {
        let of = |time: StreamTime| self.times.of(time).count();
        let sum = |parts: &[u64]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        let (begun, tokens) = (of(StreamTime::FirstContent), llm.tokens);
        let per_token = of(StreamTime::TimePerOutputToken);
        let counts = [
            ("events", vec![llm.events()], self.events),
            (
                "requests with or without content",
                vec![begun, of(StreamTime::FirstContentCensored), of(StreamTime::FirstContentFailed)],
                asked,
            ),
            ("content events", vec![begun, of(StreamTime::ContentGap), llm.coalesced_content_gaps], llm.content_events),
            ("complete answers by their tokens", vec![tokens.counted, tokens.not_counted], self.tally.complete),
            (
                "complete answers by their time per output token",
                vec![per_token, tokens.unknown_time_per_output_token, tokens.no_time_per_output_token],
                self.tally.complete,
            ),
        ];
        let wrong = counts.into_iter().find(|(_, parts, whole)| sum(parts) != *whole);
        if let Some((what, parts, whole)) = wrong {
            return Some(format!("llm: it has {whole} {what}, but their parts make {}", sum(&parts)));
        }
        let (by_client, output) = llm.by_client.as_ref().map_or((0, 0), |client| (client.counted, client.output));
        if by_client > tokens.not_counted || (by_client == 0 && output > 0) {
            return Some("llm: its tokenizer counted more answers than the server left uncounted".to_owned());
        }
        if per_token > tokens.counted.saturating_add(by_client) {
            return Some("llm: more answers have a time per output token than have a count of tokens".to_owned());
        }
        let (met, cannot_tell) = llm.slo.as_ref().map_or((0, 0), |slo| (slo.met, slo.cannot_tell));
        if sum(&[met, cannot_tell]) > self.tally.complete {
            return Some("llm: more answers may meet the objectives than are complete".to_owned());
        }
        let slo = llm.slo.as_ref()?;
        let is_told = slo.each.iter().all(|each| each.answers() == self.tally.complete);
        let is_of_each = slo.each.is_empty() || slo.each.len() == slo.objectives.len();
        (!is_told || !is_of_each)
            .then(|| "llm: not every complete answer is counted once for each objective".to_owned())
    }
}

/// The books of streams: `planned` is the sum of all others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct StreamTally {
    /// Measured arrivals, and what of a flow was not reached.
    pub planned: u64,
    /// The answer is whole, and so is its last event; where an end mark was asked for, it came.
    pub complete: u64,
    /// The answer is whole by HTTP, but it ended inside an event or without its end mark.
    pub unfinished: u64,
    /// The connection broke, or what came was no HTTP any more, after the head of the answer.
    pub cut: u64,
    /// Nothing came for longer than the idle timeout.
    pub idle: u64,
    /// The time limit of the request was over.
    pub timed_out: u64,
    /// Still open at the end of the run.
    pub in_flight_at_end: u64,
    /// The answer was none that is read as a stream: by its status, its content type or its content coding.
    pub not_a_stream: u64,
    /// No answer began: connecting failed, or the connection broke before the head.
    pub failed: u64,
    /// Never issued.
    pub never_issued: u64,
    /// The answer is whole, but an event in it says that the server failed.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub server_error: u64,
    /// Its session did not come so far, or was never begun: it had no intended start of its own.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub not_reached: u64,
}

/// Left out where it cannot be, without language models or without flows, or is not.
fn is_none_at_all(count: &u64) -> bool {
    *count == 0
}

impl StreamTally {
    /// Counts a planned arrival that ended in this way.
    pub fn count(&mut self, ending: StreamEnding) {
        self.planned += 1;
        *match ending {
            StreamEnding::Complete => &mut self.complete,
            StreamEnding::Unfinished => &mut self.unfinished,
            StreamEnding::Cut => &mut self.cut,
            StreamEnding::Idle => &mut self.idle,
            StreamEnding::TimedOut => &mut self.timed_out,
            StreamEnding::InFlightAtEnd => &mut self.in_flight_at_end,
            StreamEnding::NotAStream => &mut self.not_a_stream,
            StreamEnding::Failed => &mut self.failed,
            StreamEnding::NeverIssued => &mut self.never_issued,
            StreamEnding::ServerError => &mut self.server_error,
        } += 1;
    }

    fn each(&mut self) -> [&mut u64; 12] {
        [
            &mut self.planned,
            &mut self.complete,
            &mut self.unfinished,
            &mut self.cut,
            &mut self.idle,
            &mut self.timed_out,
            &mut self.in_flight_at_end,
            &mut self.not_a_stream,
            &mut self.failed,
            &mut self.never_issued,
            &mut self.server_error,
            &mut self.not_reached,
        ]
    }

    /// Counts streams of a flow whose turn never came.
    pub fn count_not_reached(&mut self, streams: u64) {
        self.planned += streams;
        self.not_reached += streams;
    }

    /// How many ended, in whatever way.
    pub fn ends(mut self) -> u64 {
        self.each()[1..].iter().fold(0, |sum: u64, part| sum.saturating_add(**part))
    }

    /// How each stream ended that was not complete, in words.
    pub fn incomplete(&self) -> [(u64, &'static str); 10] {
        [
            (self.cut, "cut"),
            (self.unfinished, "without their end"),
            (self.server_error, "with an error event"),
            (self.idle, "idle"),
            (self.timed_out, "timed out"),
            (self.in_flight_at_end, "open at the end"),
            (self.not_a_stream, "not a stream"),
            (self.failed, "failed"),
            (self.never_issued, "never issued"),
            (self.not_reached, "not reached"),
        ]
    }

    fn merge(&mut self, other: &StreamTally) {
        let mut part = *other;
        self.each().into_iter().zip(part.each()).for_each(|(sum, part)| *sum = sum.saturating_add(*part));
    }
}
