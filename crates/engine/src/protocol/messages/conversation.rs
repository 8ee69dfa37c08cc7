//! The protocol of messages, and one channel: a connection that carries them.

use std::cell::Cell;
use std::sync::Arc;

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_run::MessageBooks;

use super::greeting::Greeting;
use super::inbox::Inbox;
use super::matching::Matching;
use super::opening::Opening;
use super::options::MessageOptions;
use super::outbox::Outbox;
use super::splitter::{Control, Splitter};
use super::varying::Varying;
use super::websocket::{Opcode, put_frame};
use crate::protocol::http2::{ChannelStream, StreamEnd};
use crate::protocol::made_in_run::MadeInRun;
use crate::protocol::{Beginning, Closed, Conversation, Event, Events, Flow, Protocol};
use crate::target::request_parts::RequestParts;
use crate::target::request_set::RequestSet;

/// Code of a channel that has done its work (RFC 6455, section 7.4.1).
const NORMAL: u16 = 1000;
/// Stands for a Close frame without a code.
const NO_CODE: u16 = 1005;

/// Messages for all channels of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    requests: Source,
    options: Arc<MessageOptions>,
    /// Messages that were due before this are not counted in the books.
    measured_from: Timestamp,
    /// Number of the next channel, the seed of its keys.
    channels: Cell<u64>,
    pub(super) books: MessageBooks,
}

/// The messages of a run.
#[derive(Clone, Debug)]
enum Source {
    /// They were made before it, or are filled in when they begin.
    Prepared(RequestSet),
    /// A script makes the next one of each user.
    MadeInRun(MadeInRun),
}

impl Messages {
    pub(crate) fn new(requests: &RequestSet, options: MessageOptions, measured_from: Timestamp) -> Messages {
        Messages {
            requests: Source::Prepared(requests.clone()),
            options: Arc::new(options),
            measured_from,
            channels: Cell::new(0),
            books: MessageBooks::default(),
        }
    }

    /// Sends messages that a script makes during the run.
    pub(crate) fn made_in_run(self) -> Messages {
        Messages { requests: Source::MadeInRun(MadeInRun::default()), ..self }
    }
}

impl Protocol for Messages {
    type Conversation = Channel;

    fn conversation(&self) -> Channel {
        let number = self.channels.replace(self.channels.get() + 1);
        Channel::new(&self.options, number)
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn hears_only_answers(&self) -> bool {
        self.options.subscription.is_empty() && !self.options.are_over_http2()
    }

    fn required_alpn(&self) -> Option<(&'static [u8], Cause)> {
        self.options.are_over_http2().then_some((b"h2", Cause::NoHttp2))
    }

    fn has_session_state(&self) -> bool {
        true
    }

    fn request_of(&mut self, row: u32) -> &mut RequestParts {
        match &mut self.requests {
            Source::MadeInRun(made) => made.request_of(row),
            Source::Prepared(_) => {
                unreachable!("messages were made before the run, and row {row} has none of its own")
            }
        }
    }

    fn take_message_books(&mut self) -> Option<MessageBooks> {
        Some(std::mem::take(&mut self.books))
    }
}

#[derive(Debug)]
pub(crate) struct Channel {
    outbox: Outbox,
    inbox: Inbox,
    splitter: Splitter,
    /// The opening, until it is complete.
    greeting: Option<Box<Greeting>>,
    varying: Varying,
    /// The stream of HTTP/2 that carries the bytes of the channel, unless the connection itself does.
    stream: Option<Box<ChannelStream>>,
    is_closed: bool,
}

/// Reason why a channel ends.
struct Lost {
    cause: Cause,
    /// The peer closed it in order, so a message that was not sent may go elsewhere.
    is_in_order: bool,
}

impl From<Cause> for Lost {
    fn from(cause: Cause) -> Lost {
        Lost { cause, is_in_order: false }
    }
}

impl Channel {
    /// Creates a channel. `number` differs from channel to channel.
    pub(super) fn new(options: &MessageOptions, number: u64) -> Channel {
        let mut varying = Varying::new(number);
        let greeting = Greeting::begin(options, number, &mut varying);
        let stream = match &options.opening {
            Opening::Call(request) => Some(ChannelStream::call(&request.fields)),
            Opening::WebSocket(request) => request.http2_fields().map(ChannelStream::websocket),
            Opening::Nothing | Opening::Redis(_) => None,
        };
        let mut channel = Channel {
            outbox: Outbox::default(),
            inbox: Inbox::new(number as u32, !options.subscription.is_empty()),
            splitter: Splitter::new(&options.framing),
            greeting: Some(Box::new(greeting)),
            varying,
            stream: stream.map(Box::new),
            is_closed: false,
        };
        channel.end_greeting();
        channel
    }

    /// Gives the stream below the channel as many bytes as its windows allow at `now`.
    #[inline]
    fn feed_stream(&mut self, now: Timestamp) {
        let Some(stream) = &mut self.stream else { return };
        match &mut self.greeting {
            _ if !stream.takes_content() => {}
            None => self.outbox.lend(stream.put(self.outbox.unlent(), true)),
            Some(greeting) => greeting.sent(stream.put(greeting.output(), false), now),
        }
    }

    /// Forgets the opening if it is complete. The rest of its output is sent before the first message.
    fn end_greeting(&mut self) {
        if let Some(greeting) = self.greeting.take_if(|greeting| greeting.is_complete()) {
            self.outbox.push_untagged(|out| out.extend_from_slice(greeting.output()));
        }
    }

    fn end_all(&mut self, begun: Outcome, others: Outcome, are_retried: bool, events: &mut Events) {
        self.inbox.end_pushes(true, events);
        self.inbox.end_all(begun, others, self.splitter.wire_bytes(), are_retried, &self.outbox, events);
        self.is_closed = true;
        events.push(Event::GoingAway);
    }

    fn is_full(&self) -> bool {
        self.is_closed || self.outbox.is_backed_up()
    }

    /// Takes bytes of the opening. Returns those after it.
    fn take_greeting<'a>(
        &mut self,
        protocol: &Messages,
        bytes: &'a [u8],
        at: Timestamp,
        events: &mut Events,
    ) -> Result<&'a [u8], Cause> {
        let Some(greeting) = &mut self.greeting else { return Ok(bytes) };
        let taken = greeting.receive(&protocol.options, bytes, &mut self.splitter, &mut self.varying)?;
        self.end_greeting();
        if self.greeting.is_none() {
            self.inbox.begin_pushes(at, events);
        }
        Ok(&bytes[taken..])
    }

    fn take_bytes(
        &mut self,
        protocol: &mut Messages,
        bytes: &[u8],
        at: Timestamp,
        events: &mut Events,
    ) -> Result<(), Lost> {
        let was_compressed = self.varying.deflater.is_some();
        self.inbox.begin_reading();
        let taken = match self.stream {
            None => self.take_content(protocol, bytes, at, events),
            Some(_) => self.take_stream(protocol, bytes, at, events),
        };
        protocol.books.channels_compressed += u64::from(!was_compressed && self.varying.deflater.is_some());
        taken
    }

    /// Takes bytes of the connection below the channel, and lets the stream answer.
    fn take_stream(
        &mut self,
        protocol: &mut Messages,
        bytes: &[u8],
        at: Timestamp,
        events: &mut Events,
    ) -> Result<(), Lost> {
        let mut rest = bytes;
        let mut taken = Ok(());
        while let (Some(stream), false, true) = (&self.stream, rest.is_empty(), taken.is_ok()) {
            let (frame, after) = stream.split_frame(rest);
            let was_whole = self.outbox.unlent().is_empty();
            taken = self.take_frame(protocol, frame, at, events);
            // A lost channel sends no further message, and answers a Close only if none waits before the answer.
            if taken.is_ok() || was_whole {
                self.feed_stream(at);
            }
            rest = after;
        }
        let Some(stream) = &mut self.stream else { return taken };
        let taken = taken.and_then(|()| Ok(stream.ask()?));
        if taken.is_err() {
            stream.say_goodbye(self.outbox.unlent().is_empty() && self.splitter.has_frames());
        }
        taken
    }

    /// Takes what bytes of a frame bring for the channel: its acceptance, its content, its end.
    fn take_frame(
        &mut self,
        protocol: &mut Messages,
        bytes: &[u8],
        at: Timestamp,
        events: &mut Events,
    ) -> Result<(), Lost> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let end = stream.receive(bytes);
        let content = stream.take_content();
        if let (Some(answer), Opening::WebSocket(request)) = (stream.answer(), &protocol.options.opening) {
            request.agreement(answer.iter())?.apply(&mut self.splitter, &mut self.varying);
            stream.accept();
            if self.greeting.is_none() {
                self.inbox.begin_pushes(at, events);
            }
        }
        // Other content is that of an error page.
        let is_of_channel = stream.takes_content();
        let taken = if is_of_channel { self.take_content(protocol, &content, at, events) } else { Ok(()) };
        if let Some(stream) = &mut self.stream {
            stream.restore_content(content);
        }
        taken?;
        if let Some(StreamEnd { cause, status, is_in_order }) = end {
            if let Some(status) = status {
                *protocol.books.call_statuses.entry(status.name().to_owned()).or_default() += 1;
            }
            return Err(Lost { cause, is_in_order });
        }
        Ok(())
    }

    /// Takes bytes of the channel itself.
    fn take_content(
        &mut self,
        protocol: &mut Messages,
        bytes: &[u8],
        at: Timestamp,
        events: &mut Events,
    ) -> Result<(), Lost> {
        let mut rest = self.take_greeting(protocol, bytes, at, events)?;
        let Channel { outbox, inbox, splitter, varying, .. } = self;
        let Messages { options, books, .. } = protocol;
        let mut handled = Ok(());
        while !rest.is_empty() && handled.is_ok() {
            splitter.feed(&options.framing, &mut rest, &mut |part| {
                if handled.is_ok() {
                    handled = inbox.handle(part, options, outbox, books, events);
                }
            })?;
            match splitter.take_control() {
                None => {}
                // A peer that does not read must not fill the memory.
                Some(Control::Ping(_)) if outbox.is_backed_up() => return Err(Cause::BadMessage.into()),
                Some(Control::Ping(payload)) => {
                    events.push(Event::Unasked);
                    outbox.push_untagged(|out| put_frame(Opcode::Pong, &payload, &mut varying.masks, out));
                }
                Some(Control::Close(code)) => {
                    *books.close_codes.entry(code).or_default() += 1;
                    let said = code.to_be_bytes();
                    let said = if code == NO_CODE { &[][..] } else { &said };
                    outbox.push_untagged(|out| put_frame(Opcode::Close, said, &mut varying.masks, out));
                    return Err(Lost { cause: Cause::ClosedBeforeAnswer, is_in_order: true });
                }
            }
        }
        Ok(handled?)
    }
}

impl Conversation<Messages> for Channel {
    #[inline]
    fn begin(&mut self, protocol: &Messages, begins: Beginning, _: &mut Events) -> u32 {
        let Beginning { tag, request, arrival, now } = begins;
        let mut made = RequestParts::default();
        let message = match &protocol.requests {
            Source::MadeInRun(messages) => messages.view(request).body(),
            Source::Prepared(requests) => {
                let is_made = requests.maker().is_some_and(|maker| maker.make(request, arrival.index, &mut made));
                if is_made { made.view().body() } else { requests.bytes(request) }
            }
        };
        let options = &protocol.options;
        let varying = &mut self.varying;
        let starts = self.outbox.push(tag, |out| options.framing.put(message, varying, out));
        let is_measured = arrival.intended_start >= protocol.measured_from;
        // A field of FIX may get its value only now.
        let compared = if let Matching::Fix(_) = options.matching { self.outbox.from(starts) } else { message };
        let key = options.key_of_message(compared);
        self.feed_stream(now);
        self.inbox.push(tag, starts, is_measured, key)
    }

    /// An opening in which nothing is awaited has been complete from the beginning.
    fn opened(&mut self, now: Timestamp, events: &mut Events) {
        self.inbox.begin_pushes(now, events);
    }

    fn output<'a>(&'a self, _: &'a Messages) -> &'a [u8] {
        if let Some(stream) = &self.stream {
            return stream.output();
        }
        self.greeting.as_ref().map_or_else(|| self.outbox.pending(), |greeting| greeting.output())
    }

    #[inline]
    fn sent(&mut self, protocol: &Messages, count: usize, now: Timestamp, events: &mut Events) {
        let count = self.stream.as_mut().map_or(count, |stream| stream.sent(count));
        if let Some(greeting) = &mut self.greeting {
            if self.stream.as_ref().is_some_and(|stream| !stream.takes_content()) {
                return;
            }
            let of_greeting = if self.stream.is_some() { 0 } else { count };
            greeting.sent(of_greeting, now);
            return self.feed_stream(now);
        }
        let was_full = self.is_full();
        let whole = self.outbox.take(count, events);
        if protocol.options.matching == Matching::None {
            (0..whole).for_each(|_| self.inbox.end_sent(events));
        }
        self.feed_stream(now);
        if was_full && !self.is_full() {
            events.push(Event::RoomChanged);
        }
    }

    #[inline]
    fn receive(&mut self, protocol: &mut Messages, bytes: &[u8], at: Timestamp, events: &mut Events) -> Flow {
        match self.take_bytes(protocol, bytes, at, events) {
            Ok(()) => Flow::Continue,
            Err(Lost { cause, is_in_order }) => {
                let begun = if is_in_order { Cause::Truncated } else { cause };
                self.end_all(Outcome::Malformed(begun), Outcome::Reset(cause), is_in_order, events);
                protocol.books.channels_lost += u64::from(self.is_open());
                Flow::Close(cause)
            }
        }
    }

    fn close(&mut self, how: Closed, events: &mut Events) {
        let cause = match how {
            Closed::EndOfStream { .. } => Cause::ClosedBeforeAnswer,
            Closed::Reset => Cause::ResetByPeer,
            Closed::Tls { .. } => Cause::TlsBroken,
        };
        if let Some(stream) = &mut self.stream {
            stream.close(how);
        }
        self.end_all(Outcome::Malformed(Cause::Truncated), Outcome::Reset(cause), true, events);
    }

    fn cancel(&mut self, key: u32, _: &mut Events) -> u64 {
        if let Some(tag) = self.inbox.give_up(key) {
            self.outbox.forget(tag);
        }
        0
    }

    #[inline]
    fn next_deadline(&self) -> Timestamp {
        match &self.greeting {
            Some(greeting) if !self.is_closed => greeting.deadline(),
            _ => Timestamp::NEVER,
        }
    }

    fn on_deadline(&mut self, _: &mut Messages, _: Timestamp, events: &mut Events) -> Flow {
        let cause = Cause::HelloTimedOut;
        self.end_all(Outcome::Reset(cause), Outcome::Reset(cause), true, events);
        Flow::Close(cause)
    }

    fn is_open(&self) -> bool {
        self.greeting.is_none() && self.stream.as_ref().is_none_or(|stream| stream.is_open())
    }

    fn complaint(&self) -> Option<String> {
        self.greeting.as_ref()?.complaint()
    }

    fn say_goodbye(&mut self, events: &mut Events) {
        self.inbox.end_pushes(false, events);
        if self.splitter.has_frames() {
            let varying = &mut self.varying;
            self.outbox.push_untagged(|out| put_frame(Opcode::Close, &NORMAL.to_be_bytes(), &mut varying.masks, out));
            self.feed_stream(Timestamp::ZERO);
        }
        if let Some(stream) = &mut self.stream {
            stream.say_goodbye(self.outbox.unlent().is_empty());
        }
    }

    fn answers_in_order(&self) -> bool {
        false
    }

    fn may_send(&self) -> bool {
        !self.outbox.pending().is_empty() || self.stream.as_ref().is_some_and(|stream| !stream.output().is_empty())
    }

    fn waits_for_window(&self) -> bool {
        self.stream.is_some() && !self.outbox.unlent().is_empty()
    }

    #[inline]
    fn has_room(&self) -> bool {
        !self.is_full()
    }

    fn capacity(&self) -> u64 {
        if self.is_full() { self.in_flight() as u64 } else { u64::from(u32::MAX) }
    }

    fn in_flight(&self) -> usize {
        self.inbox.open()
    }

    fn is_closing(&self) -> bool {
        self.is_closed
    }
}
