//! The messages of a gob stream. Each is a length and that many bytes.

use std::io::{self, BufRead, Read};

use truetail_run::FilePlace;

/// Bytes that are kept of a message. All used fields come before the body of the answer.
const KEPT: u64 = 256 << 10;
/// Limit on the length of a message. A longer one is damaged.
const LONGEST: u64 = 1 << 32;

/// Reads one message after the other.
pub(super) struct Messages<'a> {
    input: &'a mut dyn BufRead,
    byte: u64,
    message: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    Message,
    End,
    /// The stream ends within a message, or a length makes no sense, so the next message cannot be found.
    CutOff,
}

impl<'a> Messages<'a> {
    pub(super) fn new(input: &'a mut dyn BufRead) -> Messages<'a> {
        Messages { input, byte: 0, message: Vec::new() }
    }

    /// Returns the start of the next message. A binary file has no lines.
    pub(super) fn place(&self) -> FilePlace {
        FilePlace { byte: self.byte, line: 0 }
    }

    /// Returns the start of the last message.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.message
    }

    /// Reads the next message.
    pub(super) fn next(&mut self) -> io::Result<Next> {
        self.message.clear();
        let Some(first) = self.take_byte()? else { return Ok(Next::End) };
        let mut length = u64::from(first);
        if first >= 128 {
            // The first byte is the negated number of bytes of the length.
            let count = 256 - u16::from(first);
            length = 0;
            for _ in 0..count {
                let Some(byte) = self.take_byte()? else { return Ok(Next::CutOff) };
                length = length << 8 | u64::from(byte);
            }
            if count > 8 {
                return Ok(Next::CutOff);
            }
        }
        if length > LONGEST {
            return Ok(Next::CutOff);
        }
        let kept = self.input.take(length.min(KEPT)).read_to_end(&mut self.message)? as u64;
        let skipped = io::copy(&mut self.input.take(length - length.min(KEPT)), &mut io::sink())?;
        self.byte += kept + skipped;
        Ok(if kept + skipped == length { Next::Message } else { Next::CutOff })
    }

    fn take_byte(&mut self) -> io::Result<Option<u8>> {
        let byte = self.input.fill_buf()?.first().copied();
        if byte.is_some() {
            self.input.consume(1);
            self.byte += 1;
        }
        Ok(byte)
    }
}
