//! The messages of a channel that wait for a reply, and the reply that arrives.

use std::collections::{HashMap, HashSet, VecDeque};

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_run::MessageBooks;

use super::matching::{Key, Matching};
use super::options::MessageOptions;
use super::outbox::Outbox;
use super::redis::Reply;
use super::splitter::Part;
use crate::protocol::observer::AnswerHead;
use crate::protocol::{Ended, Event, Events, Retry, Tag};

/// Longest reply that is kept to find its id: 16 MiB.
const MAX_KEPT_REPLY: usize = 16 << 20;
/// Number of ids of ended messages that are kept, to tell a doubled reply from an unknown one.
const KEPT_IDS: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// `None` if it was given up. Its reply is still expected.
    tag: Option<Tag>,
    /// Position of its first byte in what is sent.
    starts: u64,
    is_measured: bool,
}

/// The reply that is being received.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Current {
    #[default]
    None,
    /// It answers the first message that waits.
    First,
    /// It answers no message.
    Push,
    /// Its id will tell.
    Unknown,
}

#[derive(Default, Debug)]
pub(super) struct Inbox {
    /// Messages in the order of sending; `None` once ended. The first is never `None`.
    waiting: VecDeque<Option<Waiting>>,
    /// Number of the first message that waits.
    first: u32,
    by_key: HashMap<Key, VecDeque<u32>>,
    ended_keys: RecentKeys,
    /// Number of messages that wait and were not given up.
    open: usize,
    current: Current,
    /// Content of the reply that is being received, if its id decides.
    reply: Vec<u8>,
    /// True if the reply began in the bytes that are being handled.
    began_now: bool,
    channel: u32,
    pushes: Pushes,
}

/// Attention to what the peer sends without being asked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Pushes {
    /// They are only counted.
    #[default]
    Counted,
    /// They will be reported once the channel is open.
    Awaited,
    Reported,
}

impl Inbox {
    /// Creates the inbox of a channel. If it `is_subscribed`, pushes are reported to their reader.
    pub(super) fn new(channel: u32, is_subscribed: bool) -> Inbox {
        let pushes = if is_subscribed { Pushes::Awaited } else { Pushes::Counted };
        Inbox { channel, pushes, ..Inbox::default() }
    }

    /// Begins to report pushes, if that was awaited.
    #[inline]
    pub(super) fn begin_pushes(&mut self, at: Timestamp, events: &mut Events) {
        if self.pushes == Pushes::Awaited {
            self.pushes = Pushes::Reported;
            events.pushes().into_iter().for_each(|reader| reader.begin_channel(self.channel, at));
        }
    }

    /// Ends the report of pushes. `is_lost`: the peer ended the channel.
    pub(super) fn end_pushes(&mut self, is_lost: bool, events: &mut Events) {
        if std::mem::take(&mut self.pushes) == Pushes::Reported {
            events.pushes().into_iter().for_each(|reader| reader.end_channel(self.channel, is_lost));
        }
    }

    fn push_part(&self, part: &[u8], events: &mut Events) {
        if self.pushes == Pushes::Reported {
            events.pushes().into_iter().for_each(|reader| reader.push_part(self.channel, part));
        }
    }

    fn end_push(&self, books: &mut MessageBooks, events: &mut Events) {
        books.pushes += 1;
        events.push(Event::Unasked);
        if self.pushes == Pushes::Reported {
            events.pushes().into_iter().for_each(|reader| reader.end_push(self.channel));
        }
    }

    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Adds a message, and returns its number.
    #[inline]
    pub(super) fn push(&mut self, tag: Tag, starts: u64, is_measured: bool, key: Option<Key>) -> u32 {
        let number = self.first.wrapping_add(self.waiting.len() as u32);
        self.waiting.push_back(Some(Waiting { tag: Some(tag), starts, is_measured }));
        if let Some(key) = key {
            self.by_key.entry(key).or_default().push_back(number);
        }
        self.open += 1;
        number
    }

    /// Gives up the message of this number. Its reply will be late.
    pub(super) fn give_up(&mut self, number: u32) -> Option<Tag> {
        let at = number.wrapping_sub(self.first) as usize;
        let tag = self.waiting.get_mut(at)?.as_mut()?.tag.take()?;
        self.open -= 1;
        Some(tag)
    }

    /// Begins to handle bytes that arrived together.
    pub(super) fn begin_reading(&mut self) {
        self.began_now = false;
    }

    /// Handles a part of a reply.
    ///
    /// # Errors
    /// [`Cause::MessageTooLarge`].
    pub(super) fn handle(
        &mut self,
        part: Part<'_>,
        options: &MessageOptions,
        outbox: &mut Outbox,
        books: &mut MessageBooks,
        events: &mut Events,
    ) -> Result<(), Cause> {
        match part {
            Part::Begin { is_push } => {
                self.began_now = true;
                let first = self.waiting.front().copied().flatten().filter(|first| outbox.has_taken(first.starts));
                self.current = match options.matching {
                    _ if is_push => Current::Push,
                    Matching::Json(_) | Matching::Bytes { .. } | Matching::Fix(_) => Current::Unknown,
                    Matching::Order if first.is_some() => Current::First,
                    Matching::Order | Matching::None => Current::Push,
                };
                if let Some(tag) = self.first_tag() {
                    begin_reply(tag, events);
                }
            }
            Part::Bytes(bytes) => match (self.current, self.first_tag()) {
                (_, Some(tag)) => events.body(tag, bytes),
                (Current::Unknown, _) if self.reply.len() + bytes.len() > MAX_KEPT_REPLY => {
                    return Err(Cause::MessageTooLarge);
                }
                (Current::Unknown, _) => self.reply.extend_from_slice(bytes),
                (Current::Push, _) => self.push_part(bytes, events),
                _ => {}
            },
            Part::End { kind, wire_bytes } => match std::mem::take(&mut self.current) {
                Current::First => {
                    let waiting = self.take(self.first).expect("the message that the reply began with");
                    end(waiting, kind, wire_bytes, outbox, books, events);
                }
                Current::Push | Current::None => self.end_push(books, events),
                Current::Unknown => self.end_unknown(kind, wire_bytes, options, outbox, books, events),
            },
        }
        Ok(())
    }

    /// Returns the tag of the message whose reply is being received, if it is known and was not given up.
    fn first_tag(&self) -> Option<Tag> {
        let first = self.waiting.front().filter(|_| self.current == Current::First)?;
        first.as_ref()?.tag
    }

    fn end_unknown(
        &mut self,
        kind: Reply,
        wire_bytes: u64,
        options: &MessageOptions,
        outbox: &mut Outbox,
        books: &mut MessageBooks,
        events: &mut Events,
    ) {
        let reply = std::mem::take(&mut self.reply);
        let key = options.key_of_reply(&reply);
        let number = key.as_ref().and_then(|key| self.take_number(key, outbox));
        match number.and_then(|number| self.take(number)) {
            Some(waiting) => {
                if let Some(tag) = waiting.tag {
                    if self.began_now {
                        events.push(Event::FirstByte(tag));
                    }
                    events.head(tag, AnswerHead::EMPTY);
                    events.body(tag, &reply);
                }
                self.ended_keys.extend(key);
                end(waiting, kind, wire_bytes, outbox, books, events);
            }
            None if key.is_some_and(|key| self.ended_keys.contains(&key)) => {
                books.doubled += 1;
                events.push(Event::Unasked);
            }
            None if self.pushes == Pushes::Reported => {
                self.push_part(&reply, events);
                self.end_push(books, events);
            }
            None => {
                books.unmatched += 1;
                events.push(Event::Unasked);
            }
        }
        self.reply = reply;
        self.reply.clear();
        self.reply.shrink_to(64 * 1024);
    }

    /// Takes the number of the oldest message with this key that was sent.
    fn take_number(&mut self, key: &Key, outbox: &Outbox) -> Option<u32> {
        let numbers = self.by_key.get_mut(key)?;
        let at = numbers.front()?.wrapping_sub(self.first) as usize;
        let waiting = self.waiting.get(at).copied().flatten()?;
        if !outbox.has_taken(waiting.starts) {
            return None;
        }
        let number = numbers.pop_front();
        if numbers.is_empty() {
            self.by_key.remove(key);
        }
        number
    }

    /// Removes the message of this number.
    fn take(&mut self, number: u32) -> Option<Waiting> {
        let at = number.wrapping_sub(self.first) as usize;
        let waiting = self.waiting.get_mut(at)?.take();
        while let Some(None) = self.waiting.front() {
            self.waiting.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.open -= usize::from(waiting.is_some_and(|waiting| waiting.tag.is_some()));
        waiting
    }

    /// Ends the first message, which was sent and has no reply.
    pub(super) fn end_sent(&mut self, events: &mut Events) {
        let sent = self.take(self.first).and_then(|first| first.tag);
        if let Some(tag) = sent {
            events.end(Ended::new(tag, Outcome::ANSWERED, 0));
        }
    }

    /// Ends every message, because the channel is lost. `begun` is the outcome of a message whose reply has begun and
    /// brought `wire_bytes` bytes; `others` is the outcome of the rest. If `are_retried`, unsent messages may be sent
    /// on another channel.
    pub(super) fn end_all(
        &mut self,
        begun: Outcome,
        others: Outcome,
        wire_bytes: u64,
        are_retried: bool,
        outbox: &Outbox,
        events: &mut Events,
    ) {
        let is_first_begun = self.current == Current::First;
        for (nth, waiting) in std::mem::take(&mut self.waiting).into_iter().enumerate() {
            let Some(Waiting { tag: Some(tag), starts, .. }) = waiting else { continue };
            let retry = if are_retried && !outbox.has_taken(starts) { Retry::Unsent } else { Retry::No };
            let (outcome, received) = if nth == 0 && is_first_begun { (begun, wire_bytes) } else { (others, 0) };
            events.end(Ended { retry, ..Ended::new(tag, outcome, received) });
        }
        self.by_key.clear();
        self.open = 0;
        self.current = Current::None;
    }
}

fn begin_reply(tag: Tag, events: &mut Events) {
    events.push(Event::FirstByte(tag));
    events.head(tag, AnswerHead::EMPTY);
}

/// Ends a message with its reply.
fn end(
    waiting: Waiting,
    kind: Reply,
    wire_bytes: u64,
    outbox: &mut Outbox,
    books: &mut MessageBooks,
    events: &mut Events,
) {
    let Some(tag) = waiting.tag else {
        books.late += 1;
        return events.push(Event::Unasked);
    };
    books.error_replies += u64::from(kind == Reply::Error && waiting.is_measured);
    outbox.forget(tag);
    events.message_ended(tag);
    events.end(Ended::new(tag, Outcome::ANSWERED, wire_bytes));
}

/// The ids of the messages that ended last.
#[derive(Default, Debug)]
struct RecentKeys {
    known: HashSet<Key>,
    in_order: VecDeque<Key>,
}

impl RecentKeys {
    fn extend(&mut self, key: Option<Key>) {
        let Some(key) = key.filter(|key| self.known.insert(key.clone())) else { return };
        self.in_order.push_back(key);
        if self.in_order.len() > KEPT_IDS
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    fn contains(&self, key: &Key) -> bool {
        self.known.contains(key)
    }
}
