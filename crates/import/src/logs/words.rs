/// The positions of the words of a log line: plain, quoted, or in square brackets. The buffer is reused for each line.
#[derive(Default, Debug)]
pub(crate) struct Words {
    bounds: Vec<Word>,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Plain,
    Quoted,
    Bracketed,
}

impl Words {
    /// Splits a line. In quotes, a backslash escapes the next character.
    pub(crate) fn split(&mut self, line: &[u8]) {
        self.bounds.clear();
        let mut at = 0;
        while at < line.len() {
            let (start, kind) = match line[at] {
                b' ' | b'\t' => {
                    at += 1;
                    continue;
                }
                b'"' => (at + 1, Kind::Quoted),
                b'[' => (at + 1, Kind::Bracketed),
                _ => (at, Kind::Plain),
            };
            let end = end_of(line, start, kind);
            self.bounds.push(Word { start, end, kind });
            at = end + usize::from(kind != Kind::Plain);
        }
    }

    /// Returns a word by its index, or an empty one beyond the end.
    pub(crate) fn get<'l>(&self, line: &'l [u8], index: usize) -> &'l [u8] {
        self.bounds.get(index).map_or(&[], |word| &line[word.start..word.end])
    }

    /// Returns the index of the first word of a kind, from `from` on.
    pub(crate) fn first(&self, kind: Kind, from: usize) -> Option<usize> {
        (from..self.bounds.len()).find(|index| self.bounds[*index].kind == kind)
    }

    /// Returns the indexes of the words of a kind from `from` up to, but not including, `to`.
    pub(crate) fn between(&self, kind: Kind, from: usize, to: usize) -> impl DoubleEndedIterator<Item = usize> {
        (from..to.min(self.bounds.len())).filter(move |index| self.bounds[*index].kind == kind)
    }

    /// Returns the plain words from an index on.
    pub(crate) fn plain<'l>(&self, line: &'l [u8], from: usize) -> impl Iterator<Item = &'l [u8]> {
        self.between(Kind::Plain, from, usize::MAX).map(|index| self.get(line, index))
    }
}

fn end_of(line: &[u8], start: usize, kind: Kind) -> usize {
    let rest = &line[start..];
    let length = match kind {
        Kind::Plain => memchr::memchr2(b' ', b'\t', rest),
        Kind::Bracketed => memchr::memchr(b']', rest),
        Kind::Quoted => memchr::memchr_iter(b'"', rest).find(|at| !is_escaped(&rest[..*at])),
    };
    length.map_or(line.len(), |length| start + length)
}

/// Returns true if the text ends with an odd number of backslashes, which escapes the next character.
fn is_escaped(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_has_words() {
        let line = br#"1.2.3.4 - [a b] "GET /\"x HTTP/1.1" 200 "" rt=0.1"#;
        let mut words = Words::default();
        words.split(line);
        let all: Vec<_> = (0..words.bounds.len()).map(|at| String::from_utf8_lossy(words.get(line, at))).collect();
        assert_eq!(all, ["1.2.3.4", "-", "a b", "GET /\\\"x HTTP/1.1", "200", "", "rt=0.1"]);
        assert_eq!((words.first(Kind::Bracketed, 0), words.first(Kind::Quoted, 3)), (Some(2), Some(3)));
        assert_eq!(words.plain(line, 3).collect::<Vec<_>>(), [&b"200"[..], b"rt=0.1"]);
    }

    #[test]
    fn a_backslash_that_is_escaped_keeps_no_quote() {
        let line = br#""a\\" "b\\\" c" d"#;
        let mut words = Words::default();
        words.split(line);
        let all: Vec<_> = (0..words.bounds.len()).map(|at| String::from_utf8_lossy(words.get(line, at))).collect();
        assert_eq!(all, [r"a\\", r#"b\\\" c"#, "d"]);
    }

    proptest! {
        #[test]
        fn any_line_has_words(line in prop::collection::vec(prop::sample::select(b"a \"[]\\".to_vec()), 0..30)) {
            let mut words = Words::default();
            words.split(&line);
            prop_assert!((0..words.bounds.len()).map(|at| words.get(&line, at).len()).sum::<usize>() <= line.len());
        }
    }
}
