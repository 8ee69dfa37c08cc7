//! The protocol of messages, and one channel: a connection that carries them.

use std::sync::Arc;

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_run::MessageBooks;

use super::built_in::BuiltIns;
use super::inbox::Inbox;
use super::options::MessageOptions;
use super::outbox::Outbox;
use super::splitter::Splitter;
use crate::protocol::{Beginning, Closed, Conversation, Event, Events, Flow, Protocol};
use crate::target::request_set::RequestSet;

/// Messages for all channels of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    requests: RequestSet,
    options: Arc<MessageOptions>,
    built_ins: BuiltIns,
    /// Messages that were due before this are not counted in the books.
    measured_from: Timestamp,
    pub(super) books: MessageBooks,
}

impl Messages {
    pub(crate) fn new(requests: &RequestSet, options: MessageOptions, measured_from: Timestamp) -> Messages {
        Messages {
            requests: requests.clone(),
            built_ins: BuiltIns::new(requests, &options.framing),
            options: Arc::new(options),
            measured_from,
            books: MessageBooks::default(),
        }
    }
}

impl Protocol for Messages {
    type Conversation = Channel;

    fn conversation(&self) -> Channel {
        Channel::new(&self.options)
    }

    fn carries_several(&self) -> bool {
        true
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
    is_closed: bool,
}

impl Channel {
    pub(super) fn new(options: &MessageOptions) -> Channel {
        Channel {
            outbox: Outbox::default(),
            inbox: Inbox::default(),
            splitter: Splitter::new(&options.framing),
            is_closed: false,
        }
    }

    fn end_all(&mut self, begun: Outcome, others: Outcome, are_retried: bool, events: &mut Events) {
        self.inbox.end_all(begun, others, self.splitter.wire_bytes(), are_retried, &self.outbox, events);
        self.is_closed = true;
        events.push(Event::GoingAway);
    }

    fn is_full(&self) -> bool {
        self.is_closed || self.outbox.is_backed_up()
    }

    fn take_bytes(&mut self, protocol: &mut Messages, bytes: &[u8], events: &mut Events) -> Result<(), Cause> {
        let Channel { outbox, inbox, splitter, .. } = self;
        let Messages { options, books, .. } = protocol;
        inbox.begin_reading();
        let mut handled = Ok(());
        let mut rest = bytes;
        while !rest.is_empty() && handled.is_ok() {
            splitter.feed(&options.framing, &mut rest, &mut |part| {
                if handled.is_ok() {
                    handled = inbox.handle(part, options, outbox, books, events);
                }
            })?;
        }
        handled
    }
}

impl Conversation<Messages> for Channel {
    #[inline]
    fn begin(&mut self, protocol: &Messages, begins: Beginning, _: &mut Events) -> u32 {
        let Beginning { tag, request, arrival, .. } = begins;
        let message = protocol.requests.bytes(request);
        let filled = protocol.built_ins.filled(request, message, arrival);
        let message = filled.as_deref().unwrap_or(message);
        let options = &protocol.options;
        let starts = self.outbox.push(tag, |out| options.framing.put(message, out));
        let is_measured = arrival.intended_start >= protocol.measured_from;
        self.inbox.push(tag, starts, is_measured, options.matching.key_of(message))
    }

    fn output<'a>(&'a self, _: &'a Messages) -> &'a [u8] {
        self.outbox.pending()
    }

    #[inline]
    fn sent(&mut self, _: &Messages, count: usize, _: Timestamp, events: &mut Events) {
        let was_full = self.is_full();
        self.outbox.take(count, events);
        if was_full && !self.is_full() {
            events.push(Event::RoomChanged);
        }
    }

    #[inline]
    fn receive(&mut self, protocol: &mut Messages, bytes: &[u8], _: Timestamp, events: &mut Events) -> Flow {
        match self.take_bytes(protocol, bytes, events) {
            Ok(()) => Flow::Continue,
            Err(cause) => {
                self.end_all(Outcome::Malformed(cause), Outcome::Reset(cause), false, events);
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
        self.end_all(Outcome::Malformed(Cause::Truncated), Outcome::Reset(cause), true, events);
    }

    fn cancel(&mut self, key: u32, _: &mut Events) -> u64 {
        if let Some(tag) = self.inbox.give_up(key) {
            self.outbox.forget(tag);
        }
        0
    }

    fn answers_in_order(&self) -> bool {
        false
    }

    fn may_send(&self) -> bool {
        !self.outbox.pending().is_empty()
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
