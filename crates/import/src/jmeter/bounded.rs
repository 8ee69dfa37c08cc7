//! Input below a parser that counts lines and bytes, and stops endless tokens.

use std::cell::Cell;
use std::io::{self, BufRead, Read};

use truetail_run::FilePlace;

use crate::whole::file::line_ends;

/// Limit on a token, in bytes. JMeter may save whole answers.
const MAX_TOKEN_BYTES: u64 = 64 << 20;

/// Position of a parser in its input.
#[derive(Default)]
pub(super) struct Progress {
    byte: Cell<u64>,
    line_ends: Cell<u64>,
    token: Cell<u64>,
}

impl Progress {
    /// Returns the current place, and starts the next token there.
    pub(super) fn next_token(&self) -> FilePlace {
        self.token.set(self.byte.get());
        FilePlace { byte: self.byte.get(), line: 1 + self.line_ends.get() }
    }
}

/// Input that counts the bytes that are read, and fails if a token is too long.
pub(super) struct Bounded<'a> {
    input: &'a mut dyn BufRead,
    progress: &'a Progress,
    /// Limit on a token, in bytes.
    most: u64,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(input: &'a mut dyn BufRead, progress: &'a Progress) -> Bounded<'a> {
        Bounded { input, progress, most: MAX_TOKEN_BYTES }
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Bounded<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.progress.byte.get() - self.progress.token.get() > self.most {
            return Err(io::Error::other(format!("a token of more than {} MiB", self.most >> 20)));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // `fill_buf` has already returned the consumed bytes, so this does not read.
        let ends = self.input.fill_buf().map_or(0, |buffer| line_ends(&buffer[..amount.min(buffer.len())]));
        self.progress.line_ends.set(self.progress.line_ends.get() + ends);
        self.progress.byte.set(self.progress.byte.get() + amount as u64);
        self.input.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_without_an_end_is_ended() {
        let progress = Progress::default();
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        let mut bounded = Bounded { input: &mut endless, progress: &progress, most: 1_000_000 };
        let error = io::copy(&mut bounded, &mut io::sink()).expect_err("too long").to_string();
        assert_eq!(error, "a token of more than 0 MiB");
        assert!(progress.byte.get() < 2_000_000);
    }

    #[test]
    fn it_counts_lines_and_bytes() {
        let progress = Progress::default();
        let mut input: &[u8] = b"a\nbc\nd";
        let mut bounded = Bounded::new(&mut input, &progress);
        io::copy(&mut (&mut bounded).take(4), &mut io::sink()).expect("no error");
        assert_eq!(progress.next_token(), FilePlace { byte: 4, line: 2 });
    }
}
