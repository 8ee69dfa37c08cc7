//! Streamed answers of a run (`--stream`).

use serde::{Deserialize, Serialize};

use super::llm::LlmFacts;
use super::mix::{MixTarget, TargetBooks};
use super::offered::OfferedLoad;
use super::request_stream::RequestStreams;
use super::session_books::is_zero;
use super::stamp::StampBooks;
use super::stream_detail::StreamDetail;
use super::stream_ending::StreamEnding;
use super::stream_reading::{StreamKind, StreamReading};
use super::stream_time::{StreamTime, StreamTimes};

/// The streams of a run (`--stream`): how they ended, and their events. Arrivals of the warm-up are left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StreamFacts {
    /// Settings for reading the answers.
    #[serde(flatten)]
    pub reading: StreamReading,
    /// Counts of the streams by ending.
    pub tally: StreamTally,
    /// Events of all streams.
    pub events: u64,
    /// Body bytes of all streams. `None` if no bytes were seen: for items, and in the simulator.
    pub bytes: Option<u64>,
    /// Gaps between events that were read at once. Their length is unknown.
    pub coalesced_gaps: u64,
    /// Gaps of at least `stall_ns`, including gaps that no event ended.
    pub stalls: u64,
    /// Sum of the times that subscribed channels were listened to; `None` for other streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listened_ns: Option<u64>,
    /// Books of the sender's times in pushes; `None` without `--stamp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<StampBooks>,
    /// Events and tokens of language models; `None` without `--llm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmFacts>,
    /// Stream times, saved in `histograms.hlog`.
    #[serde(skip)]
    pub times: StreamTimes,
    /// Streams of the single requests that the run keeps. They are saved with the requests in `samples.csv`.
    #[serde(skip)]
    pub requests: RequestStreams,
    /// Data for pictures of the streams, saved in `streams.json`; `None` if a run was saved without it.
    #[serde(skip)]
    pub detail: Option<StreamDetail>,
}

impl StreamFacts {
    /// Adds the streams of another part of the run. Streams of single requests are lost if both parts have [the same
    /// requests](RequestStreams::can_merge). Sums saturate, since files may hold any counts.
    pub fn merge(&mut self, other: &StreamFacts) {
        self.tally.merge(&other.tally);
        let sums = [
            (&mut self.events, other.events),
            (&mut self.coalesced_gaps, other.coalesced_gaps),
            (&mut self.stalls, other.stalls),
        ];
        sums.into_iter().for_each(|(sum, part)| *sum = sum.saturating_add(part));
        self.bytes = self.bytes.zip(other.bytes).map(|(sum, part)| sum.saturating_add(part));
        self.listened_ns = self.listened_ns.zip(other.listened_ns).map(|(sum, part)| sum.saturating_add(part));
        self.stamps.iter_mut().zip(&other.stamps).for_each(|(sum, part)| sum.merge(part));
        self.llm.iter_mut().zip(&other.llm).for_each(|(sum, part)| sum.merge(part));
        self.times.merge(&other.times);
        match self.requests.can_merge(&other.requests) {
            true => self.requests.merge(&other.requests),
            false => self.requests = RequestStreams::default(),
        }
        // The detail of the whole is known only if every part has it.
        self.detail = match (self.detail.take(), &other.detail) {
            (Some(mut detail), Some(part)) => {
                detail.merge(part);
                Some(detail)
            }
            _ => None,
        };
    }

    /// Returns true if both were read with the same settings, so that they can be added.
    pub fn is_alike(&self, other: &StreamFacts) -> bool {
        let same_llm = match (&self.llm, &other.llm) {
            (Some(llm), Some(other)) => llm.is_alike(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let same_stamps = match (&self.stamps, &other.stamps) {
            (Some(stamps), Some(other)) => stamps.is_alike(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        self.reading == other.reading && same_llm && same_stamps
    }

    /// Returns the planned requests for these streams, among `planned` arrivals; `None` without books of the targets,
    /// and for pushes.
    pub(super) fn planned_requests(
        &self,
        offered: &OfferedLoad,
        by_target: &[TargetBooks],
        planned: u64,
    ) -> Option<u64> {
        let targets = offered.mix.as_ref().map_or(&[][..], |mix| &mix.targets);
        // A channel is a stream, and no request.
        if self.reading.kind == StreamKind::Pushes {
            return None;
        }
        if self.reading.of_steps.is_empty() || targets.is_empty() {
            return Some(planned);
        }
        let is_asked =
            |target: &MixTarget| target.name.as_ref().is_some_and(|name| self.reading.of_steps.contains(name));
        let tallies = targets.iter().zip(by_target).filter(|(target, _)| is_asked(target));
        (!by_target.is_empty()).then(|| tallies.fold(0, |sum: u64, (_, books)| sum.saturating_add(books.tally.planned)))
    }

    /// Returns the reason why these books do not fit `asked` planned requests; `None` if they balance.
    pub fn imbalance(&self, asked: u64) -> Option<String> {
        let ended = self.tally.ends();
        let of = |time: StreamTime| self.times.get(time).count();
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
        let (read, pushes) = self.stamps.as_ref().map_or((0, self.events), |stamps| (stamps.read, stamps.pushes()));
        if (of(StreamTime::PushDelay), pushes) != (read, self.events) {
            return Some(format!("{} pushes have a delay, and {read} of {pushes} a time", of(StreamTime::PushDelay)));
        }
        let is_of_whole_api = self.llm.as_ref().is_some_and(|llm| llm.reading.api.comes_whole());
        if is_of_whole_api != (self.reading.kind == StreamKind::Whole) {
            return Some("answers come whole if the API says so, and only then".to_owned());
        }
        self.llm.as_ref().and_then(|llm| self.imbalance_of_llm(llm, asked))
    }

    /// Returns the reason why the books of language models do not balance; `None` if they do.
    fn imbalance_of_llm(&self, llm: &LlmFacts, asked: u64) -> Option<String> {
        let of = |time: StreamTime| self.times.get(time).count();
        let sum = |parts: &[u64]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        let begun = of(StreamTime::FirstContent);
        let tokens = llm.tokens;
        let unmeasured = llm.unmeasured;
        let per_token = of(StreamTime::TimePerOutputToken);
        // The content of an answer that comes whole has no times.
        let with_times = if llm.reading.api.comes_whole() { 0 } else { asked };
        let counts = [
            ("events", vec![llm.events()], self.events),
            (
                "requests with or without content",
                vec![
                    begun,
                    of(StreamTime::FirstContentCensored),
                    of(StreamTime::FirstContentFailed),
                    unmeasured.first_content,
                ],
                with_times,
            ),
            (
                "parts of content",
                vec![begun, of(StreamTime::ContentGap), llm.coalesced_content_gaps, unmeasured.without_gap],
                llm.content_events.saturating_add(unmeasured.further_parts),
            ),
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
        if !llm.reading.api.has_output() && tokens.output > 0 {
            return Some("llm: embeddings and orders of documents have no output tokens".to_owned());
        }
        if !llm.finish.is_empty() && llm.finish.answers() != self.tally.complete {
            return Some("llm: not every complete answer is counted once by its reason to end".to_owned());
        }
        if tokens.hidden_reasoning > tokens.reasoning || tokens.with_cached > tokens.counted {
            return Some("llm: parts of the tokens are more than the whole".to_owned());
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

/// Counts of streams by ending: `planned` is the sum of all others.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct StreamTally {
    /// Measured arrivals, and steps of flows that were not reached.
    pub planned: u64,
    /// The answer and its last event are whole, and the end mark came if one was required.
    pub complete: u64,
    /// The answer is whole by HTTP, but it ended inside an event or without its end mark.
    pub unfinished: u64,
    /// The connection broke, or the protocol was violated, after the head of the answer.
    pub cut: u64,
    /// No byte came for longer than the idle timeout.
    pub idle: u64,
    /// The request timed out.
    pub timed_out: u64,
    /// Still open at the end of the run.
    pub in_flight_at_end: u64,
    /// The answer was not read as a stream because of its status, content type or content coding.
    pub not_a_stream: u64,
    /// No answer began: connecting failed, or the connection broke before the head.
    pub failed: u64,
    /// Never issued.
    pub never_issued: u64,
    /// The answer is whole, but contains an event that reports a failure of the server.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub server_error: u64,
    /// The session never reached the step, or was never begun. The stream had no intended start.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_reached: u64,
}

impl StreamTally {
    /// Counts a planned arrival with this ending.
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

    /// Counts streams of flow steps that were not reached.
    pub fn count_not_reached(&mut self, streams: u64) {
        self.planned += streams;
        self.not_reached += streams;
    }

    /// Returns the sum over all endings.
    pub fn ends(mut self) -> u64 {
        self.each()[1..].iter().fold(0, |sum: u64, part| sum.saturating_add(**part))
    }

    /// Returns the count and description of each ending other than complete.
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
