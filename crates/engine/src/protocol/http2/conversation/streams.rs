//! The streams of one connection, by number.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use truetail_model::record::Cause;
use truetail_model::time::Timestamp;
use truetail_run::GrpcKind;

use crate::protocol::http2::call::CallAnswer;
use crate::protocol::http2::frame::code;
use crate::protocol::{Event, Events, Tag};
use crate::target::request_set::RequestId;

/// Limit on the cancelled requests that are remembered one by one. Beyond it, all late frames are ignored.
const MAX_CANCELLED: usize = 16 * 1024;

#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) tag: Tag,
    pub(super) request: RequestId,
    /// Position of the request's first byte in the connection's output.
    pub(super) begins_at: u64,
    /// Bytes of the body that the peer accepts now; may be negative.
    pub(super) send_window: i64,
    /// Bytes of the body that are not in the output yet.
    pub(super) body_left: usize,
    /// Bytes of the body whose messages are not due yet.
    pub(super) held_back: usize,
    /// Beginning of a request whose messages are due one after another.
    pub(super) paced_from: Option<Timestamp>,
    /// Bytes of the answer that the peer may still send.
    pub(super) receive_window: i64,
    /// Bytes of the frames of the answer.
    pub(super) received: u64,
    pub(super) answer: AnswerState,
}

impl Stream {
    /// Uses the window for as many of `wanted` bytes as the peer accepts now. Returns their number.
    #[inline]
    pub(super) fn use_window(&mut self, wanted: usize) -> usize {
        let length = wanted.min(self.send_window.max(0) as usize);
        self.send_window -= length as i64;
        length
    }
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct AnswerState {
    pub(super) to_head_request: bool,
    /// Status of the final answer, once its head has arrived.
    pub(super) status: Option<u16>,
    pub(super) interim: u8,
    pub(super) length: Option<u64>,
    /// Bytes of the body that have arrived.
    pub(super) data: u64,
    pub(super) call: CallAnswer,
}

impl AnswerState {
    /// Returns the status to record for an answer that has ended. `call` is the kind of the call, if it is one.
    ///
    /// # Errors
    /// The cause why the answer is malformed, and the error code for the server.
    pub(super) fn settle(&self, call: Option<GrpcKind>) -> Result<u16, (Cause, u32)> {
        let status = self.status.ok_or((Cause::BadHead, code::PROTOCOL_ERROR))?;
        let has_no_body = self.to_head_request || status == 204 || status == 304;
        if self.length.is_some_and(|length| length != self.data && !has_no_body) {
            return Err((Cause::BadLength, code::PROTOCOL_ERROR));
        }
        self.call.settle(call, status).map_err(|cause| (cause, code::CANCEL))
    }
}

/// Hasher for stream numbers, which count up by two: a multiplication spreads them well enough.
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

/// Position of the end of a request in the output.
#[derive(Clone, Copy, Debug)]
struct RequestEnd {
    at: u64,
    id: u32,
}

/// Open streams, and streams that we cancelled while the peer may still send on them.
#[derive(Default, Debug)]
pub(super) struct Streams {
    open: ById<Stream>,
    cancelled: HashSet<u32, BuildHasherDefault<StreamIdHasher>>,
    ignores_all_late: bool,
    /// Streams whose body waits for a window or for room.
    pub(super) waiting: Vec<u32>,
    /// Calls with messages that are not due yet, by the due time of the next one. Calls that have ended are removed
    /// when most of them have.
    paced: BinaryHeap<Reverse<(Timestamp, u32)>>,
    /// Streams without any byte taken by the transport, in order.
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

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.open.values_mut()
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Stream> {
        self.open.remove(&id)
    }

    /// Records the position after the last byte of a request with a body, unless its messages are due one by one:
    /// then its own schedule kept the last byte back.
    pub(super) fn ends_at(&mut self, id: u32, at: u64) {
        if self.open.get(&id).is_none_or(|stream| stream.paced_from.is_none()) {
            self.ends.push_back(RequestEnd { at, id });
        }
    }

    /// Notes when the next message of a call is due.
    pub(super) fn pace(&mut self, due: Timestamp, id: u32) {
        if self.paced.len() > 2 * self.open.len() + 64 {
            self.paced.retain(|paced| self.open.contains_key(&paced.0.1));
        }
        self.paced.push(Reverse((due, id)));
    }

    /// Returns when the next message of a call is due; [`Timestamp::NEVER`] without one.
    #[inline]
    pub(super) fn next_due(&self) -> Timestamp {
        self.paced.peek().map_or(Timestamp::NEVER, |paced| paced.0.0)
    }

    /// Takes the call whose next message is due first, if it is due at `now`, and the due time.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<(Timestamp, u32)> {
        if self.next_due() > now {
            return None;
        }
        self.paced.pop().map(|paced| paced.0)
    }

    /// Forgets ends after `at`, because those bytes were taken back.
    pub(super) fn forget_ends_after(&mut self, at: u64) {
        self.ends.retain(|end| end.at <= at);
    }

    /// Reports requests that started or were sent, after the transport has taken all bytes before `taken`.
    pub(super) fn sent_up_to(&mut self, taken: u64, events: &mut Events) {
        let mut started = u32::MAX;
        while let Some(id) = self.unsent.front().copied() {
            // A request that has ended needs no event.
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
            // Without an event if one call took the first and the last byte, because nothing had to wait.
            if let Some(stream) = self.open.get(&end.id).filter(|_| end.id < started) {
                events.push(Event::Sent(stream.tag));
            }
        }
    }

    /// Removes a stream that we close. Later frames on it are ignored.
    pub(super) fn cancel(&mut self, id: u32) -> Option<Stream> {
        let stream = self.open.remove(&id)?;
        if self.cancelled.len() < MAX_CANCELLED {
            self.cancelled.insert(id);
        } else {
            self.ignores_all_late = true;
        }
        Some(stream)
    }

    /// Returns true if a frame may still arrive on this closed stream. `last`: no frame follows it.
    pub(super) fn may_be_late(&mut self, id: u32, last: bool) -> bool {
        let known = if last { self.cancelled.remove(&id) } else { self.cancelled.contains(&id) };
        known || self.ignores_all_late
    }

    pub(super) fn above(&self, last: u32) -> Vec<u32> {
        self.open.keys().copied().filter(|id| *id > last).collect()
    }

    /// Returns the position of the first stream above `last` that has no byte among the `taken` bytes.
    pub(super) fn first_unsent(&self, last: u32, taken: u64) -> Option<u64> {
        let unsent = self.open.iter().filter(|(id, stream)| **id > last && stream.begins_at >= taken);
        unsent.map(|(_, stream)| stream.begins_at).min()
    }

    pub(super) fn take_all(&mut self) -> Vec<(u32, Stream)> {
        self.waiting.clear();
        self.unsent.clear();
        self.ends.clear();
        self.paced.clear();
        self.open.drain().collect()
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.cancelled.len()
    }
}
