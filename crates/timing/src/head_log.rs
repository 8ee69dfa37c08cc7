//! A log of answers, which can be read later: copying a head costs a worker less than reading it.

use truetail_model::time::Nanos;

/// Bytes of a log that is full.
const FULL: usize = 64 << 10;
/// Bytes of an entry without its text.
const FIXED: usize = 16;

const FIELDS: u16 = 0;
const HEAD: u16 = 1;
const VALUE: u16 = 2;
const END: u16 = 3;

/// An entry about the answer to the request in a slot of the worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry<'a> {
    /// An answer begins. Its values follow.
    Fields,
    /// An answer begins, with this head of HTTP/1.1.
    Head(&'a [u8]),
    /// A value of the header of this source.
    Value(u16, &'a [u8]),
    /// The answer to the request with this index is whole.
    End {
        /// Index of the request in the whole schedule.
        index: u64,
        response_time: Nanos,
    },
}

/// Entries, one after the other: kind and source, length of the text, and slot; then the text, or index and response
/// time.
#[derive(Default, Debug)]
pub(crate) struct HeadLog(Vec<u8>);

impl HeadLog {
    /// Creates a log with room until it is full.
    pub(crate) fn with_room() -> HeadLog {
        HeadLog(Vec::with_capacity(FULL))
    }

    /// Returns true if the log should be read before the entry is added.
    #[inline]
    pub(crate) fn is_full_for(&self, entry: &Entry<'_>) -> bool {
        let length = match entry {
            Entry::Fields => 0,
            Entry::Head(text) | Entry::Value(_, text) => text.len(),
            Entry::End { .. } => size_of::<u128>(),
        };
        !self.0.is_empty() && self.0.len() + FIXED + length > FULL
    }

    /// Adds an entry about the request in `slot`. A log that is not full has room for it, unless the entry alone is
    /// longer.
    #[inline]
    pub(crate) fn add(&mut self, slot: u32, entry: Entry<'_>) {
        match entry {
            Entry::Fields => self.put(FIELDS, 0, slot, &[]),
            Entry::Head(text) => self.put(HEAD, 0, slot, text),
            Entry::Value(source, value) => self.put(VALUE, source, slot, value),
            Entry::End { index, response_time } => {
                let numbers = u128::from(index) | u128::from(response_time.0) << 64;
                let whole = [fixed(END, 0, slot, size_of::<u128>()), numbers.to_le_bytes()];
                self.0.extend_from_slice(whole.as_flattened());
            }
        }
    }

    #[inline]
    fn put(&mut self, kind: u16, source: u16, slot: u32, text: &[u8]) {
        self.0.extend_from_slice(&fixed(kind, source, slot, text.len()));
        self.0.extend_from_slice(text);
    }

    /// Calls `found` with each entry and its slot, in order.
    pub(crate) fn each(&self, mut found: impl FnMut(u32, Entry<'_>)) {
        let mut rest = &self.0[..];
        while let Some((fixed, after)) = rest.split_first_chunk() {
            let fixed = u128::from_le_bytes(*fixed);
            let (text, after) = after.split_at((fixed >> 64) as usize);
            rest = after;
            let entry = match fixed as u16 {
                FIELDS => Entry::Fields,
                HEAD => Entry::Head(text),
                VALUE => Entry::Value((fixed >> 16) as u16, text),
                _ => {
                    let numbers = text.first_chunk().map_or(0, |numbers| u128::from_le_bytes(*numbers));
                    Entry::End { index: numbers as u64, response_time: Nanos((numbers >> 64) as u64) }
                }
            };
            found((fixed >> 32) as u32, entry);
        }
    }
}

/// Returns the part of an entry that each has.
#[inline]
fn fixed(kind: u16, source: u16, slot: u32, length: usize) -> [u8; FIXED] {
    let source_and_slot = u128::from(slot) << 32 | u128::from(source) << 16;
    (u128::from(length as u64) << 64 | source_and_slot | u128::from(kind)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_added() {
        let long = vec![b'x'; 3 * FULL];
        let entries = [
            (0, Entry::Fields),
            (u32::MAX, Entry::Value(u16::MAX, b"a;dur=1")),
            (7, Entry::Head(b"")),
            (7, Entry::Head(&long)),
            (7, Entry::End { index: u64::MAX, response_time: Nanos(u64::MAX - 1) }),
        ];
        let mut log = HeadLog::with_room();
        assert!(!log.is_full_for(&Entry::Head(&long)), "an empty log takes everything");
        entries.iter().for_each(|(slot, entry)| log.add(*slot, *entry));
        assert!(log.is_full_for(&Entry::Fields));
        let mut nth = 0;
        log.each(|slot, entry| {
            assert_eq!((slot, entry), entries[nth]);
            nth += 1;
        });
        assert_eq!(nth, entries.len());
    }

    #[test]
    fn a_log_that_is_not_full_has_room() {
        let end = Entry::End { index: 1, response_time: Nanos(1) };
        for entry in [Entry::Fields, Entry::Head(b"HTTP/1.1 200 OK"), Entry::Value(1, b"app;dur=1"), end] {
            let mut log = HeadLog::with_room();
            let room = log.0.capacity();
            while !log.is_full_for(&entry) {
                log.add(1, entry);
            }
            assert_eq!(log.0.capacity(), room, "{entry:?}");
        }
    }
}
