//! Books of streams in virtual time, like the books of `--stream sse` over sockets.

use truetail_model::record::{Outcome, RequestRecord, Samples};
use truetail_model::service::{StreamEnd, StreamFormat};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    EventMarks, KeptStreams, RequestStream, RequestStreams, SampledStream, StreamDetail, StreamEnding, StreamFacts,
    StreamKind, StreamReading, StreamTally, StreamTime, StreamTimes,
};

use crate::{SimulatedStream, Sink};

/// End mark of streams of language models.
const END_MARK: &str = "[DONE]";

/// Counts streams and records the times of their events. Events at one instant came together.
#[derive(Clone, Debug)]
pub struct StreamBooks {
    facts: StreamFacts,
    detail: StreamDetail,
    kept: KeptStreams,
    measure_from: Timestamp,
}

impl StreamBooks {
    /// Creates empty books of requests for `path`, intended at or after `measure_from`. The path decides about end
    /// marks.
    pub fn new(path: &str, measure_from: Timestamp) -> StreamBooks {
        let is_model = StreamFormat::for_path(path) != StreamFormat::Plain;
        let facts = StreamFacts {
            reading: StreamReading {
                end_mark: is_model.then(|| END_MARK.to_owned()),
                ..StreamReading::new(StreamKind::Sse)
            },
            tally: StreamTally::default(),
            events: 0,
            bytes: None,
            coalesced_gaps: 0,
            listened_ns: None,
            stamps: None,
            stalls: 0,
            llm: None,
            times: StreamTimes::default(),
            requests: RequestStreams::default(),
            detail: None,
        };
        StreamBooks { facts, detail: StreamDetail::default(), kept: KeptStreams::with_room(), measure_from }
    }

    /// Returns the books, with the streams of the requests in `samples`.
    pub fn finish(self, samples: &Samples) -> StreamFacts {
        StreamFacts { requests: self.kept.of_samples(samples), detail: Some(self.detail), ..self.facts }
    }

    fn record(&mut self, time: StreamTime, value: Nanos) {
        self.facts.times.get_mut(time).record_n(value, 1);
    }

    /// Records the time without a first event, which might have come later or never.
    fn record_without_event(&mut self, record: &RequestRecord, may_come: bool) {
        let time = if may_come { StreamTime::FirstEventCensored } else { StreamTime::FirstEventFailed };
        self.record(time, record.response_time());
    }

    /// Records the events that came, and returns the longest gap between two of them.
    fn record_events(&mut self, intended_start: Timestamp, events: &[(Timestamp, u64)]) -> Option<Nanos> {
        let count: u64 = events.iter().map(|(_, together)| together).sum();
        self.facts.events += count;
        let gaps = events.windows(2).map(|pair| (pair[1].0, pair[1].0.since(pair[0].0)));
        let mut apart = 0;
        let mut longest = None;
        for (at, gap) in gaps.filter(|(_, gap)| !gap.is_zero()) {
            self.record(StreamTime::EventGap, gap);
            self.detail.gaps.record(at, gap);
            apart += 1;
            longest = longest.max(Some(gap));
        }
        if let Some((first, _)) = events.first() {
            self.record(StreamTime::FirstEvent, first.since(intended_start));
            self.facts.coalesced_gaps += count - 1 - apart;
        }
        longest
    }

    /// Keeps a stream if it is among the sampled ones.
    fn sample(&mut self, record: &RequestRecord, ending: StreamEnding, events: &[(Timestamp, u64)]) {
        let intended = record.intended_start;
        let end = record.end.max(record.intended_start);
        self.detail.sampled.offer_stream(intended.0, record.actual_start.0, end.0, || {
            let mut marks = EventMarks::with_room();
            for (at, together) in events {
                (0..*together).for_each(|event| marks.record(*at, event > 0));
            }
            SampledStream {
                intended_start_ns: intended.0,
                actual_start_ns: record.actual_start.0,
                end_ns: end.0,
                ending,
                first_content_ns: None,
                marks: marks.all().to_vec(),
            }
        });
    }

    fn keep(&mut self, record: &RequestRecord, ending: StreamEnding, events: &[(Timestamp, u64)]) {
        let gaps = events.windows(2).map(|pair| pair[1].0.since(pair[0].0)).filter(|gap| !gap.is_zero());
        let gaps: Vec<Nanos> = gaps.collect();
        let row = RequestStream {
            gaps: u32::try_from(gaps.len()).unwrap_or(u32::MAX),
            first_event: events.first().map(|(at, _)| *at),
            last_event: events.last().map(|(at, _)| *at),
            ..RequestStream::new(record.index, ending)
        };
        self.kept.keep(&row, &gaps, (record.intended_start, record.end));
    }

    fn is_marked(&self, answer: &SimulatedStream) -> bool {
        self.facts.reading.end_mark.is_none() || answer.end == StreamEnd::Done
    }
}

impl Sink for StreamBooks {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        if record.intended_start < self.measure_from {
            return;
        }
        if record.outcome == Outcome::NeverIssued {
            self.facts.tally.count(StreamEnding::NeverIssued);
            self.record_without_event(record, true);
        }
    }

    fn streamed(&mut self, record: &RequestRecord, answer: &SimulatedStream) {
        if record.intended_start < self.measure_from {
            return;
        }
        let head = if answer.head > record.end { None } else { Some(answer.is_stream) };
        let is_answered = matches!(record.outcome, Outcome::Response { .. });
        let is_whole = answer.end != StreamEnd::Unfinished && self.is_marked(answer);
        let is_complete = is_answered && head == Some(true) && is_whole;
        let ending = ending(head, record.outcome, is_complete);
        self.facts.tally.count(ending);
        let came = answer.events.partition_point(|(at, _)| *at <= record.end);
        self.sample(record, ending, &answer.events[..came]);
        self.keep(record, ending, &answer.events[..came]);
        let longest = self.record_events(record.intended_start, &answer.events[..came]);
        let Some((last, _)) = answer.events[..came].last() else {
            let may_come = matches!(record.outcome, Outcome::TimedOut | Outcome::InFlightAtEnd) && head != Some(false);
            return self.record_without_event(record, may_come);
        };
        if is_complete {
            self.record(StreamTime::LastEvent, last.since(record.intended_start));
            longest.into_iter().for_each(|longest| self.record(StreamTime::LongestGap, longest));
        } else {
            let open = record.end.since(*last);
            self.record(StreamTime::EventGapCensored, open);
            self.detail.gaps.record_open(record.end);
            self.record(StreamTime::LongestGapCensored, longest.map_or(open, |longest| longest.max(open)));
        }
    }
}

/// Returns the ending of a stream. `head` tells whether its head was the head of a stream; `None` without a head.
fn ending(head: Option<bool>, outcome: Outcome, is_complete: bool) -> StreamEnding {
    match (head, outcome) {
        (Some(false), _) => StreamEnding::NotAStream,
        (_, Outcome::Response { .. }) if is_complete => StreamEnding::Complete,
        (_, Outcome::Response { .. }) => StreamEnding::Unfinished,
        (_, Outcome::TimedOut) => StreamEnding::TimedOut,
        (_, Outcome::InFlightAtEnd) => StreamEnding::InFlightAtEnd,
        (_, Outcome::NeverIssued) => StreamEnding::NeverIssued,
        (Some(true), Outcome::Reset(_) | Outcome::Malformed(_) | Outcome::ConnectFailed(_)) => StreamEnding::Cut,
        (None, Outcome::Reset(_) | Outcome::Malformed(_) | Outcome::ConnectFailed(_)) => StreamEnding::Failed,
    }
}
