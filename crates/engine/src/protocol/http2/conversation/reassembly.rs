//! Frames and field blocks that arrive in parts.

use super::error::{ConnectionError, FRAME_SIZE};
use crate::protocol::http2::frame::{FrameHeader, HEAD, LONGEST};
use crate::protocol::http2::hpack::Decoder;

#[derive(Debug)]
pub(super) struct PartialBlock {
    pub(super) stream: u32,
    pub(super) ends: bool,
    pub(super) frames: u32,
    pub(super) bytes: Vec<u8>,
}

/// Received bytes that are not handled yet, and the table of the field blocks.
#[derive(Debug)]
pub(super) struct Reassembly {
    pub(super) decoder: Decoder,
    pub(super) partial_frame: Vec<u8>,
    pub(super) partial_block: Option<PartialBlock>,
    /// Content of the only stream, if it carries a channel; `None` if messages are read here.
    pub(super) content: Option<Vec<u8>>,
}

impl Reassembly {
    pub(super) fn new(keeps_fields: bool) -> Reassembly {
        let decoder = if keeps_fields { Decoder::keeping_text() } else { Decoder::new() };
        Reassembly { decoder, partial_frame: Vec::new(), partial_block: None, content: None }
    }

    /// Returns the number of buffered bytes of frames and blocks.
    pub(super) fn held(&self) -> usize {
        self.partial_frame.capacity() + self.partial_block.as_ref().map_or(0, |block| block.bytes.capacity())
    }

    /// Splits `bytes` after the frame that they continue or begin, or after all of them.
    pub(super) fn split_frame<'a>(&self, bytes: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let known = self.partial_frame.len();
        let mut head = [0; HEAD];
        head.iter_mut().zip(self.partial_frame.iter().chain(bytes)).for_each(|(place, byte)| *place = *byte);
        match FrameHeader::read(&head[..(known + bytes.len()).min(HEAD)]) {
            Some(head) => bytes.split_at((HEAD + head.length).saturating_sub(known).min(bytes.len())),
            None => (bytes, &[]),
        }
    }

    /// Appends to the partial frame the bytes that belong to it. Once it is complete, returns the bytes after it.
    pub(super) fn complete<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, ConnectionError> {
        let partial = &mut self.partial_frame;
        let (head, rest) = bytes.split_at(HEAD.saturating_sub(partial.len()).min(bytes.len()));
        partial.extend_from_slice(head);
        let Some(head) = FrameHeader::read(partial) else { return Ok(None) };
        if head.length > LONGEST {
            return Err(FRAME_SIZE);
        }
        let missing = HEAD + head.length - partial.len();
        let (payload, after) = rest.split_at(missing.min(rest.len()));
        partial.extend_from_slice(payload);
        Ok((payload.len() == missing).then_some(after))
    }
}
