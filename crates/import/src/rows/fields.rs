/// The positions of the fields of a row. The buffer is reused for each row.
#[derive(Default, Debug)]
pub(crate) struct Fields {
    bounds: Vec<(u32, u32)>,
    loose_quote: bool,
}

impl Fields {
    /// Splits a row of at most about [`MAX_ROW`](super::lines::MAX_ROW) bytes. Quotes around a field are removed;
    /// doubled quotes inside are kept.
    pub(crate) fn split(&mut self, row: &[u8], delimiter: u8) {
        self.bounds.clear();
        self.loose_quote = false;
        if memchr::memchr(b'"', row).is_some() {
            return self.split_quoted(row, delimiter);
        }
        let mut start = 0;
        each_place(row, delimiter, |end| {
            self.bounds.push((start, end as u32));
            start = end as u32 + 1;
        });
        self.bounds.push((start, row.len() as u32));
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Returns true if a field begins with a quote but does not end with one, or has an undoubled quote inside.
    pub(crate) fn has_loose_quote(&self) -> bool {
        self.loose_quote
    }

    /// Returns a field by its index, or an empty one beyond the end.
    pub(crate) fn get<'r>(&self, row: &'r [u8], index: usize) -> &'r [u8] {
        self.bounds.get(index).map_or(&[], |(start, end)| &row[*start as usize..*end as usize])
    }

    pub(crate) fn iter<'r>(&self, row: &'r [u8]) -> impl Iterator<Item = &'r [u8]> {
        self.bounds.iter().map(|(start, end)| &row[*start as usize..*end as usize])
    }

    fn split_quoted(&mut self, row: &[u8], delimiter: u8) {
        let mut start = 0;
        loop {
            let end = field_end(row, start, delimiter);
            let quoted = end >= start + 2 && row[start] == b'"' && row[end - 1] == b'"';
            let inside = usize::from(quoted);
            self.loose_quote |= row.get(start) == Some(&b'"') && !(quoted && has_pairs(&row[start + 1..end - 1]));
            self.bounds.push(((start + inside) as u32, (end - inside) as u32));
            if end == row.len() {
                return;
            }
            start = end + 1;
        }
    }
}

/// Returns true if all quotes within a field are doubled.
fn has_pairs(field: &[u8]) -> bool {
    let mut quotes = memchr::memchr_iter(b'"', field);
    std::iter::from_fn(|| quotes.next().map(|at| quotes.next() == Some(at + 1))).all(|pair| pair)
}

/// Returns the number of fields of a row without quotes.
pub(crate) fn count(row: &[u8], delimiter: u8) -> usize {
    memchr::memchr_iter(delimiter, row).count() + 1
}

/// Calls `found` with each position of a byte. Eight bytes at a time beat repeated searches, because fields are short.
fn each_place(row: &[u8], byte: u8, mut found: impl FnMut(usize)) {
    const LOW_BITS: u64 = u64::from_ne_bytes([0x7f; 8]);
    let wanted = u64::from_ne_bytes([byte; 8]);
    let (words, rest) = row.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        // An equal byte becomes zero, and only a zero byte leaves its highest bit clear in the sum.
        let differs = u64::from_le_bytes(*word) ^ wanted;
        let mut places = !(((differs & LOW_BITS) + LOW_BITS) | differs | LOW_BITS);
        while places != 0 {
            found(index * 8 + places.trailing_zeros() as usize / 8);
            places &= places - 1;
        }
    }
    let behind = row.len() - rest.len();
    rest.iter().enumerate().filter(|(_, other)| **other == byte).for_each(|(at, _)| found(behind + at));
}

/// Returns the end of the field that begins at `start`. Quoted delimiters do not count.
fn field_end(row: &[u8], start: usize, delimiter: u8) -> usize {
    let mut quoted = false;
    if row.get(start) != Some(&b'"') {
        return memchr::memchr(delimiter, &row[start..]).map_or(row.len(), |at| start + at);
    }
    for (at, byte) in row.iter().enumerate().skip(start) {
        if *byte == b'"' {
            quoted = !quoted;
        } else if *byte == delimiter && !quoted {
            return at;
        }
    }
    row.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Rows that the crate `csv` writes are read back unchanged.
        #[test]
        fn fields_are_those_that_were_written(fields in prop::collection::vec("[a-z \n;]{0,6}|[a-z,\n]{0,6}", 1..9)) {
            let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
            writer.write_record(&fields).expect("memory");
            let written = writer.into_inner().expect("memory");
            let row = written.strip_suffix(b"\n").expect("a line break");
            let mut read = Fields::default();
            read.split(row, b',');
            let expected: Vec<_> = fields.iter().map(String::as_bytes).collect();
            prop_assert_eq!(read.iter(row).collect::<Vec<_>>(), expected);
            prop_assert!(!read.has_loose_quote());
        }

        #[test]
        fn every_place_is_found(row in prop::collection::vec(any::<u8>(), 0..60), byte: u8, with in 0usize..60) {
            let mut row = row;
            if let Some(other) = row.get_mut(with) {
                *other = byte;
            }
            let mut places = Vec::new();
            each_place(&row, byte, |place| places.push(place));
            prop_assert_eq!(&places, &memchr::memchr_iter(byte, &row).collect::<Vec<_>>());
            prop_assert_eq!(count(&row, byte), places.len() + 1);
        }

        #[test]
        fn any_bytes_have_fields(row in prop::collection::vec(prop::sample::select(b"a,\"\n".to_vec()), 0..40)) {
            let mut read = Fields::default();
            read.split(&row, b',');
            prop_assert!(read.len() >= 1);
            prop_assert!(read.iter(&row).map(<[u8]>::len).sum::<usize>() <= row.len());
        }
    }
}
