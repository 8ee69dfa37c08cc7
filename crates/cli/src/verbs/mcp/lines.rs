//! Lines of the client on standard input, in bounded memory.

use std::io::{self, BufRead};
use std::sync::mpsc::Sender;

use truetail_mcp::MAX_LINE_BYTES;

use super::event::Event;

/// Sends each line that is not empty, and the end. Returns when nobody listens any more.
pub(super) fn read(to: &Sender<Event>) {
    let mut input = io::stdin().lock();
    while let Ok(Some(line)) = next(&mut input) {
        if !line.is_empty() && to.send(Event::Line(line)).is_err() {
            return;
        }
    }
    let _ = to.send(Event::End);
}

/// Returns the next line without its end, or its start if it is too long; `None` at the end of the input.
fn next(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut has_begun = false;
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(has_begun.then_some(line));
        }
        has_begun = true;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(piece.len());
        // One byte more than is allowed shows that the line is too long.
        let room = (MAX_LINE_BYTES + 1).saturating_sub(line.len());
        line.extend_from_slice(&piece[..taken.min(room)]);
        input.consume(end.map_or(taken, |end| end + 1));
        if end.is_some() {
            line.truncate(line.trim_ascii_end().len());
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whole_and_long_ones_are_cut() {
        let long = "x".repeat(3 * MAX_LINE_BYTES);
        let mut input = io::BufReader::with_capacity(1000, io::Cursor::new(format!("a\r\n\n{long}\nb")));
        assert_eq!(next(&mut input).unwrap(), Some(b"a".to_vec()));
        assert_eq!(next(&mut input).unwrap(), Some(Vec::new()));
        assert_eq!(next(&mut input).unwrap().map(|line| line.len()), Some(MAX_LINE_BYTES + 1));
        assert_eq!(next(&mut input).unwrap(), Some(b"b".to_vec()));
        assert_eq!(next(&mut input).unwrap(), None);
    }
}
