//! A connection in HTTP/2. It begins an exchange for each request, and sends answers when they are due, in any order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::future::Future;
use std::net::TcpStream;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::server::{Builder, Connection, Handshake, SendResponse};
use h2::{Reason, RecvStream};
use http::{HeaderValue, Method, Request};
use truetail_model::service::BatchEvent;
use truetail_model::time::Timestamp;

use super::answering::{Progress, RequestBody, StreamExchange};
use super::call;
use super::channels::Channels;
use super::pipe::Pipe;
use super::tunnel;
use super::wire::{Received, Wire};
use crate::answer_queue::AnswerQueue;
use crate::close_reason::CloseReason;
use crate::exchange::NextSend;
use crate::http::{Refusal, RequestOrigin, Route, path, route};
use crate::response_form::{Framing, ResponseForm};
use crate::shared_state::SharedState;
use crate::stream::StreamKey;
use crate::transport::Transport;
use crate::truth::Ending;

/// Maximum number of streams that a client may have open.
const MAX_STREAMS: u32 = 4096;
/// Bytes of request bodies that a client may send before they are read, per stream and per connection.
const WINDOW: u32 = 1024 * 1024;
/// Maximum length of a head, as in HTTP/1.
const MAX_HEAD_BYTES: u32 = 32 * 1024;
/// Maximum size of all request bodies that a connection keeps, and of all answers to calls.
const MAX_KEPT: usize = 64 * 1024 * 1024;
/// Streams per round, before their bytes are handed to the system.
const STREAMS_AT_ONCE: usize = 16;
const ROUNDS_PER_TURN: usize = 2;

/// State of the crate h2.
enum Session {
    Handshake(Box<Handshake<Pipe, Bytes>>),
    Open(Box<Connection<Pipe, Bytes>>),
}

pub(crate) struct Http2Connection {
    wire: Wire,
    token: u64,
    session: Session,
    /// Streams by our own ids, which follow the order of the requests.
    streams: HashMap<u64, StreamExchange>,
    /// Streams that carry WebSockets.
    channels: Channels,
    /// Number of streams begun.
    begun: u64,
    /// Ids of the streams with streamed answers, by the numbers of these answers.
    by_number: HashMap<u64, u64>,
    /// Due times of the streams, with their ids.
    due: BinaryHeap<Reverse<(Timestamp, u64)>>,
    /// Streams with requests that have not been read to the end.
    unread: Vec<u64>,
    /// Streams that wait for room from the client.
    waiting: Vec<u64>,
    /// Streams with bytes that h2 has and the system has not yet taken.
    leaving: Vec<u64>,
    /// Size of the answers to calls.
    own_bytes: u64,
}

impl std::fmt::Debug for Http2Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http2Connection").field("streams", &self.streams.len()).finish_non_exhaustive()
    }
}

impl Http2Connection {
    /// Creates a connection that has already received `received`.
    pub(crate) fn new(transport: Transport, token: u64, received: &[u8]) -> Http2Connection {
        let (wire, pipe) = Wire::new(transport, received);
        let handshake = Builder::new()
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(MAX_HEAD_BYTES)
            // Without this, a client that gives up unread streams would be taken for an attacker.
            .max_pending_accept_reset_streams(MAX_STREAMS as usize)
            .initial_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .enable_connect_protocol()
            .handshake(pipe);
        Http2Connection {
            wire,
            token,
            session: Session::Handshake(Box::new(handshake)),
            streams: HashMap::new(),
            channels: Channels::default(),
            begun: 0,
            by_number: HashMap::new(),
            due: BinaryHeap::new(),
            unread: Vec::new(),
            waiting: Vec::new(),
            leaving: Vec::new(),
            own_bytes: 0,
        }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.wire.stream()
    }

    /// Reads the received bytes, through `buffer`. Returns true if more bytes may wait for another turn.
    pub(crate) fn read(&mut self, shared: &mut SharedState, buffer: &mut [u8]) -> Result<bool, CloseReason> {
        self.flush(shared)?;
        if self.wire.pause_if_unread() {
            return Ok(false);
        }
        let received = self.wire.receive(buffer);
        let polled = self.poll(shared);
        // What came before the end of the connection counts.
        self.channels.read(shared, buffer);
        polled?;
        if received == Received::End {
            return Err(CloseReason::ClientGone);
        }
        if !self.unread.is_empty() {
            self.read_bodies(shared);
            // Reading makes room, and h2 must announce it to the client.
            self.poll(shared)?;
        }
        self.forget_reset_streams(shared);
        let now = shared.now();
        // The client may have made room.
        std::mem::take(&mut self.waiting).into_iter().for_each(|id| self.due.push(Reverse((now, id))));
        self.advance(shared)?;
        Ok(received == Received::Some)
    }

    /// Returns true if bytes were left unread, and the client reads its answers again.
    pub(crate) fn wants_reading(&self) -> bool {
        let is_unread = self.wire.is_paused() || self.channels.want_reading();
        is_unread && !self.wire.is_unread()
    }

    /// Continues to send when the system accepts bytes again.
    pub(crate) fn on_writable(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        self.wire.flush_tls()?;
        self.channels.each_queue(shared, AnswerQueue::on_writable);
        self.advance(shared)
    }

    /// Handles a timer of this connection that is due.
    pub(crate) fn on_timer(&mut self, shared: &mut SharedState, now: Timestamp) -> Result<(), CloseReason> {
        self.channels.each_queue(shared, |answers, shared| answers.on_timer(shared, now));
        self.advance(shared)
    }

    /// Adds an event of a batch to its stream, to be sent when it is due.
    pub(crate) fn on_step(&mut self, shared: &mut SharedState, event: &BatchEvent<StreamKey>) {
        let Some(id) = self.by_number.get(&event.key.number).copied() else { return };
        if let Some(stream) = self.streams.get_mut(&id).and_then(|one| one.exchange.stream.as_mut()) {
            stream.add_step(event.at, event.is_last, event.faults);
            self.schedule(shared, event.at, id);
        }
    }

    /// Ends every unanswered request with `ending`.
    pub(crate) fn abandon(&mut self, shared: &mut SharedState, ending: Ending) {
        let mut ids: Vec<u64> = self.streams.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter().for_each(|id| self.remove(shared, id, Some(ending)));
        self.channels.abandon(shared, ending);
    }

    /// Lets h2 process the received bytes, begins exchanges for new requests, and sends the frames of h2 itself.
    fn poll(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        let mut context = Context::from_waker(Waker::noop());
        if let Session::Handshake(handshake) = &mut self.session {
            match Pin::new(handshake.as_mut()).poll(&mut context) {
                Poll::Pending => return self.flush(shared).map(|_| ()),
                Poll::Ready(Ok(connection)) => self.session = Session::Open(Box::new(connection)),
                Poll::Ready(Err(_)) => return self.close(shared, CloseReason::ClientGone),
            }
        }
        while let Session::Open(connection) = &mut self.session {
            match connection.poll_accept(&mut context) {
                Poll::Pending => break,
                Poll::Ready(Some(Ok((request, respond)))) => self.begin(shared, request, respond),
                // The client broke the protocol, so the server ends the connection.
                Poll::Ready(Some(Err(error))) if error.is_library() => {
                    return self.close(shared, CloseReason::Finished);
                }
                Poll::Ready(Some(Err(_))) => return self.close(shared, CloseReason::ClientGone),
                // h2 reports the end again after its bytes have left.
                Poll::Ready(None) if self.streams.values().any(|stream| stream.handed_over > 0) => break,
                Poll::Ready(None) => return self.close(shared, CloseReason::ClientGone),
            }
        }
        Ok(())
    }

    /// Closes the connection after the last frames of h2, as far as the system takes them. Completes answers that have
    /// left.
    fn close(&mut self, shared: &mut SharedState, why: CloseReason) -> Result<(), CloseReason> {
        let _ = self.flush(shared);
        let now = shared.now();
        let has_left =
            |stream: &StreamExchange| stream.handed_over == 0 && stream.exchange.step(now) == NextSend::Complete;
        let mut whole: Vec<u64> = self.streams.iter().filter(|(_, one)| has_left(one)).map(|(id, _)| *id).collect();
        whole.sort_unstable();
        whole.into_iter().for_each(|id| self.remove(shared, id, None));
        self.wire.finish();
        Err(why)
    }

    fn begin(&mut self, shared: &mut SharedState, request: Request<RecvStream>, respond: SendResponse<Bytes>) {
        let now = shared.now();
        let (head, body) = request.into_parts();
        if tunnel::is_asked_for(&head) {
            let route = shared.route_of(path(head.uri.path()));
            let channel = tunnel::accept(&head, body, respond, self.token, route);
            return channel.into_iter().for_each(|channel| self.channels.push(channel));
        }
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let field = |name| head.headers.get(name).map(HeaderValue::as_bytes);
        let host = head.uri.authority().map(|authority| authority.as_str().as_bytes()).or_else(|| field("host"));
        let page = RequestOrigin {
            host: host.unwrap_or_default(),
            origin: field("origin"),
            fetch_site: field("sec-fetch-site"),
        };
        let route = route(head.method.as_str(), target, head.headers.contains_key("truetail-preflight"), page);
        let form = ResponseForm { is_head: head.method == Method::HEAD, keep_alive: true, framing: Framing::Frames };
        let mut exchange = shared.begin(route, path(target), now, form);
        exchange.request_read = body.is_end_stream();
        let id = self.begun;
        self.begun += 1;
        let is_call = call::is_call(head.headers.get(http::header::CONTENT_TYPE)) && reaches_service(route);
        let is_whole = exchange.request_read;
        let keeps = is_call || route.reads_body();
        let mut stream = StreamExchange::new(exchange, body, keeps, respond);
        stream.is_call = is_call;
        self.streams.insert(id, stream);
        if is_whole {
            self.request_is_read(shared, id);
        } else {
            self.unread.push(id);
        }
    }

    fn read_bodies(&mut self, shared: &mut SharedState) {
        let mut kept = 0;
        for id in std::mem::take(&mut self.unread) {
            let Some(stream) = self.streams.get_mut(&id) else { continue };
            let state = stream.read_body();
            kept += stream.kept_bytes();
            match state {
                RequestBody::Unfinished if kept > MAX_KEPT => self.refuse(shared, id, Refusal::BodyTooLarge),
                RequestBody::Unfinished => {
                    self.unread.push(id);
                    self.answer_early(shared, id);
                }
                RequestBody::Whole if stream.is_early => {
                    let is_idle = stream.is_idle();
                    self.own_bytes += stream.kept_bytes() as u64;
                    stream.end_early_answer();
                    if is_idle {
                        let now = shared.now();
                        self.schedule(shared, now, id);
                    }
                }
                RequestBody::Whole => self.request_is_read(shared, id),
                RequestBody::TooLarge => self.refuse(shared, id, Refusal::BodyTooLarge),
                RequestBody::Gone => self.remove(shared, id, Some(Ending::ClientGone)),
            }
        }
    }

    /// Answers the complete messages of a call that the client has not ended.
    fn answer_early(&mut self, shared: &mut SharedState, id: u64) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let messages = stream.take_messages();
        if messages.is_empty() {
            return;
        }
        let had = stream.exchange.own_bytes();
        let is_scheduled = stream.is_early && !stream.is_idle();
        let is_taken = stream.answer_early(&messages);
        self.own_bytes += stream.exchange.own_bytes() - had;
        if !is_taken || self.own_bytes > MAX_KEPT as u64 {
            self.refuse(shared, id, Refusal::BodyTooLarge);
        } else if !is_scheduled {
            let due = stream.exchange.due.max(shared.now());
            self.schedule(shared, due, id);
        }
    }

    /// Removes reset streams. If more streams exist than may be open, the client has reset some, perhaps unanswerable
    /// ones.
    fn forget_reset_streams(&mut self, shared: &mut SharedState) {
        if self.streams.len() <= MAX_STREAMS as usize {
            return;
        }
        let gone = self.streams.iter_mut().filter_map(|(id, stream)| stream.is_reset().then_some(*id));
        let gone: Vec<u64> = gone.collect();
        gone.into_iter().for_each(|id| self.remove(shared, id, Some(Ending::ClientGone)));
    }

    /// Begins the answer of a request that was read to its end: begins its stream, if any, and schedules it.
    fn request_is_read(&mut self, shared: &mut SharedState, id: u64) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let body = stream.take_body();
        let is_call = stream.is_call;
        let exchange = &mut stream.exchange;
        if is_call && self.own_bytes + body.len() as u64 > MAX_KEPT as u64 {
            return self.refuse(shared, id, Refusal::BodyTooLarge);
        }
        if is_call {
            call::answer(exchange, &body);
            self.own_bytes += exchange.own_bytes();
        }
        shared.begin_stream(exchange, &body, self.token);
        exchange.request_read = true;
        if let Some(events) = &exchange.stream {
            self.by_number.insert(events.number, id);
        }
        let due = exchange.due.max(shared.now());
        let rest = exchange.rest;
        self.schedule(shared, due, id);
        if let Some((_, at)) = rest {
            self.schedule(shared, at, id);
        }
    }

    /// Refuses a request that the service does not accept after all. Resets it if its answer has begun.
    fn refuse(&mut self, shared: &mut SharedState, id: u64, refusal: Refusal) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if stream.is_early {
            stream.reset(Reason::ENHANCE_YOUR_CALM);
            return self.remove(shared, id, Some(Ending::Dropped));
        }
        let mut dropped = std::mem::replace(&mut stream.exchange, shared.refusal(refusal));
        // A refusal is an answer of HTTP without a status of gRPC.
        stream.is_call = false;
        if let Some(entry) = &mut dropped.entry {
            entry.ending = Ending::Dropped;
        }
        let now = shared.now();
        shared.close_row(&mut dropped, now);
        self.schedule(shared, now, id);
    }

    fn schedule(&mut self, shared: &mut SharedState, at: Timestamp, id: u64) {
        if at != Timestamp::NEVER {
            self.due.push(Reverse((at, id)));
            shared.timers.add(at, self.token);
        }
    }

    /// Sends the due bytes until the system accepts no more or the turn is over.
    fn advance(&mut self, shared: &mut SharedState) -> Result<(), CloseReason> {
        if self.channels.take_activity() {
            self.poll(shared)?;
        }
        for _ in 0..ROUNDS_PER_TURN {
            if !self.flush(shared)? {
                return Ok(());
            }
            let has_gone_on = self.channels.go_on(shared);
            if self.serve_some(shared) == 0 && !has_gone_on {
                return Ok(());
            }
            self.poll(shared)?;
        }
        if self.flush(shared)? {
            shared.timers.add(shared.now(), self.token);
        }
        Ok(())
    }

    /// Serves some due streams. Returns their number.
    fn serve_some(&mut self, shared: &mut SharedState) -> usize {
        let now = shared.now();
        let mut served = 0;
        while served < STREAMS_AT_ONCE
            && let Some(Reverse((at, id))) = self.due.peek().copied()
            && at <= now
        {
            self.due.pop();
            served += 1;
            self.serve(shared, id, now);
        }
        served
    }

    fn serve(&mut self, shared: &mut SharedState, id: u64, now: Timestamp) {
        // Skip a stream with bytes in flight. It is served again once the system has taken them.
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| stream.handed_over == 0) else { return };
        match stream.advance(&shared.responses, now) {
            Progress::Waits(next) => {
                if let Some(at) = next {
                    self.schedule(shared, at, id);
                }
            }
            Progress::Gave(bytes) => {
                stream.handed_over = bytes;
                self.leaving.push(id);
            }
            Progress::NoRoom => self.waiting.push(id),
            Progress::Complete => self.remove(shared, id, None),
            Progress::Gone => self.remove(shared, id, Some(Ending::ClientGone)),
        }
    }

    /// Ends a request with `ending`; `None` means its planned ending.
    fn remove(&mut self, shared: &mut SharedState, id: u64, ending: Option<Ending>) {
        let Some(mut stream) = self.streams.remove(&id) else { return };
        if let (Some(ending), Some(entry)) = (ending, &mut stream.exchange.entry) {
            entry.ending = ending;
        }
        self.own_bytes -= stream.exchange.own_bytes();
        if let Some(events) = &stream.exchange.stream {
            self.by_number.remove(&events.number);
        }
        let now = shared.now();
        shared.close_row(&mut stream.exchange, now);
    }

    /// Hands the bytes of h2 to the system. Returns true if all have left, and false if the system accepts no more for
    /// now.
    fn flush(&mut self, shared: &mut SharedState) -> Result<bool, CloseReason> {
        if !self.wire.flush()? {
            return Ok(false);
        }
        let now = shared.now();
        for id in self.leaving.drain(..) {
            if let Some(stream) = self.streams.get_mut(&id) {
                let given = std::mem::take(&mut stream.handed_over);
                stream.exchange.note_sent(given, || now);
                self.own_bytes -= stream.exchange.drop_sent();
                // Close the row before sending more.
                let has_left = stream.exchange.step(now) == NextSend::Complete;
                self.due.push(Reverse((if has_left { Timestamp::ZERO } else { now }, id)));
            }
        }
        Ok(true)
    }
}

/// Returns true if the request is for the service or its health, and not for the server itself.
fn reaches_service(route: Route) -> bool {
    !matches!(route, Route::Refused(_) | Route::AboutSglang | Route::StartClock)
}
