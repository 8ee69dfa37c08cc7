//! A protocol of numbered messages: many requests at once on a connection, answers in any order and of several parts,
//! and a deadline. It shows what the interface offers beyond HTTP.
//!
//! A frame is a number, a kind, a length, and as many bytes. Kinds: `q` request, `p` part of an answer, `e` its last
//! part, `?` ping, `!` reply to a ping.

use std::collections::BTreeMap;

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Nanos, Timestamp};

use crate::protocol::{Beginning, Closed, Conversation, Ended, Event, Events, Flow, Protocol, Retry, Tag};

/// If the peer is silent for this long while a request waits, it is asked for a sign of life. If it stays silent for as
/// long again, the connection is given up.
pub(crate) const SILENCE: Nanos = Nanos::from_millis(50);
const HEAD: usize = 3;
const BODY: &[u8] = b"hello";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbered;

#[derive(Debug)]
pub(crate) struct NumberedConversation {
    out: Vec<u8>,
    /// Bytes of `out` that the transport took.
    taken: usize,
    waiting: BTreeMap<u8, Waiting>,
    next: u8,
    /// The begin of a frame that has not arrived whole.
    partial: Vec<u8>,
    heard: Timestamp,
    is_asked: bool,
    is_closing: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    tag: Tag,
    /// Position of the request in `out`.
    at: usize,
    is_started: bool,
    received: u64,
}

pub(crate) fn frame(number: u8, kind: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number, kind, bytes.len() as u8], bytes].concat()
}

impl Protocol for Numbered {
    type Conversation = NumberedConversation;

    fn conversation(&self) -> NumberedConversation {
        NumberedConversation {
            out: Vec::new(),
            taken: 0,
            waiting: BTreeMap::new(),
            next: 0,
            partial: Vec::new(),
            heard: Timestamp::ZERO,
            is_asked: false,
            is_closing: false,
        }
    }

    fn carries_several(&self) -> bool {
        true
    }
}

impl NumberedConversation {
    fn end_all(&mut self, outcome: Outcome, events: &mut Events) {
        for waiting in std::mem::take(&mut self.waiting).into_values() {
            let retry = if waiting.at >= self.taken { Retry::Unsent } else { Retry::No };
            events.end(Ended { retry, ..Ended::new(waiting.tag, outcome, waiting.received) });
        }
        self.is_closing = true;
        events.push(Event::GoingAway);
    }

    /// Handles a whole frame. Returns false if it breaks the rules.
    fn take(&mut self, number: u8, kind: u8, bytes: &[u8], events: &mut Events) -> bool {
        if kind == b'!' {
            return true;
        }
        if kind != b'p' && kind != b'e' {
            return false;
        }
        let Some(waiting) = self.waiting.get_mut(&number) else {
            // The answer to a request that was given up.
            events.push(Event::Stray);
            return true;
        };
        if waiting.received == 0 {
            events.push(Event::FirstByte(waiting.tag));
        }
        waiting.received += (HEAD + bytes.len()) as u64;
        events.body(waiting.tag, bytes);
        events.message_ended(waiting.tag);
        if kind == b'e' {
            events.end(Ended::new(waiting.tag, Outcome::response(200), waiting.received));
            self.waiting.remove(&number);
        }
        true
    }
}

impl Conversation<Numbered> for NumberedConversation {
    fn begin(&mut self, _: &Numbered, begins: Beginning, _: &mut Events) -> u32 {
        let Beginning { tag, now, .. } = begins;
        if self.waiting.is_empty() {
            self.heard = now;
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.waiting.insert(number, Waiting { tag, at: self.out.len(), is_started: false, received: 0 });
        self.out.extend(frame(number, b'q', BODY));
        number.into()
    }

    fn output<'a>(&'a self, _: &'a Numbered) -> &'a [u8] {
        &self.out[self.taken..]
    }

    fn sent(&mut self, _: &Numbered, count: usize, _: Timestamp, events: &mut Events) {
        self.taken += count;
        for waiting in self.waiting.values_mut().filter(|waiting| !waiting.is_started && waiting.at < self.taken) {
            waiting.is_started = true;
            events.push(Event::Started(waiting.tag));
        }
    }

    fn receive(&mut self, _: &mut Numbered, bytes: &[u8], at: Timestamp, events: &mut Events) -> Flow {
        self.heard = at;
        self.is_asked = false;
        let mut arrived = std::mem::take(&mut self.partial);
        arrived.extend_from_slice(bytes);
        let mut rest = &arrived[..];
        while let [number, kind, length, more @ ..] = rest
            && let Some((payload, more)) = more.split_at_checked(usize::from(*length))
        {
            if !self.take(*number, *kind, payload, events) {
                self.end_all(Outcome::Malformed(Cause::BadHead), events);
                return Flow::Close(Cause::BadHead);
            }
            rest = more;
        }
        self.partial = rest.to_vec();
        Flow::Continue
    }

    fn next_deadline(&self) -> Timestamp {
        let waits = if self.is_asked { Nanos(2 * SILENCE.0) } else { SILENCE };
        if self.waiting.is_empty() { Timestamp::NEVER } else { self.heard + waits }
    }

    fn on_deadline(&mut self, _: &mut Numbered, _: Timestamp, events: &mut Events) -> Flow {
        if std::mem::replace(&mut self.is_asked, true) {
            self.end_all(Outcome::Reset(Cause::ClosedBeforeAnswer), events);
            return Flow::Close(Cause::ClosedBeforeAnswer);
        }
        self.out.extend(frame(0, b'?', &[]));
        Flow::Continue
    }

    fn close(&mut self, how: Closed, events: &mut Events) {
        let cause = if how == Closed::Reset { Cause::ResetByPeer } else { Cause::ClosedBeforeAnswer };
        self.end_all(Outcome::Reset(cause), events);
    }

    fn cancel(&mut self, key: u32, _: &mut Events) -> u64 {
        self.waiting.remove(&(key as u8)).map_or(0, |waiting| waiting.received)
    }

    fn answers_in_order(&self) -> bool {
        false
    }

    fn may_send(&self) -> bool {
        self.taken < self.out.len()
    }

    fn has_room(&self) -> bool {
        !self.is_closing && self.waiting.len() < 200
    }

    fn capacity(&self) -> u64 {
        200
    }

    fn in_flight(&self) -> usize {
        self.waiting.len()
    }

    fn is_closing(&self) -> bool {
        self.is_closing
    }
}
