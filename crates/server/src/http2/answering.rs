//! A stream of HTTP/2: its request, and its answer in progress.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::Response;
use truetail_model::time::Timestamp;

use super::call;
use crate::exchange::{AfterResponse, NextSend, ServerExchange};
use crate::http::Responses;
use crate::stream::MAX_BODY_BYTES;

/// Bytes of one answer per turn.
const MAX_TURN_BYTES: u64 = 64 * 1024;
/// Maximum number of fields in the head of an answer.
const MAX_FIELDS: usize = 16;

/// Progress of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// No bytes are due. The next time is given, if known.
    Waits(Option<Timestamp>),
    /// This many bytes of the answer were handed to h2.
    Gave(u64),
    /// The client must make room first.
    NoRoom,
    /// The answer has left.
    Complete,
    /// The client has given up the stream.
    Gone,
}

/// State of the body of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RequestBody {
    Unfinished,
    Whole,
    /// The body is too long to keep in memory.
    TooLarge,
    /// The client has given up the stream.
    Gone,
}

#[derive(Debug)]
pub(super) struct StreamExchange {
    pub(super) exchange: ServerExchange,
    request: RecvStream,
    /// The body of the request, if the service needs it.
    kept: Option<Vec<u8>>,
    /// The request is a call of gRPC.
    pub(super) is_call: bool,
    /// The answer has begun before the end of the request.
    pub(super) is_early: bool,
    /// The trailers were handed to h2.
    gave_trailers: bool,
    respond: SendResponse<Bytes>,
    /// Sink for the body of the answer, once its head was sent.
    body: Option<SendStream<Bytes>>,
    /// Bytes of the answer that were handed to h2, and that the system has not yet taken.
    pub(super) handed_over: u64,
}

impl StreamExchange {
    /// Creates the answer of `exchange`. Keeps the body of the request if `keeps` is true.
    pub(super) fn new(
        exchange: ServerExchange,
        request: RecvStream,
        keeps: bool,
        respond: SendResponse<Bytes>,
    ) -> StreamExchange {
        let kept = keeps.then(Vec::new);
        StreamExchange {
            exchange,
            request,
            kept,
            is_call: false,
            is_early: false,
            gave_trailers: false,
            respond,
            body: None,
            handed_over: 0,
        }
    }

    /// Returns true if the answer has messages of gRPC, whose status follows them.
    fn has_trailers(&self) -> bool {
        self.is_call && self.exchange.error_status().is_none()
    }

    /// Reads the received part of the request's body.
    pub(super) fn read_body(&mut self) -> RequestBody {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match self.request.poll_data(&mut context) {
                Poll::Pending => return RequestBody::Unfinished,
                Poll::Ready(None) => return RequestBody::Whole,
                Poll::Ready(Some(Err(_))) => return RequestBody::Gone,
                Poll::Ready(Some(Ok(data))) => {
                    // Fails if the stream is gone, which the next poll reports.
                    let _ = self.request.flow_control().release_capacity(data.len());
                    let Some(kept) = &mut self.kept else { continue };
                    kept.extend_from_slice(&data);
                    if kept.len() > MAX_BODY_BYTES {
                        return RequestBody::TooLarge;
                    }
                }
            }
        }
    }

    /// Returns true if the client has reset the stream.
    pub(super) fn is_reset(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let reset = match &mut self.body {
            Some(body) => body.poll_reset(&mut context),
            None => self.respond.poll_reset(&mut context),
        };
        reset.is_ready()
    }

    /// Returns the number of kept bytes of the request's body.
    pub(super) fn kept_bytes(&self) -> usize {
        self.kept.as_ref().map_or(0, Vec::len)
    }

    /// Takes the kept body of the request.
    pub(super) fn take_body(&mut self) -> Vec<u8> {
        self.kept.take().unwrap_or_default()
    }

    /// Takes the complete messages of a call that may be answered before its end.
    pub(super) fn take_messages(&mut self) -> Vec<u8> {
        match &mut self.kept {
            Some(kept) if self.is_call && self.exchange.may_leave_in_parts() => {
                kept.drain(..call::whole_messages(kept)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Begins the answer of a call with its first messages, or continues it with further ones. Returns false if the
    /// client does not take the answer.
    pub(super) fn answer_early(&mut self, messages: &[u8]) -> bool {
        if self.is_early {
            self.exchange.extend(messages, true);
            return self.exchange.unsent() <= MAX_BODY_BYTES as u64;
        }
        call::answer(&mut self.exchange, messages);
        (self.is_early, self.exchange.request_read) = (true, true);
        if self.exchange.error_status().is_some() {
            // Further messages of a call that failed are read and dropped.
            self.kept = None;
        } else {
            self.exchange.extend(&[], true);
        }
        true
    }

    /// Ends an answer that has begun before the end of the request. An incomplete message is sent back too.
    pub(super) fn end_early_answer(&mut self) {
        let rest = self.take_body();
        if self.exchange.error_status().is_none() {
            self.exchange.extend(&rest, false);
        }
    }

    /// Returns true if all bytes so far have left, so that only further ones let the stream be served again.
    pub(super) fn is_idle(&self) -> bool {
        self.handed_over == 0 && self.exchange.unsent() == 0
    }

    /// Resets the stream.
    pub(super) fn reset(&mut self, why: Reason) {
        match &mut self.body {
            Some(body) => body.send_reset(why),
            None => self.respond.send_reset(why),
        }
    }

    /// Hands the bytes due at `now` to h2.
    pub(super) fn advance(&mut self, responses: &Responses, now: Timestamp) -> Progress {
        match self.exchange.step(now) {
            NextSend::Wait => Progress::Waits(self.exchange.next_write(now)),
            // The last byte has left before the client ended the call.
            NextSend::Complete if self.is_early && self.has_trailers() && !self.gave_trailers => {
                self.give_trailers().map_or(Progress::Gone, |()| Progress::Gave(0))
            }
            NextSend::Complete => {
                self.end();
                Progress::Complete
            }
            NextSend::SendTo(end) if self.exchange.is_garbage() => self.give_garbage(end).unwrap_or(Progress::Gone),
            NextSend::SendTo(end) => self.hand_over(responses, end).unwrap_or(Progress::Gone),
        }
    }

    /// Hands bytes before `end` to h2, as far as the client has room.
    fn hand_over(&mut self, responses: &Responses, end: u64) -> Result<Progress, h2::Error> {
        let sent = self.exchange.sent;
        let head = self.exchange.head_length(responses);
        if end < head {
            // A head is sent as a whole.
            return Ok(Progress::Gave(end - sent));
        }
        let mut from = sent;
        if from < head {
            let response = head_of(self.exchange.piece(responses, 0, head));
            let ends = self.exchange.is_whole_at(head) && !self.has_trailers();
            let body = self.respond.send_response(response, ends)?;
            self.body = Some(body);
            from = head;
        }
        let has_trailers = self.has_trailers();
        let Some(body) = &mut self.body else { return Ok(Progress::Gone) };
        let end = end.min(from + MAX_TURN_BYTES);
        while from < end {
            let piece = self.exchange.piece(responses, from, end);
            body.reserve_capacity(piece.len());
            let length = body.capacity().min(piece.len());
            if length == 0 {
                break;
            }
            from += length as u64;
            let ends = self.exchange.is_whole_at(from) && !has_trailers;
            body.send_data(Bytes::copy_from_slice(&piece[..length]), ends)?;
        }
        if has_trailers && self.exchange.is_whole_at(from) {
            self.give_trailers()?;
        }
        Ok(match from - sent {
            // A stream that the client has reset will never have room.
            0 if self.is_reset() => Progress::Gone,
            0 => Progress::NoRoom,
            given => Progress::Gave(given),
        })
    }

    fn give_trailers(&mut self) -> Result<(), h2::Error> {
        self.gave_trailers = true;
        self.body.as_mut().map_or(Ok(()), |body| body.send_trailers(call::trailers()))
    }

    /// Hands a head to h2. The stream is reset after it, because a stream cannot carry bytes that are not HTTP.
    fn give_garbage(&mut self, end: u64) -> Result<Progress, h2::Error> {
        self.body = Some(self.respond.send_response(Response::new(()), false)?);
        Ok(Progress::Gave(end - self.exchange.sent))
    }

    /// Ends the stream. Where HTTP/1 would close or reset the connection, resets the stream.
    fn end(&mut self) {
        if self.exchange.then == AfterResponse::KeepOpen {
            return;
        }
        let why = if self.exchange.is_garbage() { Reason::PROTOCOL_ERROR } else { Reason::INTERNAL_ERROR };
        self.reset(why);
    }
}

/// Converts a head of HTTP/1 to HTTP/2, without the fields about the connection.
fn head_of(bytes: &[u8]) -> Response<()> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut fields);
    let is_head = parsed.parse(bytes).is_ok_and(|status| status.is_complete());
    debug_assert!(is_head, "the heads of answers are ours");
    let is_sent =
        |name: &str| !name.eq_ignore_ascii_case("connection") && !name.eq_ignore_ascii_case("transfer-encoding");
    let mut response = Response::builder().status(parsed.code.unwrap_or(500));
    for field in parsed.headers.iter().filter(|field| is_sent(field.name)) {
        response = response.header(field.name, field.value);
    }
    response.body(()).expect("names and values of our heads are valid")
}
