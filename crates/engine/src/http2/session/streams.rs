//! The streams of one connection, by their numbers.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// How many requests that were given up are remembered one by one; after that many everything that comes late is let pass.
const MOST_FORGIVEN: usize = 16 * 1024;

/// One request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) tag: u32,
    /// How much of the body the other side takes now; may be negative.
    pub(super) send_window: i64,
    /// How much of an answer it may send.
    pub(super) receive_window: i64,
    /// Length of the body, and how much of it was sent.
    pub(super) body: usize,
    pub(super) sent: usize,
    pub(super) is_head_request: bool,
    /// Status of the final answer, once its head has come.
    pub(super) status: Option<u16>,
    pub(super) interim: u8,
    /// Stated length of the answer's body.
    pub(super) length: Option<u64>,
    /// How much of it has come.
    pub(super) data: u64,
    /// Bytes of the frames of the answer.
    pub(super) received: u64,
    /// Where among all bytes of the connection it begins.
    pub(super) at: u64,
}

/// Numbers of streams count up by two: a multiplication spreads them well enough.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct ByNumber(u64);

impl Hasher for ByNumber {
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

type ById<T> = HashMap<u32, T, BuildHasherDefault<ByNumber>>;

/// The streams that are open, and those that we closed while the other side may still be sending on them.
#[derive(Default, Debug)]
pub(super) struct Streams {
    open: ById<Stream>,
    forgiven: HashSet<u32, BuildHasherDefault<ByNumber>>,
    forgives_all: bool,
    /// Those whose body waits for a window or for room.
    pub(super) waiting: Vec<u32>,
}

impl Streams {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn insert(&mut self, id: u32, stream: Stream) {
        self.open.insert(id, stream);
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

    /// A stream is closed by us; what still comes on it is let pass.
    pub(super) fn forgive(&mut self, id: u32) -> Option<Stream> {
        let stream = self.open.remove(&id)?;
        if self.forgiven.len() < MOST_FORGIVEN {
            self.forgiven.insert(id);
        } else {
            self.forgives_all = true;
        }
        Some(stream)
    }

    /// What comes on this stream, which is not open, may still come; with `last` nothing comes after it.
    pub(super) fn is_forgiven(&mut self, id: u32, last: bool) -> bool {
        let known = if last { self.forgiven.remove(&id) } else { self.forgiven.contains(&id) };
        known || self.forgives_all
    }

    /// The numbers of those above `last`.
    pub(super) fn above(&self, last: u32) -> Vec<u32> {
        self.open.keys().copied().filter(|id| *id > last).collect()
    }

    /// That of the lowest number above `last` of which nothing was taken by the transport that had taken `taken`.
    pub(super) fn first_unsent(&self, last: u32, taken: u64) -> Option<&Stream> {
        let unsent = self.open.iter().filter(|(id, stream)| **id > last && stream.at >= taken);
        unsent.min_by_key(|(id, _)| **id).map(|(_, stream)| stream)
    }

    pub(super) fn take_all(&mut self) -> Vec<(u32, Stream)> {
        self.waiting.clear();
        self.open.drain().collect()
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.forgiven.len()
    }
}
