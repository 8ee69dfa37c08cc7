use std::io::{self, BufRead};

use truetail_run::FilePlace;

/// Limit on the length of a row. A longer one is damaged.
pub(crate) const MAX_ROW: usize = 1 << 20;
/// Limit on the lines of a row. Quoted messages may hold line breaks, but a row with more lines has lost a quote.
const MAX_LINES: usize = 512;
const BLOCK: usize = 256 << 10;

/// Reads lines and rows into one buffer: [`peek`](Lines::peek) returns a row, [`take`](Lines::take) moves past it.
pub(crate) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    buffer: Vec<u8>,
    /// Start of the bytes that were read and not yet taken.
    start: usize,
    end: usize,
    at_end: bool,
    place: FilePlace,
}

/// A row that was peeked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    /// Bytes without the line break.
    len: usize,
    /// Bytes with the line break.
    with_break: usize,
    /// Number of lines.
    pub lines: u64,
    /// The row is longer than [`MAX_ROW`]. Without a line break, only its start is in the buffer.
    pub too_long: bool,
    /// A line break follows.
    pub whole: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Lines<'a> {
        let place = FilePlace { byte: 0, line: 1 };
        Lines { input, buffer: vec![0; BLOCK], start: 0, end: 0, at_end: false, place }
    }

    /// Returns the start of the next row.
    pub(crate) fn place(&self) -> FilePlace {
        self.place
    }

    /// Skips a UTF-8 byte order mark at the start of a file.
    pub(crate) fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        while self.end - self.start < 3 && !self.at_end {
            self.fill()?;
        }
        if self.rest().starts_with(b"\xef\xbb\xbf") {
            self.start += 3;
            self.place.byte += 3;
        }
        Ok(())
    }

    /// Skips empty lines.
    pub(crate) fn skip_blank_lines(&mut self) -> io::Result<()> {
        while let Some(span) = self.peek_line()? {
            if span.too_long || !self.bytes(span).trim_ascii().is_empty() {
                break;
            }
            self.take(span)?;
        }
        Ok(())
    }

    /// Returns the next line, or `None` at the end of the file.
    pub(crate) fn peek_line(&mut self) -> io::Result<Option<Span>> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.rest()[searched..]) {
                return Ok(Some(self.span(searched + at, 1)));
            }
            searched = self.end - self.start;
            if let Some(span) = self.unbroken(searched) {
                return Ok(span);
            }
            self.fill()?;
        }
    }

    /// Returns the next row of a table, whose quoted fields may hold line breaks, or `None` at the end of the file. A
    /// row whose quote never closes ends at its first line break.
    pub(crate) fn peek(&mut self) -> io::Result<Option<Span>> {
        let mut searched = 0;
        let mut lines = 1;
        let mut quoted = false;
        loop {
            let rest = &self.buffer[self.start..self.end];
            while let Some(at) = memchr::memchr2(b'\n', b'"', &rest[searched..]) {
                let found = searched + at;
                searched = found + 1;
                match (rest[found], quoted) {
                    (b'"', _) => quoted = !quoted,
                    (_, false) => return Ok(Some(self.span(found, lines))),
                    (_, true) => lines += 1,
                }
            }
            searched = rest.len();
            if quoted && (lines as usize > MAX_LINES || searched > MAX_ROW || self.at_end) {
                return self.peek_line();
            }
            if let Some(span) = self.unbroken(searched) {
                return Ok(span);
            }
            self.fill()?;
        }
    }

    /// Returns the bytes of a peeked row.
    pub(crate) fn bytes(&self, span: Span) -> &[u8] {
        &self.rest()[..span.len]
    }

    /// Moves past a peeked row.
    pub(crate) fn take(&mut self, span: Span) -> io::Result<()> {
        self.forward(span.with_break);
        if span.too_long && !span.whole {
            self.skip_to_break()?;
        }
        self.place.line += span.lines;
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn forward(&mut self, bytes: usize) {
        self.start += bytes;
        self.place.byte += bytes as u64;
    }

    fn span(&self, len: usize, lines: u64) -> Span {
        let returns = usize::from(len > 0 && self.buffer[self.start + len - 1] == b'\r');
        Span { len: len - returns, with_break: len + 1, lines, too_long: len > MAX_ROW, whole: true }
    }

    /// Returns the result for a buffer without a line break. `None`: more bytes must be read. `Some(None)`: the file
    /// has ended. `Some(Some(_))`: the last row of the file, or a row that is too long.
    fn unbroken(&self, len: usize) -> Option<Option<Span>> {
        let span = Span { len, with_break: len, lines: 1, too_long: len > MAX_ROW, whole: false };
        match (self.at_end, len) {
            (true, 0) => Some(None),
            (true, _) => Some(Some(span)),
            (false, _) => span.too_long.then_some(Some(span)),
        }
    }

    fn skip_to_break(&mut self) -> io::Result<()> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', self.rest()) {
                self.forward(at + 1);
                return Ok(());
            }
            self.forward(self.end - self.start);
            if self.at_end {
                return Ok(());
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() - self.end < BLOCK / 2 {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    /// Returns every row with its place.
    fn rows(text: &[u8], capacity: usize) -> Vec<(Vec<u8>, u64, u64, bool)> {
        let mut input = BufReader::with_capacity(capacity, text);
        let mut lines = Lines::new(&mut input);
        let mut rows = Vec::new();
        while let Some(span) = lines.peek().expect("memory") {
            let FilePlace { byte, line } = lines.place();
            rows.push((lines.bytes(span).to_vec(), byte, line, span.whole));
            lines.take(span).expect("memory");
        }
        rows
    }

    #[test]
    fn rows_have_places_and_breaks_within_quotes_belong_to_them() {
        let read = rows(b"a,b\r\n\n1,\"x\ny\",3\nlast", 2);
        let expected: Vec<(&[u8], u64, u64, bool)> =
            vec![(b"a,b", 0, 1, true), (b"", 5, 2, true), (b"1,\"x\ny\",3", 6, 3, true), (b"last", 16, 5, false)];
        assert_eq!(read.iter().map(|row| (&row.0[..], row.1, row.2, row.3)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_quote_that_never_closes_costs_its_line_only() {
        let read = rows(b"a,\"b\n1,2\n3,4\n", 64);
        assert_eq!(read.iter().map(|row| &row.0[..]).collect::<Vec<_>>(), [&b"a,\"b"[..], b"1,2", b"3,4"]);
    }

    #[test]
    fn a_row_without_end_is_not_kept() {
        let mut text = vec![b'x'; 3 * MAX_ROW];
        text.extend(b"\nnext\n");
        let read = rows(&text, 4096);
        assert_eq!(read.len(), 2);
        assert!(read[0].0.len() <= 2 * MAX_ROW && !read[0].3, "{}", read[0].0.len());
        assert_eq!((&read[1].0[..], read[1].1, read[1].2), (&b"next"[..], text.len() as u64 - 5, 2));
    }

    proptest! {
        #[test]
        fn every_byte_is_in_one_row(text in "[ab\"\n\r,]{0,200}", capacity in 1usize..40) {
            let read = rows(text.as_bytes(), capacity);
            let mut next = 0;
            for (bytes, byte, line, _) in &read {
                prop_assert_eq!(*byte, next);
                let breaks = text.as_bytes()[..*byte as usize].iter().filter(|byte| **byte == b'\n').count();
                prop_assert_eq!(*line, 1 + breaks as u64);
                let behind = &text.as_bytes()[*byte as usize + bytes.len()..];
                next = byte + bytes.len() as u64 + behind.iter().take_while(|byte| **byte == b'\r').count().min(1) as u64;
                next += u64::from(text.as_bytes().get(next as usize) == Some(&b'\n'));
                if behind.first() == Some(&b'\r') && behind.get(1) != Some(&b'\n') {
                    next = byte + bytes.len() as u64;
                }
            }
            prop_assert_eq!(next, text.len() as u64);
        }
    }
}
