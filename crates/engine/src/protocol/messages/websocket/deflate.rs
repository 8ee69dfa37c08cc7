//! Compression of messages: permessage-deflate (RFC 7692).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use truetail_model::record::Cause;

/// The offer of a client. It does not offer `client_max_window_bits`, because not every deflate library has smaller
/// windows.
pub(in crate::protocol::messages) const DEFLATE_OFFER: &str = "permessage-deflate";
/// Last bytes of a compressed message, which are not sent (section 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// An empty message.
const EMPTY: [u8; 1] = [0];
/// Memory that a channel keeps for compressed messages.
const KEPT: usize = 64 << 10;
/// Blocks of one message that may say that they are the last one. Each costs the state a new beginning.
const MAX_LAST_BLOCKS: u32 = 1024;
/// Longest message after decompression: 16 MiB. Few bytes of a hostile server can become many, and all of them cost
/// time.
const MAX_INFLATED: u64 = 16 << 20;
/// Bytes that are decompressed at once.
const AT_ONCE: usize = 16 << 10;

/// Terms that a server has set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::protocol::messages) struct DeflateTerms {
    /// The server begins each message anew.
    server_forgets: bool,
    /// The client must begin each message anew.
    client_forgets: bool,
}

impl DeflateTerms {
    /// Reads an extension with its parameters (section 7.1); `None`: it is another one, or not valid as an answer to
    /// [`DEFLATE_OFFER`].
    pub(super) fn parse(text: &str) -> Option<DeflateTerms> {
        let mut parts = text.split(';').map(str::trim);
        if !parts.next()?.eq_ignore_ascii_case(DEFLATE_OFFER) {
            return None;
        }
        let mut seen = Vec::new();
        for part in parts {
            let (name, value) = part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
            let name = name.trim().to_ascii_lowercase();
            let is_good = match (name.as_str(), value) {
                ("server_no_context_takeover" | "client_no_context_takeover", None) => true,
                ("server_max_window_bits", Some(bits)) => {
                    matches!(bits.trim().trim_matches('"'), "8" | "9" | "10" | "11" | "12" | "13" | "14" | "15")
                }
                _ => false,
            };
            if !is_good || seen.contains(&name) {
                return None;
            }
            seen.push(name);
        }
        let has = |name: &str| seen.iter().any(|seen| seen == name);
        let server_forgets = has("server_no_context_takeover");
        Some(DeflateTerms { server_forgets, client_forgets: has("client_no_context_takeover") })
    }
}

/// The messages of a client, which it compresses.
#[derive(Debug)]
pub(in crate::protocol::messages) struct Deflater {
    state: Compress,
    forgets: bool,
    out: Vec<u8>,
}

impl Deflater {
    pub(in crate::protocol::messages) fn new(terms: DeflateTerms) -> Deflater {
        Deflater { state: Compress::new(Compression::fast(), false), forgets: terms.client_forgets, out: Vec::new() }
    }

    /// Returns the payload of a message, compressed.
    pub(super) fn compress(&mut self, message: &[u8]) -> &[u8] {
        if message.is_empty() {
            // An empty block (section 7.2.3.6). Not every library makes one right after another flush.
            return &EMPTY;
        }
        self.out.clear();
        self.out.shrink_to(KEPT);
        let begin = self.state.total_in();
        loop {
            // Room for what does not compress, in one piece if possible.
            self.out.reserve(message.len() + message.len() / 8 + 256);
            let taken = (self.state.total_in() - begin) as usize;
            let before = self.out.len();
            let compressed = self.state.compress_vec(&message[taken..], &mut self.out, FlushCompress::Sync);
            debug_assert!(compressed.is_ok(), "there is room, and the state is valid");
            let is_all = (self.state.total_in() - begin) as usize == message.len();
            let is_flushed = self.out.len() < self.out.capacity() && self.out.ends_with(&TAIL);
            let is_stuck = is_all && self.out.len() == before;
            if compressed.is_err() || is_all && is_flushed || is_stuck {
                break;
            }
        }
        if self.forgets {
            self.state.reset();
        }
        self.out.strip_suffix(&TAIL).unwrap_or(&self.out)
    }
}

/// The messages of a server, which it may compress.
#[derive(Debug)]
pub(super) struct Inflater {
    state: Decompress,
    forgets: bool,
    /// Bytes of the current message that have arrived, decompressed.
    length: u64,
    /// Blocks of it that said that they were the last one.
    last_blocks: u32,
    out: Vec<u8>,
}

impl Inflater {
    pub(super) fn new(terms: DeflateTerms) -> Inflater {
        Inflater {
            state: Decompress::new(false),
            forgets: terms.server_forgets,
            length: 0,
            last_blocks: 0,
            out: Vec::with_capacity(AT_ONCE),
        }
    }

    /// Takes a part of a compressed message, and tells `told` its content.
    ///
    /// # Errors
    /// [`Cause::BadMessage`] for bytes that are not valid, and [`Cause::MessageTooLarge`].
    pub(super) fn take(&mut self, part: &[u8], told: &mut impl FnMut(&[u8]) -> Result<(), Cause>) -> Result<(), Cause> {
        let mut rest = part;
        loop {
            self.out.clear();
            let before = self.state.total_in();
            let status = self.state.decompress_vec(rest, &mut self.out, FlushDecompress::Sync);
            let status = status.map_err(|_| Cause::BadMessage)?;
            let taken = (self.state.total_in() - before) as usize;
            rest = &rest[taken..];
            self.length += self.out.len() as u64;
            if self.length > MAX_INFLATED {
                return Err(Cause::MessageTooLarge);
            }
            if !self.out.is_empty() {
                told(&self.out)?;
            }
            let is_stuck = taken == 0 && self.out.is_empty();
            match status {
                // A block may say that it is the last one, and others may follow (section 7.2.3.4).
                Status::StreamEnd if self.last_blocks == MAX_LAST_BLOCKS => return Err(Cause::BadMessage),
                Status::StreamEnd => {
                    self.last_blocks += 1;
                    self.state.reset(false);
                }
                Status::Ok | Status::BufError if rest.is_empty() && self.out.len() < AT_ONCE => return Ok(()),
                Status::Ok | Status::BufError if is_stuck => return Err(Cause::BadMessage),
                Status::Ok | Status::BufError => {}
            }
        }
    }

    /// Ends a compressed message, and tells `told` the rest of its content.
    ///
    /// # Errors
    /// As [`Inflater::take`].
    pub(super) fn end(&mut self, told: &mut impl FnMut(&[u8]) -> Result<(), Cause>) -> Result<(), Cause> {
        self.take(&TAIL, told)?;
        self.length = 0;
        self.last_blocks = 0;
        if self.forgets {
            self.state.reset(false);
        }
        Ok(())
    }
}
