use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{EventMarks, RequestStream, SampledStream, StreamEnding, StreamTime};

use crate::event_parser::ServerSentEvent;
use crate::found::StreamResults;
use crate::options::StreamOptions;

/// Limit on the simultaneously open streams of one observer that may be sampled and keep their gaps. Each
/// takes 4 KiB of memory, and 8 bytes for each gap.
pub(crate) const MAX_MARKED: usize = 2_048;

/// Marks an event that comes now. Call it before `clocks` records the event.
#[inline]
pub(crate) fn mark(marks: &mut Option<EventMarks>, clocks: &Clocks, now: ReadInstant) {
    if let Some(marks) = marks {
        marks.record(now.at.max(clocks.intended_start), clocks.is_coalesced(now));
    }
}

/// Kind of the answer, according to its head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Head {
    Awaited,
    OfStream,
    OfSomethingElse,
}

/// Meaning of a wait for a first event or content that never came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MissingFirst {
    /// It might have come later.
    Censored,
    /// It would never have come.
    Failed,
}

impl Head {
    /// Returns the meaning of the wait of a request with this outcome.
    pub(crate) fn without_first(self, outcome: Outcome) -> MissingFirst {
        match outcome {
            Outcome::TimedOut | Outcome::InFlightAtEnd | Outcome::NeverIssued if self != Head::OfSomethingElse => {
                MissingFirst::Censored
            }
            _ => MissingFirst::Failed,
        }
    }
}

/// One read: its number, and the time when its bytes had arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadInstant {
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
}

/// Clocks of one answer, while it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    pub(crate) head: Head,
    pub(crate) intended_start: Timestamp,
    /// The answer does not belong to the warm-up.
    pub(crate) is_measured: bool,
    /// Time of the first event.
    first_event: Option<Timestamp>,
    /// The read that brought the last event.
    last: Option<ReadInstant>,
    /// The longest known gap.
    longest: Option<Nanos>,
    /// The end mark has come.
    pub(crate) is_marked: bool,
    /// An event reports an error of the server.
    pub(crate) has_error: bool,
    /// A language model ended its answer.
    pub(crate) is_finished: bool,
    /// An event of a language model was not understood.
    pub(crate) has_unknown: bool,
    /// The stream was found idle, and no byte has come since.
    pub(crate) is_idle: bool,
    /// Arrival of its last byte.
    pub(crate) touched: Timestamp,
}

impl Clocks {
    pub(crate) fn new(intended_start: Timestamp, is_measured: bool) -> Clocks {
        Clocks {
            head: Head::Awaited,
            intended_start,
            is_measured,
            first_event: None,
            last: None,
            longest: None,
            is_marked: false,
            has_error: false,
            is_finished: false,
            has_unknown: false,
            is_idle: false,
            touched: intended_start,
        }
    }

    #[inline]
    pub(crate) fn touch(&mut self, bytes: usize, now: ReadInstant, found: &mut StreamResults) {
        (self.is_idle, self.touched) = (false, now.at);
        if self.is_measured {
            found.bytes += bytes as u64;
        }
    }

    /// Records a server-sent event. Returns true if it is the end mark.
    #[inline]
    pub(crate) fn sse(
        &mut self,
        event: ServerSentEvent<'_>,
        now: ReadInstant,
        options: &StreamOptions,
        found: &mut StreamResults,
    ) -> bool {
        let is_mark = event.is_whole() && options.is_end_mark(event.data);
        self.has_error |= event.is_error;
        self.is_marked |= is_mark;
        self.event(now, options, found);
        is_mark
    }

    /// Returns true if an event that comes now was read together with the one before.
    #[inline]
    pub(crate) fn is_coalesced(&self, now: ReadInstant) -> bool {
        self.last.is_some_and(|last| last.number == now.number)
    }

    pub(crate) fn last(&self) -> Option<ReadInstant> {
        self.last
    }

    pub(crate) fn last_event(&self) -> Option<Timestamp> {
        self.last.map(|last| last.at)
    }

    /// Returns the stream of the request with this index that had this ending.
    pub(crate) fn row(&self, index: u64, ending: StreamEnding) -> RequestStream {
        let at = |event: Option<Timestamp>| Some(event?.max(self.intended_start));
        let [first_event, last_event] = [at(self.first_event), at(self.last_event())];
        RequestStream { first_event, last_event, ..RequestStream::new(index, ending) }
    }

    /// Returns true if this outcome completes the stream. `is_whole` means that it did not end inside an event.
    pub(crate) fn is_complete(&self, outcome: Outcome, is_whole: bool, options: &StreamOptions) -> bool {
        let must_finish = options.llm.as_ref().is_some_and(|llm| llm.must_finish);
        let is_marked = if options.end_mark.is_some() { self.is_marked } else { !must_finish };
        // The end of a language model's answer needs no mark. A mark proves less if an event may have been an error.
        let is_ended = self.is_finished || (is_marked && !self.has_unknown);
        let is_answer = matches!(outcome, Outcome::Response { .. }) && self.head == Head::OfStream;
        is_answer && is_whole && is_ended && !self.has_error
    }

    /// Records an event. The time between events of one read is unknown.
    #[inline]
    pub(crate) fn event(&mut self, now: ReadInstant, options: &StreamOptions, found: &mut StreamResults) {
        let before = self.last.replace(now);
        if !self.is_measured {
            return;
        }
        found.of_stream(self.intended_start);
        found.events += 1;
        match before {
            None => {
                self.first_event = Some(now.at);
                found.record(StreamTime::FirstEvent, now.at.since(self.intended_start));
            }
            Some(before) if before.number == now.number => found.coalesced_gaps += 1,
            Some(before) => {
                let gap = now.at.since(before.at);
                found.record(StreamTime::EventGap, gap);
                found.detail.gaps.record(now.at, gap);
                self.gap(gap, options, found);
            }
        }
    }

    fn gap(&mut self, gap: Nanos, options: &StreamOptions, found: &mut StreamResults) {
        found.stalls += u64::from(options.stall.is_some_and(|stall| gap >= stall));
        self.longest = Some(self.longest.map_or(gap, |longest| longest.max(gap)));
    }

    /// Records the end of the measured request, and returns its ending. [`Clocks::is_complete`] gives `is_complete`.
    pub(crate) fn end(
        mut self,
        outcome: Outcome,
        end: Timestamp,
        is_complete: bool,
        options: &StreamOptions,
        found: &mut StreamResults,
    ) -> StreamEnding {
        let ending = self.ending(outcome, is_complete);
        found.of_stream(self.intended_start);
        found.tally.count(ending);
        let Some(last) = self.last else {
            let waited = end.since(self.intended_start);
            match self.head.without_first(outcome) {
                MissingFirst::Censored => found.record(StreamTime::FirstEventCensored, waited),
                MissingFirst::Failed => found.record(StreamTime::FirstEventFailed, waited),
            }
            return ending;
        };
        if is_complete {
            found.record(StreamTime::LastEvent, last.at.since(self.intended_start));
            self.longest.into_iter().for_each(|longest| found.record(StreamTime::LongestGap, longest));
        } else {
            let open = end.since(last.at);
            self.gap(open, options, found);
            found.record(StreamTime::EventGapCensored, open);
            found.detail.gaps.record_open(end);
            self.longest.into_iter().for_each(|longest| found.record(StreamTime::LongestGapCensored, longest));
        }
        ending
    }

    /// Records that a subscribed channel ended, and returns its ending. The wait since its last push is a gap that no
    /// event ended, so a feed that fell silent has stalled.
    pub(crate) fn end_listening(
        &self,
        is_lost: bool,
        end: Timestamp,
        options: &StreamOptions,
        found: &mut StreamResults,
    ) -> StreamEnding {
        let ending = if is_lost { StreamEnding::Cut } else { StreamEnding::Complete };
        found.tally.count(ending);
        found.listened += end.since(self.intended_start);
        let Some(last) = self.last else {
            let missing = if is_lost { StreamTime::FirstEventFailed } else { StreamTime::FirstEventCensored };
            found.record(missing, end.since(self.intended_start));
            return ending;
        };
        let open = end.since(last.at);
        found.stalls += u64::from(options.stall.is_some_and(|stall| open >= stall));
        found.record(StreamTime::EventGapCensored, open);
        found.detail.gaps.record_open(end);
        match self.longest.filter(|longest| *longest >= open) {
            Some(longest) => found.record(StreamTime::LongestGap, longest),
            None => found.record(StreamTime::LongestGapCensored, open),
        }
        ending
    }

    /// Offers the measured stream to the sample. It must have been sent and have [ended](Clocks::end).
    pub(crate) fn sample(
        &self,
        marks: &EventMarks,
        first_content: Option<Timestamp>,
        ending: StreamEnding,
        (start, end): (Timestamp, Timestamp),
        found: &mut StreamResults,
    ) {
        let intended = self.intended_start;
        let start = start.max(intended);
        let end = end.max(intended);
        found.detail.sampled.offer_stream(intended.0, start.0, end.0, || SampledStream {
            intended_start_ns: intended.0,
            actual_start_ns: start.0,
            end_ns: end.0,
            ending,
            first_content_ns: first_content.map(|at| at.0),
            marks: marks.all().to_vec(),
        });
    }

    fn ending(self, outcome: Outcome, is_complete: bool) -> StreamEnding {
        match (self.head, outcome) {
            (Head::OfSomethingElse, _) => StreamEnding::NotAStream,
            (_, Outcome::Response { .. }) if is_complete => StreamEnding::Complete,
            (_, Outcome::Response { .. }) if self.has_error => StreamEnding::ServerError,
            (_, Outcome::Response { .. }) => StreamEnding::Unfinished,
            (_, Outcome::TimedOut) if self.is_idle => StreamEnding::Idle,
            (_, Outcome::TimedOut) => StreamEnding::TimedOut,
            (_, Outcome::InFlightAtEnd) => StreamEnding::InFlightAtEnd,
            (_, Outcome::NeverIssued) => StreamEnding::NeverIssued,
            (Head::OfStream, Outcome::Reset(_) | Outcome::Malformed(_) | Outcome::ConnectFailed(_)) => {
                StreamEnding::Cut
            }
            (Head::Awaited, Outcome::Reset(_) | Outcome::Malformed(_) | Outcome::ConnectFailed(_)) => {
                StreamEnding::Failed
            }
        }
    }
}
