//! A limit on the bytes of a file between two spans.

use std::cell::Cell;
use std::io::{self, Read};

use crate::span::{Span, SpanSink};

/// Limit on the bytes between two spans of OTLP, or two traces of Jaeger: they are in memory at once.
pub(crate) const LONGEST: u64 = 64 << 20;

/// Reader that fails where a piece is too long.
pub(crate) struct InPieces<'c, R> {
    input: R,
    /// Bytes left to this piece.
    left: &'c Cell<u64>,
}

impl<R> InPieces<'_, R> {
    pub(crate) fn new(input: R, left: &Cell<u64>) -> InPieces<'_, R> {
        InPieces { input, left }
    }
}

impl<R: Read> Read for InPieces<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        match self.left.get().checked_sub(read as u64) {
            Some(left) => self.left.set(left),
            None => return Err(io::Error::other("64 MiB without the end of a span, or of a trace of Jaeger")),
        }
        Ok(read)
    }
}

/// Sink that lets the next piece begin after each span.
pub(crate) struct NextPiece<'c, S> {
    pub sink: &'c mut S,
    pub left: &'c Cell<u64>,
}

impl<S: SpanSink> SpanSink for NextPiece<'_, S> {
    fn span(&mut self, span: &Span<'_>) {
        self.left.set(LONGEST);
        self.sink.span(span);
    }

    fn left_out(&mut self) {
        self.sink.left_out();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl SpanSink for Nothing {
        fn span(&mut self, _: &Span<'_>) {}

        fn left_out(&mut self) {}
    }

    #[test]
    fn each_piece_has_the_limit() {
        let left = Cell::new(5);
        let mut buffer = [0; 4];
        let mut input = InPieces::new(&[7; 100][..], &left);
        assert_eq!((input.read(&mut buffer).unwrap(), left.get()), (4, 1));
        assert!(input.read(&mut buffer).unwrap_err().to_string().contains("64 MiB"));
        let mut sink = NextPiece { sink: &mut Nothing, left: &left };
        sink.left_out();
        assert_eq!(left.get(), 1);
        let span = Span {
            trace_id: None,
            id: None,
            parent: None,
            start_ns: 0,
            duration_ns: None,
            service: "".into(),
            name: "".into(),
            is_remote: false,
        };
        sink.span(&span);
        assert_eq!((left.get(), input.read(&mut buffer).unwrap()), (LONGEST, 4));
    }
}
