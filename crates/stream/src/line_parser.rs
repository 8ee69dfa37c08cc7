//! Parser of lines as events, without I/O.

use memchr::memchr;

use crate::event_parser::{DATA_ROOM_KEPT, MAX_DATA_BYTES, ServerSentEvent};

/// Reads lines piece by piece. Each line that is not blank is an event. The events do not depend on how the lines are
/// cut into pieces. At most [`MAX_DATA_BYTES`] of a line are kept.
#[derive(Default, Debug)]
pub(crate) struct LineParser {
    data: Vec<u8>,
    /// Bytes of the line until now.
    data_bytes: u64,
}

impl LineParser {
    pub(crate) fn restart(&mut self) {
        self.data.clear();
        self.data_bytes = 0;
    }

    pub(crate) fn give_back_room(&mut self) {
        self.restart();
        self.data.shrink_to(DATA_ROOM_KEPT);
    }

    /// Returns true if the stream is inside a line that is not blank.
    pub(crate) fn is_inside_event(&self) -> bool {
        !self.unfinished_data().is_empty()
    }

    pub(crate) fn unfinished_data(&self) -> &[u8] {
        self.data.trim_ascii()
    }

    pub(crate) fn feed(&mut self, bytes: &[u8], on_event: &mut impl FnMut(ServerSentEvent<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            self.add(&rest[..end]);
            rest = &rest[end + 1..];
            let data = self.data.trim_ascii();
            let left_out = self.data_bytes - self.data.len() as u64;
            if !data.is_empty() {
                on_event(ServerSentEvent { data, data_bytes: data.len() as u64 + left_out, is_error: false });
            }
            self.restart();
        }
        self.add(rest);
    }

    fn add(&mut self, bytes: &[u8]) {
        self.data_bytes += bytes.len() as u64;
        let room = MAX_DATA_BYTES.saturating_sub(self.data.len());
        self.data.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, bool) {
        let mut parser = LineParser::default();
        let mut events = Vec::new();
        for piece in pieces {
            parser.feed(piece, &mut |event| {
                assert!(event.is_whole());
                events.push(event.data.to_vec());
            });
        }
        (events, parser.is_inside_event())
    }

    #[test]
    fn a_long_line_takes_bounded_memory() {
        let mut parser = LineParser::default();
        let mut seen = None;
        (0..64).for_each(|_| parser.feed(&[b'x'; 1 << 14], &mut |_| panic!("no event yet")));
        parser.feed(b"\n", &mut |event| seen = Some((event.data.len(), event.data_bytes)));
        assert_eq!(seen, Some((MAX_DATA_BYTES, 1 << 20)));
        assert!(parser.data.capacity() <= 4 * MAX_DATA_BYTES);
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_lines(text in "[a \r\n]{0,40}", length in 1usize..9) {
            let expected: Vec<_> = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::trim).collect();
            let expected: Vec<_> = expected.into_iter().filter(|line| !line.is_empty()).map(|line| line.as_bytes().to_vec()).collect();
            let is_inside = !text.rsplit('\n').next().unwrap_or_default().trim().is_empty();
            prop_assert_eq!(parsed(text.as_bytes().chunks(length)), (expected, is_inside));
        }
    }
}
