//! The streams of one connection, by their numbers.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::protocol::{Event, Events, Tag};
use crate::target::request_set::RequestId;

/// How many cancelled requests are remembered one by one; after that many everything that comes late is ignored.
const MAX_CANCELLED: usize = 16 * 1024;

/// One request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) tag: Tag,
    pub(super) request: RequestId,
    /// Where among all bytes of the connection it begins.
    pub(super) begins_at: u64,
    /// How much of the body the peer takes now; may be negative.
    pub(super) send_window: i64,
    /// How much of the body is not yet among the bytes to be sent.
    pub(super) body_left: usize,
    /// How much of an answer the peer may send.
    pub(super) receive_window: i64,
    /// Bytes of the frames of the answer.
    pub(super) received: u64,
    pub(super) answer: AnswerState,
}

/// How far the answer of a stream has come.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct AnswerState {
    pub(super) to_head_request: bool,
    /// Status of the final answer, once its head has come.
    pub(super) status: Option<u16>,
    pub(super) interim: u8,
    /// Stated length of the body.
    pub(super) length: Option<u64>,
    /// How much of the body has come.
    pub(super) data: u64,
}

/// Numbers of streams count up by two: a multiplication spreads them well enough.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct StreamIdHasher(u64);

impl Hasher for StreamIdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

type ById<T> = HashMap<u32, T, BuildHasherDefault<StreamIdHasher>>;

/// The end of a request that lies ahead in the bytes to be sent.
#[derive(Clone, Copy, Debug)]
struct RequestEnd {
    at: u64,
    id: u32,
}

/// The streams that are open, and those that we cancelled while the peer may still be sending on them.
#[derive(Default, Debug)]
pub(super) struct Streams {
    open: ById<Stream>,
    cancelled: HashSet<u32, BuildHasherDefault<StreamIdHasher>>,
    ignores_all_late: bool,
    /// Streams whose body waits for a window or for room.
    pub(super) waiting: Vec<u32>,
    /// Streams of which the transport has taken nothing, in their order.
    unsent: VecDeque<u32>,
    /// Requests with a body whose end the transport has not taken.
    ends: VecDeque<RequestEnd>,
}

impl Streams {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn insert(&mut self, id: u32, stream: Stream) {
        self.open.insert(id, stream);
        self.unsent.push_back(id);
    }

    pub(super) fn get(&mut self, id: u32) -> Option<&mut Stream> {
        self.open.get_mut(&id)
    }

    /// Every stream that is open.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.open.values_mut()
    }

    /// A stream ended by itself.
    pub(super) fn remove(&mut self, id: u32) -> Option<Stream> {
        self.open.remove(&id)
    }

    /// The last byte of a request with a body will be at `at`.
    pub(super) fn ends_at(&mut self, id: u32, at: u64) {
        self.ends.push_back(RequestEnd { at, id });
    }

    /// What lay behind `at` is taken back.
    pub(super) fn forget_ends_after(&mut self, at: u64) {
        self.ends.retain(|end| end.at <= at);
    }

    /// The transport has taken all bytes before `taken`.
    pub(super) fn sent_up_to(&mut self, taken: u64, events: &mut Events) {
        let mut started = u32::MAX;
        while let Some(id) = self.unsent.front().copied() {
            // One that has ended needs no event.
            if let Some(stream) = self.open.get(&id) {
                if stream.begins_at >= taken {
                    break;
                }
                events.push(Event::Started(stream.tag));
                started = started.min(id);
            }
            self.unsent.pop_front();
        }
        while let Some(end) = self.ends.front().copied().filter(|end| end.at <= taken) {
            self.ends.pop_front();
            // By one call from its first byte to its last: nothing was waited for.
            if let Some(stream) = self.open.get(&end.id).filter(|_| end.id < started) {
                events.push(Event::Sent(stream.tag));
            }
        }
    }

    /// A stream is closed by us; what still comes on it is ignored.
    pub(super) fn cancel(&mut self, id: u32) -> Option<Stream> {
        let stream = self.open.remove(&id)?;
        if self.cancelled.len() < MAX_CANCELLED {
            self.cancelled.insert(id);
        } else {
            self.ignores_all_late = true;
        }
        Some(stream)
    }

    /// What comes on this stream, which is not open, may still come; with `last` nothing comes after it.
    pub(super) fn may_be_late(&mut self, id: u32, last: bool) -> bool {
        let known = if last { self.cancelled.remove(&id) } else { self.cancelled.contains(&id) };
        known || self.ignores_all_late
    }

    /// The numbers of those above `last`.
    pub(super) fn above(&self, last: u32) -> Vec<u32> {
        self.open.keys().copied().filter(|id| *id > last).collect()
    }

    /// Where the first stream above `last` begins of which the transport, which has taken `taken` bytes, took nothing.
    pub(super) fn first_unsent(&self, last: u32, taken: u64) -> Option<u64> {
        let unsent = self.open.iter().filter(|(id, stream)| **id > last && stream.begins_at >= taken);
        unsent.map(|(_, stream)| stream.begins_at).min()
    }

    pub(super) fn take_all(&mut self) -> Vec<(u32, Stream)> {
        self.waiting.clear();
        self.unsent.clear();
        self.ends.clear();
        self.open.drain().collect()
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.cancelled.len()
    }
}
