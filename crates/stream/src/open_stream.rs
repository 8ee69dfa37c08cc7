//! The clocks of one answer.

use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{StreamTally, StreamTime};

use crate::event_parser::ServerSentEvent;
use crate::found::Found;
use crate::options::StreamOptions;

/// What is known of the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Head {
    /// It has not come.
    Awaited,
    /// It is that of a stream.
    OfStream,
    /// It is not.
    OfSomethingElse,
}

/// One thing that was read: how many were read before it, and when it had arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
}

/// An answer under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    pub(crate) head: Head,
    intended_start: Timestamp,
    /// It belongs to no warm-up.
    is_measured: bool,
    /// With what the last event came.
    last: Option<Arrived>,
    /// The longest gap so far; `None` where no gap is known.
    longest: Option<Nanos>,
    /// The event that marks the end has come.
    pub(crate) is_marked: bool,
    /// It was found idle, and nothing has come since.
    pub(crate) is_idle: bool,
    /// When the last byte of it had arrived.
    pub(crate) touched: Timestamp,
}

impl Clocks {
    /// Those of a request that begins.
    pub(crate) fn new(intended_start: Timestamp, is_measured: bool) -> Clocks {
        Clocks {
            head: Head::Awaited,
            intended_start,
            is_measured,
            last: None,
            longest: None,
            is_marked: false,
            is_idle: false,
            touched: intended_start,
        }
    }

    /// Bytes of it came.
    #[inline]
    pub(crate) fn touch(&mut self, bytes: usize, now: Arrived, found: &mut Found) {
        (self.is_idle, self.touched) = (false, now.at);
        if self.is_measured {
            found.bytes += bytes as u64;
        }
    }

    /// A server-sent event came.
    #[inline]
    pub(crate) fn sse(&mut self, event: ServerSentEvent<'_>, now: Arrived, options: &StreamOptions, found: &mut Found) {
        self.is_marked |=
            options.end_mark.as_ref().is_some_and(|mark| event.is_whole() && event.data == mark.as_bytes());
        self.event(now, options, found);
    }

    /// An event came. Those that come with one read have no time between them that anybody knows.
    #[inline]
    pub(crate) fn event(&mut self, now: Arrived, options: &StreamOptions, found: &mut Found) {
        let before = self.last.replace(now);
        if !self.is_measured {
            return;
        }
        found.events += 1;
        match before {
            None => found.record(StreamTime::FirstEvent, now.at.since(self.intended_start)),
            Some(before) if before.number == now.number => found.coalesced_gaps += 1,
            Some(before) => {
                let gap = now.at.since(before.at);
                found.record(StreamTime::EventGap, gap);
                self.gap(gap, options, found);
            }
        }
    }

    fn gap(&mut self, gap: Nanos, options: &StreamOptions, found: &mut Found) {
        found.stalls += u64::from(options.stall.is_some_and(|stall| gap >= stall));
        self.longest = Some(self.longest.map_or(gap, |longest| longest.max(gap)));
    }

    /// The request ended at `end`. `is_whole`: it did not end inside an event.
    pub(crate) fn end(
        mut self,
        outcome: Outcome,
        end: Timestamp,
        is_whole: bool,
        options: &StreamOptions,
        found: &mut Found,
    ) {
        if !self.is_measured {
            return;
        }
        let is_marked = self.is_marked || options.end_mark.is_none();
        let is_complete =
            matches!(outcome, Outcome::Response { .. }) && self.head == Head::OfStream && is_whole && is_marked;
        found.tally.planned += 1;
        *self.place(outcome, is_complete, &mut found.tally) += 1;
        let Some(last) = self.last else {
            let waited = end.since(self.intended_start);
            return found.record(without_first_event(self.head, outcome), waited);
        };
        if is_complete {
            found.record(StreamTime::LastEvent, last.at.since(self.intended_start));
            self.longest.into_iter().for_each(|longest| found.record(StreamTime::LongestGap, longest));
        } else {
            let open = end.since(last.at);
            self.gap(open, options, found);
            found.record(StreamTime::EventGapCensored, open);
            self.longest.into_iter().for_each(|longest| found.record(StreamTime::LongestGapCensored, longest));
        }
    }

    /// The count in the books that it belongs to.
    fn place(self, outcome: Outcome, is_complete: bool, tally: &mut StreamTally) -> &mut u64 {
        match (self.head, outcome) {
            (Head::OfSomethingElse, _) => &mut tally.not_a_stream,
            (_, Outcome::Response { .. }) if is_complete => &mut tally.complete,
            (_, Outcome::Response { .. }) => &mut tally.unfinished,
            (_, Outcome::TimedOut) if self.is_idle => &mut tally.idle,
            (_, Outcome::TimedOut) => &mut tally.timed_out,
            (_, Outcome::InFlightAtEnd) => &mut tally.in_flight_at_end,
            (_, Outcome::NeverIssued) => &mut tally.never_issued,
            (Head::OfStream, Outcome::Reset(_) | Outcome::Malformed(_) | Outcome::ConnectFailed(_)) => &mut tally.cut,
            (Head::Awaited, Outcome::Reset(_) | Outcome::Malformed(_) | Outcome::ConnectFailed(_)) => &mut tally.failed,
        }
    }
}

/// What the wait for a first event is that did not come: it might have come later, or it never would.
fn without_first_event(head: Head, outcome: Outcome) -> StreamTime {
    match outcome {
        Outcome::TimedOut | Outcome::InFlightAtEnd | Outcome::NeverIssued if head != Head::OfSomethingElse => {
            StreamTime::FirstEventCensored
        }
        _ => StreamTime::FirstEventFailed,
    }
}
