/// Check of a text that arrives in pieces, each cut anywhere.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Utf8Check {
    /// The first bytes of a character that was cut in two.
    begun: [u8; 4],
    length: usize,
}

impl Utf8Check {
    /// Takes the next piece. Returns false if the text cannot be UTF-8, whatever follows.
    pub(super) fn take(&mut self, mut piece: &[u8]) -> bool {
        while self.length > 0 {
            let Some((next, rest)) = piece.split_first() else { return true };
            self.begun[self.length] = *next;
            self.length += 1;
            piece = rest;
            match std::str::from_utf8(&self.begun[..self.length]) {
                Ok(_) => self.length = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(piece) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                let begun = &piece[error.valid_up_to()..];
                self.begun[..begun.len()].copy_from_slice(begun);
                self.length = begun.len();
                true
            }
        }
    }

    /// Returns true if no character is cut in two.
    pub(super) fn is_complete(self) -> bool {
        self.length == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn accepts(pieces: &[&[u8]]) -> bool {
        let mut check = Utf8Check::default();
        pieces.iter().all(|piece| check.take(piece)) && check.is_complete()
    }

    proptest! {
        #[test]
        fn pieces_are_judged_as_the_whole(
            whole in prop_oneof![
                "[a-zé€𝄞]{0,8}".prop_map(String::into_bytes),
                prop::collection::vec(prop::sample::select(b"a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\xff\xed\xa0".to_vec()), 0..8),
            ],
            first in 0_usize..9,
            second in 0_usize..9,
        ) {
            let first = first.min(whole.len());
            let second = second.min(whole.len()).max(first);
            let pieces = [&whole[..first], &whole[first..second], &whole[second..]];
            prop_assert_eq!(accepts(&pieces), std::str::from_utf8(&whole).is_ok(), "{:?}", whole);
            let single: Vec<&[u8]> = whole.chunks(1).collect();
            prop_assert_eq!(accepts(&single), std::str::from_utf8(&whole).is_ok(), "{:?}", whole);
        }
    }
}
