use std::io::{self, Read};

use truetail_run::ForeignRun;

/// Bytes of UTF-16 that are converted at a time.
const BLOCK: usize = 32 << 10;

/// Reads UTF-16 as UTF-8. Windows PowerShell redirects text in UTF-16. Invalid characters become U+FFFD.
pub(crate) struct Converted<R> {
    input: R,
    from_bytes: fn([u8; 2]) -> u16,
    /// Bytes that do not form a whole character yet.
    pending: Vec<u8>,
    text: String,
    taken: usize,
}

/// Returns the byte order according to a byte order mark, if there is one.
pub(crate) fn order(head: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    match head {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

impl<R: Read> Converted<R> {
    /// Creates a reader. [`order`] returns `from_bytes`.
    pub(crate) fn new(input: R, from_bytes: fn([u8; 2]) -> u16) -> Converted<R> {
        Converted { input, from_bytes, pending: Vec::new(), text: String::new(), taken: 0 }
    }

    /// Notes in the run that the text was converted.
    pub(crate) fn report(&self, run: &mut ForeignRun) {
        run.notes.push("the file is text in UTF-16; places in it count bytes of UTF-8".to_owned());
    }

    /// Converts the next block. Returns `false` at the end.
    fn convert(&mut self) -> io::Result<bool> {
        let read = (&mut self.input).take(BLOCK as u64).read_to_end(&mut self.pending)?;
        let (pairs, _) = self.pending.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(|pair| (self.from_bytes)(*pair)).collect();
        // The first half of a pair of surrogates waits for the second.
        if read > 0 && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            units.pop();
        }
        self.pending.drain(..units.len() * 2);
        self.text.clear();
        self.taken = 0;
        self.text.extend(char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)));
        Ok(read > 0)
    }
}

impl<R: Read> Read for Converted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.text.len() {
            if !self.convert()? && self.text.is_empty() {
                return Ok(0);
            }
        }
        let rest = &self.text.as_bytes()[self.taken..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_read_as_it_was(text in "[a\u{e4}\u{20ac}\u{1f600}\n]{0,300}", times in 1usize..100, big: bool) {
            let text = text.repeat(times);
            let to_bytes = if big { u16::to_be_bytes } else { u16::to_le_bytes };
            let bytes: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(to_bytes).collect();
            let from_bytes = order(&bytes).expect("a mark");
            let mut read = String::new();
            Converted::new(&bytes[..], from_bytes).read_to_string(&mut read).expect("memory");
            prop_assert_eq!(read.strip_prefix('\u{feff}').expect("the mark"), text);
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut read = String::new();
            Converted::new(&bytes[..], u16::from_le_bytes).read_to_string(&mut read).expect("memory");
            prop_assert!(read.chars().count() <= bytes.len());
        }
    }
}
