//! Grammar of the header `Server-Timing` (W3C Server Timing, section 4.3). Bytes that do not follow it are skipped, as
//! browsers do.

/// Limit on the entries that are read of one header.
const MAX_ENTRIES: usize = 64;
/// Limit on the length of a name, in bytes. Longer names are left out.
pub(crate) const MAX_NAME: usize = 40;

/// An entry of the header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry<'a> {
    /// Name of the metric, a token of HTTP.
    pub name: &'a [u8],
    /// Duration in milliseconds as it was sent, if the entry has one.
    pub duration: Option<&'a [u8]>,
}

/// Calls `found` with each entry of a header's value. Returns false if a part was not read.
pub fn entries<'a>(value: &'a [u8], found: &mut impl FnMut(Entry<'a>)) -> bool {
    let mut rest = Scanner(value);
    let mut is_read = true;
    for _ in 0..MAX_ENTRIES {
        rest.blanks();
        if rest.0.is_empty() {
            return is_read;
        }
        match rest.entry() {
            Some(entry) if entry.name.len() <= MAX_NAME => found(entry),
            _ => is_read = false,
        }
        rest.up_to_comma();
    }
    is_read && rest.0.is_empty()
}

struct Scanner<'a>(&'a [u8]);

impl<'a> Scanner<'a> {
    fn blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    /// Reads one byte if it is this one, and the blanks around it.
    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        let is_there = self.0.first() == Some(&byte);
        if is_there {
            self.0 = &self.0[1..];
            self.blanks();
        }
        is_there
    }

    fn token(&mut self) -> Option<&'a [u8]> {
        let length = self.0.iter().position(|byte| !IS_OF_TOKEN[usize::from(*byte)]).unwrap_or(self.0.len());
        let (token, rest) = self.0.split_at(length);
        self.0 = rest;
        (!token.is_empty()).then_some(token)
    }

    /// Reads a quoted text, and returns its content if it needs no unescaping.
    fn quoted(&mut self) -> Option<&'a [u8]> {
        let text = self.0;
        let mut is_escaped = false;
        let mut has_escape = false;
        for (at, byte) in text.iter().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => (is_escaped, has_escape) = (true, true),
                b'"' => {
                    self.0 = &text[at + 1..];
                    return (!has_escape).then_some(&text[..at]);
                }
                _ => {}
            }
        }
        self.0 = &[];
        None
    }

    fn entry(&mut self) -> Option<Entry<'a>> {
        let name = self.token()?;
        let mut duration = None;
        while self.take(b';') {
            let Some(parameter) = self.token() else { continue };
            if !self.take(b'=') {
                continue;
            }
            let value = match self.0 {
                [b'"', rest @ ..] => {
                    self.0 = rest;
                    self.quoted()
                }
                _ => self.token(),
            };
            // Of several, the first counts.
            if parameter.eq_ignore_ascii_case(b"dur") && duration.is_none() {
                duration = value;
            }
        }
        Some(Entry { name, duration })
    }

    /// Skips what is left of an entry.
    fn up_to_comma(&mut self) {
        while let Some((byte, rest)) = self.0.split_first() {
            self.0 = rest;
            match byte {
                b',' => return,
                b'"' => drop(self.quoted()),
                _ => {}
            }
        }
    }
}

/// True for bytes of a token (RFC 9110, section 5.6.2).
const IS_OF_TOKEN: [bool; 256] = {
    let mut are = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        are[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < others.len() {
        are[others[at] as usize] = true;
        at += 1;
    }
    are
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(value: &str) -> (Vec<(&str, Option<&str>)>, bool) {
        let mut all = Vec::new();
        let text = |bytes| std::str::from_utf8(bytes).expect("UTF-8, as the value is");
        let is_read = entries(value.as_bytes(), &mut |entry| all.push((text(entry.name), entry.duration.map(text))));
        (all, is_read)
    }

    #[test]
    fn entries_are_read_as_browsers_read_them() {
        for (value, expected) in [
            ("", vec![]),
            ("miss, db;dur=53, app;dur=47.2", vec![("miss", None), ("db", Some("53")), ("app", Some("47.2"))]),
            ("cache;desc=\"Cache, \\\"Read\\\"\";dur=23.2,x", vec![("cache", Some("23.2")), ("x", None)]),
            (" a ; DUR = 1 ; dur=2 ,, b;dur=\"3.5\" ", vec![("a", Some("1")), ("b", Some("3.5"))]),
            ("a;dur, b;dur=;x=1", vec![("a", None), ("b", None)]),
        ] {
            assert_eq!(read(value).0, expected, "{value}");
        }
        assert_eq!(read("a;dur=1 junk, (b), c;dur=2"), (vec![("a", Some("1")), ("c", Some("2"))], false));
        assert_eq!(read(&format!("{};dur=1", "n".repeat(MAX_NAME + 1))), (vec![], false));
        assert!(!read(&"a,".repeat(MAX_ENTRIES + 1)).1);
    }

    proptest! {
        #[test]
        fn any_bytes_end(value in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut count = 0;
            entries(&value, &mut |entry| {
                count += 1;
                assert!(!entry.name.is_empty() && entry.name.is_ascii());
            });
            prop_assert!(count <= MAX_ENTRIES);
        }
    }
}
