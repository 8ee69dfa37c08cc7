//! The keys. In raw mode, Ctrl-C is a key too.

/// A command of the user at the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// End the run (`q`).
    Stop,
    /// Interrupt the run (Ctrl-C).
    Interrupt,
    /// The next page (Tab).
    NextPage,
    /// The page before (Shift-Tab).
    PreviousPage,
    /// Show or hide the help (`?`).
    Help,
    /// Back to the first page (Esc).
    Back,
}

const ESCAPE: u8 = 0x1b;
/// Maximum number of bytes that a key sends.
const LONGEST: usize = 16;

/// Parser of the bytes that a terminal sends. A key such as an arrow sends several bytes, beginning with that of Esc,
/// and a slow connection may separate them.
#[derive(Default, Debug)]
pub struct KeyParser {
    /// Bytes from Esc on that are not yet a complete key.
    pending: Vec<u8>,
}

impl KeyParser {
    /// Returns the keys in `bytes`. Ignores keys without a meaning.
    pub fn parse(&mut self, bytes: &[u8]) -> Vec<Key> {
        bytes.iter().filter_map(|byte| self.add(*byte)).collect()
    }

    /// Handles a pause in the input. A pending Esc is then the Esc key, not the start of a sequence.
    pub fn pause(&mut self) -> Option<Key> {
        let alone = self.pending == [ESCAPE];
        self.pending.clear();
        alone.then_some(Key::Back)
    }

    fn add(&mut self, byte: u8) -> Option<Key> {
        if byte == ESCAPE || !self.pending.is_empty() {
            return self.add_to_sequence(byte);
        }
        match byte {
            0x03 => Some(Key::Interrupt),
            b'q' | b'Q' => Some(Key::Stop),
            b'\t' => Some(Key::NextPage),
            b'?' | b'h' => Some(Key::Help),
            _ => None,
        }
    }

    fn add_to_sequence(&mut self, byte: u8) -> Option<Key> {
        // Esc twice, or a new sequence after an unfinished one. Nothing may hide Ctrl-C.
        if byte == ESCAPE || byte == 0x03 {
            let before = self.pause();
            if byte == ESCAPE {
                self.pending.push(byte);
                return before;
            }
            return Some(Key::Interrupt);
        }
        self.pending.push(byte);
        let is_whole = match &self.pending[1..] {
            [b'[' | b'O'] => false,
            [b'[', .., last] => (0x40..=0x7e).contains(last),
            // Alt with a key, or a key of the pad.
            _ => true,
        };
        let key = (self.pending == *b"\x1b[Z").then_some(Key::PreviousPage);
        if is_whole || self.pending.len() >= LONGEST {
            self.pending.clear();
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut parser = KeyParser::default();
        let keys = parser.parse(bytes);
        keys.into_iter().chain(parser.pause()).collect()
    }

    #[test]
    fn keys_have_their_meaning() {
        assert_eq!(keys(b"q\t?\x03"), [Key::Stop, Key::NextPage, Key::Help, Key::Interrupt]);
        assert_eq!(keys(b"\x1b"), [Key::Back]);
        assert_eq!(keys(b"\x1b\x1b"), [Key::Back, Key::Back]);
        assert_eq!(keys(b"\x1b[Z"), [Key::PreviousPage]);
        assert_eq!(keys(b"xyz \r\n"), []);
    }

    #[test]
    fn other_keys_do_nothing() {
        // Arrow, arrow of the pad, F5, Alt-q, a paste, a click.
        for bytes in [&b"\x1b[A"[..], b"\x1bOA", b"\x1b[15~", b"\x1bq", b"\x1b[200~", b"\x1b[<0;3;4M"] {
            assert_eq!(keys(bytes), [], "{bytes:?}");
        }
    }

    #[test]
    fn a_parted_sequence_is_one_key() {
        let mut parser = KeyParser::default();
        assert_eq!(parser.parse(b"\x1b"), []);
        assert_eq!(parser.parse(b"[Z"), [Key::PreviousPage]);
        assert_eq!(parser.parse(b"q"), [Key::Stop]);
    }

    proptest! {
        #[test]
        fn nothing_hides_ctrl_c(before in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut parser = KeyParser::default();
            parser.parse(&before);
            prop_assert_eq!(parser.parse(&[0x03]), [Key::Interrupt]);
        }
    }
}
