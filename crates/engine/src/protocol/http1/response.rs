//! Parser of one answer, from its first byte to its last.

use truetail_model::record::Cause;

use super::chunked::Chunked;
use super::framing::Framing;
use super::head::{HEAD_LIMIT, Head, has_blank_line, parse_head};
use super::head_cache::HeadCache;
use super::part::Part;

/// Largest buffer for a partial head that is kept from one answer to the next.
const PARTIAL_KEPT: usize = 4 * 1024;
/// Limit on the interim (1xx) answers before the final one.
const INTERIM_LIMIT: u8 = 32;

/// A complete answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerEnd {
    /// HTTP status, 200 to 999.
    pub status: u16,
    /// True if the connection may carry another request.
    pub keep_alive: bool,
}

/// Progress of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// All bytes were used; the answer continues.
    Incomplete,
    /// The answer is complete.
    Complete(AnswerEnd),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

/// Parses one answer at a time. Call [`ResponseParser::start`] before each.
///
/// The parser does not keep bodies. The limit on a head (64 KiB) bounds its memory, and whole heads need none.
#[derive(Debug)]
pub struct ResponseParser {
    state: State,
    is_head_request: bool,
    interim: u8,
    end: AnswerEnd,
    /// A head whose end has not arrived, or trailers.
    partial: Vec<u8>,
    received: u64,
    /// True if lines of the last head were skipped.
    has_odd_lines: bool,
}

impl ResponseParser {
    /// Creates a parser that is ready for an answer to a request other than HEAD.
    pub fn new() -> ResponseParser {
        ResponseParser {
            state: State::Head,
            is_head_request: false,
            interim: 0,
            end: AnswerEnd { status: 0, keep_alive: false },
            partial: Vec::new(),
            received: 0,
            has_odd_lines: false,
        }
    }

    /// Prepares for the next answer. An answer to a HEAD request has no body.
    pub fn start(&mut self, is_head_request: bool) {
        self.state = State::Head;
        self.is_head_request = is_head_request;
        self.interim = 0;
        self.partial.clear();
        // One long head is no reason to keep 64 KiB for each of 50,000 connections.
        if self.partial.capacity() > PARTIAL_KEPT {
            self.partial = Vec::new();
        }
        self.received = 0;
    }

    /// Returns the number of bytes received of this answer.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Returns the number of bytes buffered for partial heads and trailers: at most twice the limit on a head.
    pub fn held(&self) -> usize {
        self.partial.capacity()
    }

    /// Parses bytes of the connection, and passes the head and the parts of the body to `on_part`. `cache` holds the
    /// head that was parsed last, on any connection.
    ///
    /// # Errors
    /// The reason why the bytes are not an answer: see [`Cause`]. Bytes after the end of the answer are
    /// [`Cause::LeftoverBytes`], because no request asked for them. After an error the parser must be started again.
    #[inline]
    pub fn feed(
        &mut self,
        bytes: &[u8],
        cache: &mut HeadCache,
        on_part: &mut impl FnMut(Part<'_>),
    ) -> Result<Parsed, Cause> {
        self.received += bytes.len() as u64;
        let mut rest = bytes;
        loop {
            let (used, ended) = match &mut self.state {
                State::Head => match self.feed_head(rest, cache)? {
                    Some(used) => {
                        let bytes = if self.partial.is_empty() { &rest[..used] } else { &self.partial };
                        if self.has_odd_lines {
                            cache.count_odd_lines(bytes);
                        }
                        if self.state != State::Head {
                            on_part(Part::Head { status: self.end.status, bytes });
                        }
                        self.partial.clear();
                        (used, self.state == State::Length(0))
                    }
                    None => return Ok(Parsed::Incomplete),
                },
                State::Length(left) => {
                    let take = (*left).min(rest.len() as u64);
                    *left -= take;
                    on_part(Part::Body(&rest[..take as usize]));
                    (take as usize, *left == 0)
                }
                State::Chunked(chunked) => chunked.feed(rest, &mut self.partial, on_part)?,
                State::UntilClose => {
                    on_part(Part::Body(rest));
                    (rest.len(), false)
                }
            };
            rest = &rest[used..];
            match (ended, rest.is_empty()) {
                (true, true) => return Ok(Parsed::Complete(self.end)),
                (true, false) => return Err(Cause::LeftoverBytes),
                (false, true) => return Ok(Parsed::Incomplete),
                (false, false) => {}
            }
        }
    }

    /// Ends the answer, because the connection has ended.
    ///
    /// # Errors
    /// [`Cause::ClosedBeforeAnswer`] before the first byte, [`Cause::Truncated`] inside an answer.
    pub fn end(&mut self) -> Result<AnswerEnd, Cause> {
        match self.state {
            State::UntilClose => Ok(self.end),
            _ if self.received == 0 => Err(Cause::ClosedBeforeAnswer),
            // The partial head may show that it was never one.
            State::Head => Err(parse_head(&self.partial, self.is_head_request).err().unwrap_or(Cause::Truncated)),
            _ => Err(Cause::Truncated),
        }
    }

    /// Parses bytes of a head. Returns `Some(n)` if the head ended after n of them. The state then tells what follows.
    /// A head that arrived in parts is in `partial`. Returns `None` if the head has not ended and all bytes were kept.
    fn feed_head(&mut self, bytes: &[u8], cache: &mut HeadCache) -> Result<Option<usize>, Cause> {
        if self.partial.is_empty() {
            if let Some(head) = cache.parse(bytes, self.is_head_request)? {
                return self.take_head(head).map(Some);
            }
            self.partial.extend_from_slice(bytes);
            return Ok(None);
        }
        let before = self.partial.len();
        let room = (HEAD_LIMIT + 1 - before).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..room]);
        // Only a blank line can end a head. Parsing at each segment would take quadratic time.
        let may_end = has_blank_line(&self.partial[before.saturating_sub(3)..]) || self.partial.len() > HEAD_LIMIT;
        if may_end && let Some(head) = cache.parse(&self.partial, self.is_head_request)? {
            let used = head.length - before;
            self.partial.truncate(head.length);
            return self.take_head(Head { length: used, ..head }).map(Some);
        }
        Ok(None)
    }

    fn take_head(&mut self, head: Head) -> Result<usize, Cause> {
        self.has_odd_lines = head.has_odd_lines;
        match head.status {
            101 => return Err(Cause::UnexpectedUpgrade),
            100..=199 if self.interim == INTERIM_LIMIT => return Err(Cause::TooManyInterim),
            100..=199 => self.interim += 1,
            0..=99 => return Err(Cause::BadHead),
            status => {
                self.end = AnswerEnd { status, keep_alive: head.keep_alive };
                self.state = match head.framing {
                    Framing::Length(length) => State::Length(length),
                    Framing::Chunked => State::Chunked(Chunked::new()),
                    Framing::UntilClose => State::UntilClose,
                };
            }
        }
        Ok(head.length)
    }
}

impl Default for ResponseParser {
    fn default() -> ResponseParser {
        ResponseParser::new()
    }
}

#[cfg(test)]
mod tests;
