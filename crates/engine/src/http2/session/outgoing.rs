//! What a session says: requests, bodies, replies.

use super::super::blocks::{Block, Form};
use super::super::frame::{self, Head, LONGEST, code, flag, kind};
use super::streams::Stream;
use super::{Broken, MOST_REPLIES, OUR_WINDOW, Session};
use truetail_model::record::Cause;

/// Bodies are put behind what waits to be taken only up to so many bytes: the rest follows when these are gone.
const BODIES_AHEAD: usize = 128 * 1024;

impl Session {
    /// Opens a stream for a request, under a tag that comes back when it ends. The request is among the bytes to be taken
    /// from there on; its number is returned, and where among all bytes of the connection it begins.
    ///
    /// To be called only where [`Session::has_room`].
    pub(crate) fn open(&mut self, tag: u32, request: Block<'_>) -> (u32, u64) {
        let (id, at) = (self.next, self.taken + self.to_send().len() as u64);
        self.next += 2;
        let stream = Stream {
            tag,
            send_window: self.peer.window,
            receive_window: OUR_WINDOW,
            body: request.body.len(),
            sent: 0,
            is_head_request: request.is_head_request,
            status: None,
            interim: 0,
            length: None,
            data: 0,
            received: 0,
            at,
        };
        self.streams.insert(id, stream);
        self.put_fields(id, request);
        if !request.body.is_empty() && !self.put_body(id, request.body) {
            self.streams.waiting.push(id);
        }
        self.changed |= self.is_full();
        (id, at)
    }

    /// One frame, and where the block is longer than a frame may be, more that continue it.
    fn put_fields(&mut self, id: u32, request: Block<'_>) {
        let begin = self.out.len();
        let ends = if request.body.is_empty() { flag::END_STREAM } else { 0 };
        Head { length: 0, kind: kind::HEADERS, flags: ends | flag::END_HEADERS, stream: id }.put(&mut self.out);
        if std::mem::take(&mut self.give_up_table) {
            self.out.push(0x20);
        }
        request.put(self.form, &mut self.out);
        if self.form == Form::Adding {
            self.form = Form::Indexed;
        }
        let length = self.out.len() - begin - frame::HEAD;
        if length <= LONGEST {
            let [_, a, b, c] = (length as u32).to_be_bytes();
            return self.out[begin..begin + 3].copy_from_slice(&[a, b, c]);
        }
        self.split_fields(id, begin, ends);
    }

    #[cold]
    fn split_fields(&mut self, id: u32, begin: usize, ends: u8) {
        let block = self.out.split_off(begin + frame::HEAD);
        self.out.truncate(begin);
        let pieces = block.chunks(LONGEST).enumerate();
        let count = pieces.len();
        for (nth, piece) in pieces {
            let last = if nth + 1 == count { flag::END_HEADERS } else { 0 };
            let (kind, flags) = if nth == 0 { (kind::HEADERS, ends | last) } else { (kind::CONTINUATION, last) };
            frame::put(&mut self.out, kind, flags, id, piece);
        }
    }

    /// Puts as much of a body as may be sent now. Whether that was the rest of it, or nobody wants it any more.
    fn put_body(&mut self, id: u32, body: &[u8]) -> bool {
        loop {
            let Some(stream) = self.streams.get(id) else { return true };
            let ahead = BODIES_AHEAD.saturating_sub(self.out.len() - self.gone);
            let allowed = self.send_window.min(stream.send_window).clamp(0, LONGEST as i64) as usize;
            let length = (stream.body - stream.sent).min(allowed).min(ahead);
            if length == 0 {
                return stream.sent == stream.body;
            }
            let piece = &body[stream.sent..stream.sent + length];
            stream.sent += length;
            stream.send_window -= length as i64;
            self.send_window -= length as i64;
            let ends = if stream.sent == stream.body { flag::END_STREAM } else { 0 };
            frame::put(&mut self.out, kind::DATA, ends, id, piece);
        }
    }

    /// Goes on with bodies that had to wait; `body` gives that of a request by its tag.
    pub(crate) fn go_on_with_bodies<'a>(&mut self, body: impl Fn(u32) -> &'a [u8]) {
        if self.streams.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.streams.waiting);
        waiting.retain(|id| match self.streams.get(*id).map(|stream| stream.tag) {
            Some(tag) => !self.put_body(*id, body(tag)),
            None => false,
        });
        self.streams.waiting = waiting;
    }

    /// The other side is told that a request is given up; what it still says about it is let pass. Returns how many bytes
    /// of its answer had come.
    pub(crate) fn cancel(&mut self, id: u32) -> u64 {
        self.reset(id, code::CANCEL).map_or(0, |stream| stream.received)
    }

    pub(super) fn reset(&mut self, id: u32, code: u32) -> Option<Stream> {
        let stream = self.streams.forgive(id)?;
        self.changed |= self.is_full();
        frame::put_number(&mut self.out, kind::RST_STREAM, id, code);
        Some(stream)
    }

    /// What is to be handed to the transport.
    pub(crate) fn to_send(&self) -> &[u8] {
        &self.out[self.gone..]
    }

    /// The transport took the first `n` bytes of it. Returns how many it took of all.
    pub(crate) fn sent(&mut self, n: usize) -> u64 {
        let was_backed_up = self.is_backed_up();
        self.taken += n as u64;
        self.gone += n;
        if self.gone == self.out.len() {
            self.out.clear();
            (self.gone, self.replies) = (0, 0);
        } else if self.gone > self.out.len() / 2 {
            // Less is moved than was taken since it was last moved.
            self.out.drain(..self.gone);
            self.gone = 0;
        }
        self.changed |= was_backed_up && !self.is_backed_up();
        self.taken
    }

    /// Takes back the frames of streams above `last` of which nothing was taken, and the window of the connection that
    /// their bodies took. Since all that was put later is above `last` too, and nothing will be opened any more, what
    /// remains can be read without them.
    pub(super) fn take_back(&mut self, last: u32) {
        let Some(first) = self.streams.first_unsent(last, self.taken) else { return };
        let behind = self.out.split_off(self.gone + (first.at - self.taken) as usize);
        let mut rest = &behind[..];
        while let Some(head) = Head::read(rest) {
            let (frame, after) = rest.split_at(frame::HEAD + head.length);
            // A body that was begun is gone on with nowhere: its stream is reset by the other side.
            if head.stream <= last {
                self.out.extend_from_slice(frame);
            } else if head.kind == kind::DATA {
                self.send_window += head.length as i64;
            }
            rest = after;
        }
    }

    /// A reply of so many bytes was put.
    ///
    /// # Errors
    /// When too many wait: the other side asks and asks and does not listen.
    pub(super) fn replied(&mut self, bytes: usize) -> Result<(), Broken> {
        self.replies += bytes;
        if self.replies > MOST_REPLIES {
            return Err(Broken::new(Cause::Http2Protocol, code::ENHANCE_YOUR_CALM));
        }
        Ok(())
    }

    /// Says that the connection is closed, and why.
    pub(crate) fn say_goodbye(&mut self, broken: Option<Broken>) {
        let code = broken.map_or(code::NO_ERROR, |broken| broken.code);
        // We have taken up no stream of the other side's, and so the last one is 0.
        frame::put(&mut self.out, kind::GOAWAY, 0, 0, &[[0; 4], code.to_be_bytes()].concat());
    }
}
