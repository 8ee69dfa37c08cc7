//! One connection of HTTP/2: its streams, windows and limits. Sans-I/O.
//!
//! Whatever the other side does is an outcome of the requests that it concerns, and memory stays bounded: a frame is at
//! most 16 KiB, a block of fields 64 KiB, the table of fields 4 KiB; bodies are counted and forgotten; of requests that
//! were given up a bounded number is remembered; and who does not take our replies to its own frames is left.

mod incoming;
mod outgoing;
mod streams;

use truetail_model::record::{Cause, Outcome};

use super::blocks::Form;
use super::frame::{self, kind, setting};
use super::hpack::Decoder;
use incoming::Assembling;
use streams::Streams;

/// How much of a body the other side may send before it hears from us: as much as it likes, nearly. Bodies are not kept.
const OUR_WINDOW: i64 = 1 << 30;
/// The window of a connection that nobody has changed, and of its streams.
const USUAL_WINDOW: i64 = 65_535;
/// No window is larger.
const LARGEST_WINDOW: i64 = (1 << 31) - 1;
/// No stream has a higher number.
const LAST_STREAM: u32 = (1 << 31) - 1;
/// Bytes of replies (to pings, settings and broken streams) that wait to be taken.
const MOST_REPLIES: usize = 256 * 1024;
/// With so many bytes waiting to be taken nothing new is opened: the other side does not read.
const MOST_UNSENT: usize = 1024 * 1024;
/// Largest head that we ask for; what is larger is counted as such.
const OUR_HEAD_LIMIT: u32 = 64 * 1024;

/// A request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    /// As it was given to [`Session::open`].
    pub(crate) tag: u32,
    /// How.
    pub(crate) outcome: Outcome,
    /// Bytes of the frames of its answer.
    pub(crate) received: u64,
}

/// The connection is of no use any more: every request on it has ended, or is to be ended by [`Session::give_up`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Broken {
    /// Why.
    pub(crate) cause: Cause,
    /// What the other side is told.
    code: u32,
    /// The stream that is to blame; 0: none.
    stream: u32,
}

/// What the other side allows.
#[derive(Clone, Copy, Debug)]
struct Peer {
    /// Its settings have come.
    known: bool,
    streams: u32,
    window: i64,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Session {
    /// What is to be handed to the transport, behind what it took already.
    out: Vec<u8>,
    /// So many bytes of `out` it took.
    gone: usize,
    /// Bytes that were taken from `out` so far.
    taken: u64,
    /// Of what was put into `out` since it was last empty, replies to the other side.
    replies: usize,
    streams: Streams,
    next: u32,
    most_streams: u32,
    peer: Peer,
    send_window: i64,
    receive_window: i64,
    form: Form,
    /// The next block begins with word that the table is given up.
    give_up_table: bool,
    decoder: Decoder,
    /// The part of a frame that came without its end.
    partial: Vec<u8>,
    assembling: Option<Assembling>,
    /// The other side takes up nothing above this stream.
    last_taken: Option<u32>,
    /// How many requests may be in flight has changed.
    changed: bool,
}

impl Session {
    /// A connection on which nothing was said yet; there will be at most `most_streams` requests at once on it, or fewer
    /// if the other side says so.
    pub(crate) fn new(most_streams: u32) -> Session {
        let mut session = Session {
            out: Vec::with_capacity(4096),
            gone: 0,
            taken: 0,
            replies: 0,
            streams: Streams::default(),
            next: 1,
            most_streams,
            peer: Peer { known: false, streams: u32::MAX, window: USUAL_WINDOW },
            send_window: USUAL_WINDOW,
            receive_window: OUR_WINDOW,
            form: Form::Adding,
            give_up_table: false,
            decoder: Decoder::new(),
            partial: Vec::new(),
            assembling: None,
            last_taken: None,
            changed: false,
        };
        session.introduce();
        session
    }

    fn introduce(&mut self) {
        self.out.extend_from_slice(frame::PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, OUR_WINDOW as u32),
            (setting::MAX_HEADER_LIST_SIZE, OUR_HEAD_LIMIT),
        ];
        let payload: Vec<u8> = settings
            .iter()
            .flat_map(|(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        frame::put(&mut self.out, kind::SETTINGS, 0, 0, &payload);
        frame::put_number(&mut self.out, kind::WINDOW_UPDATE, 0, (OUR_WINDOW - USUAL_WINDOW) as u32);
    }

    /// How many requests may be in flight at once, as far as is known: one until the other side has said how many, and
    /// those that are, once it takes up no more or does not read what it was sent.
    pub(crate) fn capacity(&self) -> u64 {
        if self.is_full() {
            return self.in_flight() as u64;
        }
        let allowed = if self.peer.known { self.peer.streams } else { 1 };
        u64::from(self.most_streams.min(allowed))
    }

    /// How many requests the other side allows at once, where it has set a limit.
    pub(crate) fn allowed(&self) -> Option<u32> {
        (self.peer.streams < u32::MAX).then_some(self.peer.streams)
    }

    /// Another request may be opened.
    pub(crate) fn has_room(&self) -> bool {
        !self.is_full() && (self.in_flight() as u64) < self.capacity()
    }

    /// Nothing new is taken up: the other side has said so, or the numbers for streams are used up.
    pub(crate) fn is_closing(&self) -> bool {
        self.last_taken.is_some() || self.next > LAST_STREAM
    }

    /// Nothing new is opened now: a request that ends leaves no room for another.
    fn is_full(&self) -> bool {
        self.is_closing() || self.is_backed_up()
    }

    /// The other side does not read: so much waits for it that nothing is put behind it.
    pub(crate) fn is_backed_up(&self) -> bool {
        self.to_send().len() >= MOST_UNSENT
    }

    /// The other side has said that it goes away.
    fn was_told_to_go(&self) -> bool {
        self.last_taken.is_some()
    }

    /// Requests that have not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.streams.len()
    }

    /// How many bytes of bodies the other side takes on the connection, beside those that wait to be taken.
    pub(crate) fn send_window(&self) -> i64 {
        self.send_window
    }

    /// Bytes that are kept: parts of frames and of blocks, and what waits to be taken.
    pub(crate) fn held(&self) -> usize {
        self.partial.capacity() + self.out.capacity() + self.assembling.as_ref().map_or(0, Assembling::size)
    }

    /// What [`Session::take_changed`] will say.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed
    }

    /// Whether [`Session::capacity`] may have changed since the last call.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Ends every request, for `cause`: what had not begun to be answered was reset.
    pub(crate) fn give_up(&mut self, broken: Broken, events: &mut Vec<Ended>) {
        for (id, stream) in self.streams.take_all() {
            let began = stream.received > 0 || id == broken.stream;
            let outcome = match broken.cause {
                Cause::ClosedBeforeAnswer | Cause::ResetByPeer if began => Outcome::Malformed(Cause::Truncated),
                Cause::ClosedBeforeAnswer | Cause::ResetByPeer if self.was_told_to_go() => {
                    Outcome::Reset(Cause::GoneAway)
                }
                cause if began => Outcome::Malformed(cause),
                cause => Outcome::Reset(cause),
            };
            events.push(Ended { tag: stream.tag, outcome, received: stream.received });
        }
    }
}

impl Broken {
    /// The connection came to its end, for `cause`.
    pub(crate) fn by_the_end(cause: Cause) -> Broken {
        Broken::new(cause, frame::code::NO_ERROR)
    }

    fn new(cause: Cause, code: u32) -> Broken {
        Broken { cause, code, stream: 0 }
    }

    fn by(self, stream: u32) -> Broken {
        Broken { stream, ..self }
    }
}

#[cfg(test)]
mod tests;
