//! The bytes to send, and the messages in them.

use std::collections::VecDeque;

use crate::protocol::{Event, Events, Tag};

/// With this many bytes waiting to be taken, no message begins, because the peer does not read.
const MAX_UNSENT: usize = 1024 * 1024;

/// A message that the transport has not taken whole. Positions count all bytes of the channel.
#[derive(Clone, Copy, Debug)]
struct Sending {
    /// `None` if the message has ended.
    tag: Option<Tag>,
    starts: u64,
    ends: u64,
    is_started: bool,
}

#[derive(Default, Debug)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    /// Bytes of `bytes` that the transport took.
    gone: usize,
    /// Bytes of the channel that the transport took.
    taken: u64,
    /// Bytes of the channel that were lent to the call below it, if there is one.
    lent: u64,
    sending: VecDeque<Sending>,
}

impl Outbox {
    /// Appends a message that `put` writes. Returns the position of its first byte.
    #[inline]
    pub(super) fn push(&mut self, tag: Tag, put: impl FnOnce(&mut Vec<u8>)) -> u64 {
        if self.gone > MAX_UNSENT {
            self.bytes.drain(..self.gone);
            self.gone = 0;
        }
        let before = self.bytes.len();
        put(&mut self.bytes);
        let starts = self.taken + (before - self.gone) as u64;
        let ends = starts + (self.bytes.len() - before) as u64;
        self.sending.push_back(Sending { tag: Some(tag), starts, ends, is_started: false });
        starts
    }

    /// Appends bytes that belong to no message.
    pub(super) fn push_untagged(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.bytes);
    }

    #[inline]
    pub(super) fn pending(&self) -> &[u8] {
        &self.bytes[self.gone..]
    }

    /// Returns the bytes that were not lent yet.
    #[inline]
    pub(super) fn unlent(&self) -> &[u8] {
        self.from(self.lent)
    }

    /// Records that the next `count` bytes were lent. They stay here until the transport takes them.
    #[inline]
    pub(super) fn lend(&mut self, count: usize) {
        self.lent += count as u64;
    }

    /// Returns the bytes to send, beginning at the position `starts`. The transport must not have taken that byte.
    pub(super) fn from(&self, starts: u64) -> &[u8] {
        &self.pending()[(starts - self.taken) as usize..]
    }

    pub(super) fn is_backed_up(&self) -> bool {
        self.pending().len() >= MAX_UNSENT
    }

    /// Returns true if the transport took a byte of the message at position `starts`.
    #[inline]
    pub(super) fn has_taken(&self, starts: u64) -> bool {
        starts < self.taken
    }

    /// Records that the transport took bytes, and tells which messages started and which were sent. Returns the number
    /// of messages that it took whole.
    pub(super) fn take(&mut self, count: usize, events: &mut Events) -> usize {
        let mut whole = 0;
        self.gone += count;
        self.taken += count as u64;
        if self.gone == self.bytes.len() {
            self.bytes.clear();
            self.gone = 0;
        }
        while let Some(sending) = self.sending.front_mut().filter(|sending| sending.starts < self.taken) {
            let had_started = std::mem::replace(&mut sending.is_started, true);
            if let Some(tag) = sending.tag.filter(|_| !had_started) {
                events.push(Event::Started(tag));
            }
            if sending.ends > self.taken {
                break;
            }
            if let Some(tag) = sending.tag.filter(|_| had_started) {
                events.push(Event::Sent(tag));
            }
            self.sending.pop_front();
            whole += 1;
        }
        whole
    }

    /// Forgets a message that has ended, so that no event follows.
    pub(super) fn forget(&mut self, tag: Tag) {
        if let Some(sending) = self.sending.iter_mut().find(|sending| sending.tag == Some(tag)) {
            sending.tag = None;
        }
    }
}
