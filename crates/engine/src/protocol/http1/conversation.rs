//! One HTTP/1.1 connection.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_run::SkippedLines;

use super::head_cache::HeadCache;
use super::part::Part;
use super::response::{AnswerEnd, Parsed, ResponseParser};
use super::source::RequestSource;
use crate::protocol::observer::{AnswerHead, HeadFields, Trailers};
use crate::protocol::{Beginning, Closed, Conversation, Ended, Event, Events, Flow, Protocol, Retry, Tag};
use crate::target::request_parts::RequestParts;
use crate::target::request_set::{RequestId, RequestSet};

/// HTTP/1.1 for all connections of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Http1<R = RequestSet> {
    requests: R,
    keep_alive: bool,
    head_cache: HeadCache,
}

impl<R: RequestSource> Http1<R> {
    pub(crate) fn new(requests: R, keep_alive: bool) -> Http1<R> {
        Http1 { requests, keep_alive, head_cache: HeadCache::new() }
    }
}

impl<R: RequestSource> Protocol for Http1<R> {
    type Conversation = Http1Conversation<R::Own>;

    fn conversation(&self) -> Http1Conversation<R::Own> {
        Http1Conversation {
            parser: ResponseParser::new(),
            current: None,
            own: R::Own::default(),
            sent: 0,
            is_closing: false,
        }
    }

    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        self.requests.request_of(row)
    }

    fn take_skipped_lines(&mut self) -> Option<SkippedLines> {
        self.head_cache.take_skipped_lines()
    }
}

#[derive(Debug)]
pub(crate) struct Http1Conversation<O = ()> {
    parser: ResponseParser,
    current: Option<(Tag, RequestId)>,
    /// The part of the current request that belongs to this connection alone.
    own: O,
    /// Bytes of the current request that the transport took.
    sent: usize,
    is_closing: bool,
}

impl<O> Http1Conversation<O> {
    fn end(&mut self, outcome: Outcome, retry: Retry, events: &mut Events) {
        if let Some((tag, _)) = self.current.take() {
            events.end(Ended { retry, ..Ended::new(tag, outcome, self.parser.received()) });
        }
    }

    fn stop(&mut self, events: &mut Events) {
        if !std::mem::replace(&mut self.is_closing, true) {
            events.push(Event::GoingAway);
        }
    }

    /// Returns the outcome of an answer at the end of the connection.
    fn outcome_at_end(&mut self, how: Closed) -> Outcome {
        let has_begun = self.parser.received() > 0;
        match how {
            Closed::EndOfStream { authentic } => match self.parser.end() {
                Ok(end) if authentic => Outcome::response(end.status),
                Ok(_) => Outcome::Malformed(Cause::Truncated),
                Err(cause @ Cause::ClosedBeforeAnswer) => Outcome::Reset(cause),
                Err(cause) => Outcome::Malformed(cause),
            },
            Closed::Reset if has_begun => Outcome::Malformed(Cause::Truncated),
            Closed::Reset => Outcome::Reset(Cause::ResetByPeer),
            Closed::Tls { alert: true } if !has_begun => Outcome::Reset(Cause::TlsBroken),
            Closed::Tls { .. } => Outcome::Malformed(Cause::TlsBroken),
        }
    }
}

impl<R: RequestSource> Conversation<Http1<R>> for Http1Conversation<R::Own> {
    #[inline]
    fn begin(&mut self, protocol: &Http1<R>, begins: Beginning, _: &mut Events) -> u32 {
        let Beginning { tag, request, arrival, .. } = begins;
        protocol.requests.begin(request, arrival.index, &mut self.own);
        self.parser.start(protocol.requests.is_head_request(request));
        self.current = Some((tag, request));
        self.sent = 0;
        0
    }

    #[inline]
    fn output<'a>(&'a self, protocol: &'a Http1<R>) -> &'a [u8] {
        self.current.map_or(&[], |(_, request)| &protocol.requests.bytes(request, &self.own)[self.sent..])
    }

    #[inline]
    fn sent(&mut self, protocol: &Http1<R>, count: usize, _: Timestamp, events: &mut Events) {
        let Some((tag, request)) = self.current.filter(|_| count > 0) else { return };
        let had_started = self.sent > 0;
        self.sent += count;
        if !had_started {
            events.push(Event::Started(tag));
        } else if self.sent == protocol.requests.bytes(request, &self.own).len() {
            events.push(Event::Sent(tag));
        }
    }

    #[inline]
    fn receive(&mut self, protocol: &mut Http1<R>, bytes: &[u8], _: Timestamp, events: &mut Events) -> Flow {
        if bytes.is_empty() {
            return Flow::Continue;
        }
        let Some((tag, request)) = self.current else {
            events.push(Event::Stray);
            self.stop(events);
            return Flow::Close(Cause::LeftoverBytes);
        };
        if self.parser.received() == 0 {
            events.push(Event::FirstByte(tag));
        }
        let parsed = self.parser.feed(bytes, &mut protocol.head_cache, &mut |part| match part {
            Part::Head { status, bytes } => events.head(tag, AnswerHead::new(status, HeadFields::Http1(bytes))),
            Part::Body(bytes) => events.body(tag, bytes),
            Part::ChunkEnd => events.chunk_ended(tag),
            Part::Trailers(lines) => events.trailers(tag, Trailers::from_lines(lines)),
        });
        match parsed {
            Ok(Parsed::Incomplete) => Flow::Continue,
            Ok(Parsed::Complete(AnswerEnd { status, keep_alive })) => {
                // A server that answers before it has the whole request cannot be sent another one.
                let is_sent = self.sent == protocol.requests.bytes(request, &self.own).len();
                self.end(Outcome::response(status), Retry::No, events);
                if !(keep_alive && is_sent && protocol.keep_alive) {
                    self.stop(events);
                }
                Flow::Continue
            }
            Err(cause) => {
                self.end(Outcome::Malformed(cause), Retry::No, events);
                self.stop(events);
                Flow::Close(cause)
            }
        }
    }

    fn close(&mut self, how: Closed, events: &mut Events) {
        if self.current.is_some() {
            let retry = if self.sent == 0 { Retry::Unsent } else { Retry::No };
            let outcome = self.outcome_at_end(how);
            self.end(outcome, retry, events);
        }
        self.stop(events);
    }

    fn cancel(&mut self, _: u32, events: &mut Events) -> u64 {
        self.current = None;
        self.stop(events);
        self.parser.received()
    }

    fn in_flight(&self) -> usize {
        usize::from(self.current.is_some())
    }

    fn is_closing(&self) -> bool {
        self.is_closing
    }
}
