//! One request and its answer.

use truetail_model::service::Action;
use truetail_model::time::Timestamp;

use crate::fault_clock::Admission;
use crate::http::{ResponseId, Responses};
use crate::response_form::ResponseForm;
use crate::stream::{PendingStream, StreamAnswer};
use crate::truth::Ending;
use crate::truth_recorder::{OpenRow, ending_after};

/// What happens to the connection after the answer has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AfterResponse {
    /// The connection goes on with the next exchange.
    KeepOpen,
    /// The connection is closed, in such a way that the client gets everything that was sent.
    Close,
    /// The connection is reset.
    Reset,
}

/// What an exchange is to send now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextSend {
    /// Nothing yet: the answer is not due, or its request has not been read to the end.
    Wait,
    /// The bytes before this one.
    SendTo(u64),
    /// Nothing more: everything has left.
    Complete,
}

/// An answer under way. Instants are on the clock of the event loop.
#[derive(Debug)]
pub(crate) struct ServerExchange {
    pub(crate) response: ResponseId,
    /// Bytes that have left.
    pub(crate) sent: u64,
    /// Bytes of the whole answer.
    length: u64,
    /// When the answer leaves; [`Timestamp::NEVER`] for a black hole.
    pub(crate) due: Timestamp,
    /// Bytes from this one on leave at this instant.
    pub(crate) rest: Option<(u64, Timestamp)>,
    pub(crate) then: AfterResponse,
    /// True when the request has been read with its body; the answer waits for that.
    pub(crate) request_read: bool,
    /// The stream that its answer is to be, until the request has been read.
    pub(crate) pending: Option<Box<PendingStream>>,
    /// The answer, where it is a stream.
    pub(crate) stream: Option<Box<StreamAnswer>>,
    /// What to record when it ends; `None` if the request is none of the service's.
    pub(crate) entry: Option<TruthEntry>,
}

/// What to record about an exchange: its row, and how it ends with what status once everything has left.
#[derive(Debug)]
pub(crate) struct TruthEntry {
    pub(crate) row: OpenRow,
    pub(crate) ending: Ending,
    pub(crate) status: Option<u16>,
}

impl ServerExchange {
    /// An exchange that is not recorded: the whole of `response` leaves at `due`.
    pub(crate) fn unrecorded(
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
            entry: None,
        }
    }

    /// The answer that the service gives to a request.
    pub(crate) fn admitted(
        responses: &Responses,
        admission: &Admission,
        row: OpenRow,
        form: ResponseForm,
    ) -> ServerExchange {
        let (action, due) = (admission.plan.action, admission.real(admission.plan.due));
        let (response, status) = match action {
            Action::Answer { status } => (responses.service(status, form.keep_alive), Some(status)),
            Action::SlowBody { .. } | Action::BlackHole => (responses.service(200, form.keep_alive), Some(200)),
            Action::ShortBody => (responses.short(form.keep_alive), Some(200)),
            Action::Garbage | Action::Reset => (responses.garbage(), None),
        };
        let mut exchange = ServerExchange::unrecorded(responses, response, form, due);
        match action {
            Action::SlowBody { until } => {
                exchange.rest = Some((responses.first_part(response, exchange.length), admission.real(until)));
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

    /// Makes it a stream, where it would have been a whole answer with status 200.
    pub(crate) fn stream(&mut self, stream: StreamAnswer) {
        if stream.closes() {
            self.then = AfterResponse::Close;
        }
        if stream.is_cut() {
            self.entry.iter_mut().for_each(|entry| entry.ending = Ending::ShortBody);
        }
        self.stream = Some(Box::new(stream));
    }

    /// Makes it a refusal that leaves at once: `response` with `status`, of so many bytes.
    pub(crate) fn refuse(&mut self, response: ResponseId, length: u64, status: u16, now: Timestamp) {
        (self.response, self.length, self.due, self.rest) = (response, length, now, None);
        self.entry.iter_mut().for_each(|entry| entry.status = Some(status));
    }

    /// When a stream goes on after `now`.
    pub(crate) fn next_write(&self, now: Timestamp) -> Option<Timestamp> {
        self.stream.as_ref().and_then(|stream| stream.next_after(now))
    }

    /// Bytes of the answer in HTTP/1 from `from` on, at least one and none at or after `end`.
    pub(crate) fn piece<'a>(&'a self, responses: &'a Responses, from: u64, end: u64) -> &'a [u8] {
        match &self.stream {
            Some(stream) => stream.piece(from, end),
            None => responses.piece(self.response, from, end),
        }
    }

    /// Bytes of the head of the answer.
    #[cfg(feature = "http2")]
    pub(crate) fn head_length(&self, responses: &Responses) -> u64 {
        self.stream.as_ref().map_or_else(|| responses.length(self.response, true), |stream| stream.head_length())
    }

    /// The answer is whole, and ends as it should, where so many of its bytes have left.
    #[cfg(feature = "http2")]
    pub(crate) fn is_whole_at(&self, sent: u64) -> bool {
        let is_over = self.stream.as_ref().map_or(sent == self.length, |stream| stream.is_complete(sent));
        is_over && self.then == AfterResponse::KeepOpen
    }

    /// What it is to send is no answer at all.
    #[cfg(feature = "http2")]
    pub(crate) fn is_garbage(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.ending == Ending::Garbage)
    }

    /// The system took so many more bytes. The clock is read for streams alone.
    pub(crate) fn was_sent(&mut self, length: u64, now: impl FnOnce() -> Timestamp) {
        self.sent += length;
        if let Some(stream) = &mut self.stream {
            stream.sent(self.sent, now());
        }
    }

    /// What it is to send at `now`.
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
            _ if self.sent == self.length => NextSend::Complete,
            _ => NextSend::SendTo(self.length),
        }
    }
}
