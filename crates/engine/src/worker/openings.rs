//! The channels that a worker opens before the load.

use std::collections::{BTreeMap, VecDeque};
use std::iter::repeat_n;

use truetail_model::record::Cause;
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::MessageBooks;

use crate::connection::Token;
use crate::start::OpenAhead;

/// Progress of the openings, and their results.
#[derive(Default, Debug)]
pub(super) struct Openings {
    /// True until the load begins, if channels are opened before it.
    are_now: bool,
    /// Limit on the channels that are being opened.
    at_once: usize,
    /// Limit on the time for one channel.
    for_one: Nanos,
    /// Origins of the channels that are left.
    left: VecDeque<u32>,
    /// Channels that are being opened, with the latest end of each, earliest first. Some may have ended.
    opening: VecDeque<(Timestamp, Token)>,
    /// Number of channels that are being opened.
    underway: usize,
    opened: u64,
    failed: BTreeMap<Cause, u64>,
    late: u64,
}

impl Openings {
    /// Begins with the channels to this number of origins.
    pub(super) fn begin(origins: u32, wanted: OpenAhead) -> Openings {
        let OpenAhead { channels, at_once, for_one } = wanted;
        let left = (0..origins).flat_map(|origin| repeat_n(origin, channels as usize)).collect();
        Openings { are_now: true, at_once, for_one, left, ..Openings::default() }
    }

    /// Returns true until the load begins, if channels are opened before it.
    pub(super) fn are_now(&self) -> bool {
        self.are_now
    }

    /// Records that the load begins.
    pub(super) fn end(&mut self) {
        self.are_now = false;
    }

    /// Returns true if no channel is left or being opened.
    pub(super) fn are_done(&self) -> bool {
        self.left.is_empty() && self.underway == 0
    }

    /// Takes the origin of the next channel, unless enough are being opened.
    pub(super) fn begin_next(&mut self) -> Option<u32> {
        let next = if self.underway < self.at_once { self.left.pop_front() } else { None };
        self.underway += usize::from(next.is_some());
        next
    }

    /// Adds a channel whose opening began at `now`.
    pub(super) fn add(&mut self, now: Timestamp, channel: Token) {
        self.opening.push_back((now + self.for_one, channel));
    }

    /// Records that a channel is open.
    pub(super) fn note_open(&mut self) {
        self.underway -= 1;
        self.opened += 1;
    }

    /// Records that a channel could not be opened.
    pub(super) fn fail(&mut self, cause: Cause) {
        self.underway -= 1;
        *self.failed.entry(cause).or_default() += 1;
    }

    /// Returns true if a channel had its time and is not open. `is_opening` says whether a channel is being opened.
    pub(super) fn are_overdue(&mut self, now: Timestamp, mut is_opening: impl FnMut(Token) -> bool) -> bool {
        while let Some((end, channel)) = self.opening.front().copied() {
            if is_opening(channel) {
                return end <= now;
            }
            self.opening.pop_front();
        }
        false
    }

    /// Leaves what is not open to the messages. Returns the channels whose opening began; some may be open.
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = Token> + use<> {
        self.late += (self.left.len() + self.underway) as u64;
        self.left.clear();
        self.underway = 0;
        std::mem::take(&mut self.opening).into_iter().map(|(_, channel)| channel)
    }

    /// Adds what was opened and what was not to the books of messages.
    pub(super) fn add_to(&mut self, books: MessageBooks) -> MessageBooks {
        MessageBooks {
            channels_opened_before: self.opened,
            channels_failed_before: std::mem::take(&mut self.failed),
            channels_late: self.late,
            ..books
        }
    }
}
