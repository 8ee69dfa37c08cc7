//! A request and its answer.

use truetail_model::service::Action;
use truetail_model::time::Timestamp;

use crate::fault_clock::Admission;
use crate::http::{ResponseId, Responses};
use crate::response_form::ResponseForm;
use crate::stream::{PendingStream, StreamAnswer};
use crate::truth::Ending;
use crate::truth_recorder::{OpenRow, ending_after};

/// Fate of the connection after the answer has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AfterResponse {
    /// The connection continues with the next exchange.
    KeepOpen,
    /// The connection is closed gracefully, so that the client receives all bytes.
    Close,
    Reset,
}

/// The bytes that an exchange may send now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextSend {
    /// None yet: the answer is not due, or waits for its request.
    Wait,
    /// The bytes before this index.
    SendTo(u64),
    /// None: all bytes have left.
    Complete,
}

/// An answer in progress. Instants are on the clock of the event loop.
#[derive(Debug)]
pub(crate) struct ServerExchange {
    pub(crate) response: ResponseId,
    /// Number of bytes that have left.
    pub(crate) sent: u64,
    /// Length of the whole answer in bytes.
    length: u64,
    /// Departure of the answer; [`Timestamp::NEVER`] for a black hole.
    pub(crate) due: Timestamp,
    /// Index of the first delayed byte, and the instant when it and the bytes after it leave.
    pub(crate) rest: Option<(u64, Timestamp)>,
    pub(crate) then: AfterResponse,
    /// True if the request has been read with its body. The answer waits for that.
    pub(crate) request_read: bool,
    /// The stream that will answer the request; only present until the request has been read.
    pub(crate) pending: Option<Box<PendingStream>>,
    pub(crate) stream: Option<Box<StreamAnswer>>,
    /// Bytes of the answer, in place of `response`.
    own: Option<OwnAnswer>,
    /// Data for the record of the truth; `None` if the request does not reach the service.
    pub(crate) entry: Option<TruthEntry>,
}

/// An answer that repeats what its client sent.
#[derive(Debug)]
struct OwnAnswer {
    bytes: Vec<u8>,
    /// Length of the head at the beginning; 0 for a message.
    #[cfg(feature = "http2")]
    head: u64,
    /// Number of bytes before `bytes` that have left and are no longer kept.
    dropped: u64,
    /// More bytes may follow.
    grows: bool,
}

/// Data for the record of an exchange: its row, and its ending and status once all bytes have left.
#[derive(Debug)]
pub(crate) struct TruthEntry {
    pub(crate) row: OpenRow,
    pub(crate) ending: Ending,
    pub(crate) status: Option<u16>,
}

impl ServerExchange {
    /// Returns true for an answer of the server itself, which reached no service. A black hole has no entry either.
    pub(crate) fn is_of_server(&self) -> bool {
        self.entry.is_none() && self.due != Timestamp::NEVER
    }

    /// Creates an exchange that is not recorded: the whole of `response` leaves at `due`.
    pub(crate) fn new_unrecorded(
        responses: &Responses,
        response: ResponseId,
        form: ResponseForm,
        due: Timestamp,
    ) -> ServerExchange {
        ServerExchange {
            response,
            sent: 0,
            length: responses.length(response, form.is_head),
            due,
            rest: None,
            then: if form.keep_alive { AfterResponse::KeepOpen } else { AfterResponse::Close },
            request_read: true,
            pending: None,
            stream: None,
            own: None,
            entry: None,
        }
    }

    /// Creates the exchange of a request that the service has admitted.
    pub(crate) fn new_admitted(
        responses: &Responses,
        admission: &Admission,
        row: OpenRow,
        form: ResponseForm,
    ) -> ServerExchange {
        let action = admission.plan.action;
        let due = admission.to_loop_clock(admission.plan.due);
        let (response, status) = match action {
            Action::Answer { status } => (responses.service(status, form.keep_alive), Some(status)),
            Action::SlowBody { .. } | Action::BlackHole => (responses.service(200, form.keep_alive), Some(200)),
            Action::ShortBody => (responses.short(form.keep_alive), Some(200)),
            Action::Garbage | Action::Reset => (responses.garbage(), None),
        };
        let mut exchange = ServerExchange::new_unrecorded(responses, response, form, due);
        match action {
            Action::SlowBody { until } => {
                exchange.rest = Some((responses.first_part(response, exchange.length), admission.to_loop_clock(until)));
            }
            Action::ShortBody => exchange.then = AfterResponse::Close,
            Action::Garbage => {
                exchange.length = responses.length(response, false);
                exchange.then = AfterResponse::Close;
            }
            Action::Reset => {
                exchange.length = 0;
                exchange.then = AfterResponse::Reset;
            }
            Action::Answer { .. } | Action::BlackHole => {}
        }
        exchange.entry = Some(TruthEntry { row, ending: ending_after(action), status });
        exchange
    }

    /// Creates an exchange that is not recorded: these bytes leave at `due`.
    pub(crate) fn of_bytes(responses: &Responses, bytes: Vec<u8>, due: Timestamp) -> ServerExchange {
        let form = ResponseForm::OF_MESSAGE;
        let mut exchange = ServerExchange::new_unrecorded(responses, responses.interim(), form, due);
        exchange.answer_with(bytes, 0);
        exchange
    }

    /// Closes the connection after the answer.
    pub(crate) fn and_close(self) -> ServerExchange {
        ServerExchange { then: AfterResponse::Close, ..self }
    }

    /// Returns the status of an answer that is an error.
    pub(crate) fn error_status(&self) -> Option<u16> {
        self.entry.as_ref().and_then(|entry| entry.status).filter(|status| *status >= 400)
    }

    /// Answers with these bytes, of which the first `head` are a head, unless the service resets the connection or
    /// answers with garbage. The parts of an answer are the halves behind its head.
    pub(crate) fn answer_with(&mut self, bytes: Vec<u8>, head: usize) {
        let length = bytes.len() as u64;
        let head = head as u64;
        let half = head + (length - head) / 2;
        match self.entry.as_ref().map(|entry| entry.ending) {
            Some(Ending::Reset | Ending::Garbage) => return,
            Some(Ending::ShortBody) => self.length = half,
            _ => self.length = length,
        }
        if let Some((from, _)) = &mut self.rest {
            *from = half;
        }
        self.own = Some(OwnAnswer {
            bytes,
            #[cfg(feature = "http2")]
            head,
            dropped: 0,
            grows: false,
        });
    }

    /// Returns true if the beginning of the answer may leave before the rest is known.
    #[cfg(feature = "http2")]
    pub(crate) fn may_leave_in_parts(&self) -> bool {
        self.rest.is_none() && self.then == AfterResponse::KeepOpen && self.due != Timestamp::NEVER
    }

    /// Adds bytes to the end of the answer that [`Self::answer_with`] gave. If `grows`, more may follow.
    #[cfg(feature = "http2")]
    pub(crate) fn extend(&mut self, bytes: &[u8], grows: bool) {
        if let Some(own) = &mut self.own {
            own.bytes.extend_from_slice(bytes);
            own.grows = grows;
            self.length += bytes.len() as u64;
        }
    }

    /// Returns the number of bytes that are ready and have not left.
    #[cfg(feature = "http2")]
    pub(crate) fn unsent(&self) -> u64 {
        self.length - self.sent
    }

    /// Drops the bytes of [`Self::answer_with`] that have left, once they are half of all. Returns their number.
    #[cfg(feature = "http2")]
    pub(crate) fn drop_sent(&mut self) -> u64 {
        let Some(own) = &mut self.own else { return 0 };
        let gone = self.sent - own.dropped;
        if gone == 0 || gone * 2 < own.bytes.len() as u64 {
            return 0;
        }
        own.bytes.drain(..gone as usize);
        own.dropped = self.sent;
        gone
    }

    /// Returns the number of bytes that this answer does not share with others.
    pub(crate) fn own_bytes(&self) -> u64 {
        self.own.as_ref().map_or(0, |own| own.bytes.len() as u64)
    }

    /// Turns the answer, with status 200, into a stream.
    pub(crate) fn start_stream(&mut self, stream: StreamAnswer) {
        if stream.closes() {
            self.then = AfterResponse::Close;
        }
        if stream.is_cut() {
            self.entry.iter_mut().for_each(|entry| entry.ending = Ending::ShortBody);
        }
        self.stream = Some(Box::new(stream));
    }

    /// Turns the answer into a refusal that leaves at once: `response` with `status`, of `length` bytes.
    pub(crate) fn refuse(&mut self, response: ResponseId, length: u64, status: u16, now: Timestamp) {
        (self.response, self.length, self.due, self.rest) = (response, length, now, None);
        self.entry.iter_mut().for_each(|entry| entry.status = Some(status));
    }

    /// Returns the time of the stream's next write after `now`; `None` if the answer is not a stream.
    pub(crate) fn next_write(&self, now: Timestamp) -> Option<Timestamp> {
        self.stream.as_ref().and_then(|stream| stream.next_after(now))
    }

    /// Returns the next bytes of the answer in HTTP/1: at least one, beginning at `from`, and none at or after `end`.
    pub(crate) fn piece<'a>(&'a self, responses: &'a Responses, from: u64, end: u64) -> &'a [u8] {
        match (&self.stream, &self.own) {
            (Some(stream), _) => stream.piece(from, end),
            (None, Some(own)) => &own.bytes[(from - own.dropped) as usize..(end - own.dropped) as usize],
            (None, None) => responses.piece(self.response, from, end),
        }
    }

    #[cfg(feature = "http2")]
    pub(crate) fn head_length(&self, responses: &Responses) -> u64 {
        match (&self.stream, &self.own) {
            (Some(stream), _) => stream.head_length(),
            (None, Some(own)) => own.head,
            (None, None) => responses.length(self.response, true),
        }
    }

    /// Returns true if the answer is complete after `sent` bytes and ends regularly.
    #[cfg(feature = "http2")]
    pub(crate) fn is_whole_at(&self, sent: u64) -> bool {
        let is_over =
            self.stream.as_ref().map_or(sent == self.length && !self.grows(), |stream| stream.is_complete(sent));
        is_over && self.then == AfterResponse::KeepOpen
    }

    fn grows(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.grows)
    }

    #[cfg(feature = "http2")]
    pub(crate) fn is_garbage(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.ending == Ending::Garbage)
    }

    /// Notes that the system took `length` more bytes. Only streams read the clock.
    pub(crate) fn note_sent(&mut self, length: u64, now: impl FnOnce() -> Timestamp) {
        self.sent += length;
        if let Some(stream) = &mut self.stream {
            stream.note_sent(self.sent, now());
        }
    }

    /// Returns the bytes that may leave at `now`.
    pub(crate) fn step(&self, now: Timestamp) -> NextSend {
        if !self.request_read || now < self.due {
            return NextSend::Wait;
        }
        if let Some(stream) = &self.stream {
            return match stream.due_by(now) {
                due if due > self.sent => NextSend::SendTo(due),
                _ if stream.is_complete(self.sent) => NextSend::Complete,
                _ => NextSend::Wait,
            };
        }
        match self.rest {
            Some((from, at)) if now < at && self.sent == from => NextSend::Wait,
            Some((from, at)) if now < at => NextSend::SendTo(from),
            _ if self.sent == self.length && self.grows() => NextSend::Wait,
            _ if self.sent == self.length => NextSend::Complete,
            _ => NextSend::SendTo(self.length),
        }
    }
}
