//! Splits a command into words as a POSIX shell does, and reads bash's `$'…'`, which browsers write. Expansions and
//! operators of a shell are refused, because truetail does not perform them.

/// Reason why a command cannot be split into words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShellError {
    /// It ends inside quotes, or after a backslash.
    #[error("a quote is not closed")]
    Open,
    /// A shell would expand it.
    #[error("a shell would expand '{0}…'; write the value itself, or put it in single quotes")]
    Expands(char),
    /// An operator of the shell.
    #[error("'{0}' is an operator of the shell; put the word in single quotes")]
    Operator(char),
    /// Bytes given as numbers in `$'…'` that are not UTF-8.
    #[error("the bytes of $'…' are not UTF-8; give the body in a file, with --data-binary @FILE")]
    Bytes,
}

/// Splits a command into its words.
pub fn split_words(text: &str) -> Result<Vec<String>, ShellError> {
    let words = split_into_bytes(text)?.into_iter();
    words.map(|word| String::from_utf8(word).map_err(|_| ShellError::Bytes)).collect()
}

/// Splits a command into its words, which need not be UTF-8: `$'\xe9'` is a byte.
///
/// # Errors
/// [`ShellError`]. [`ShellError::Bytes`] only for a code point that does not exist.
pub fn split_into_bytes(text: &str) -> Result<Vec<Vec<u8>>, ShellError> {
    let mut reader = WordReader { rest: text, words: Vec::new(), word: None };
    while reader.step()? {}
    reader.end_word();
    Ok(reader.words)
}

/// Returns the length in bytes of the first command of `text`, including the line break that ends it. Quotes and
/// backslashes may join further lines to its first line.
///
/// # Errors
/// [`ShellError::Open`] if a quote is not closed.
pub(crate) fn first_command(text: &str) -> Result<usize, ShellError> {
    let mut quote = None;
    let mut before = ' ';
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let mut seen = c;
        match (quote, c) {
            (None, '\n') => return Ok(at + 1),
            (None, '#') if BLANK.contains(&before) => {
                return Ok(text[at..].find('\n').map_or(text.len(), |end| at + end + 1));
            }
            (None, '\'') => quote = Some(if before == '$' { '$' } else { '\'' }),
            (None, '"') => quote = Some('"'),
            (None | Some('"' | '$'), '\\') => {
                let (_, escaped) = chars.next().ok_or(ShellError::Open)?;
                // An escaped line break vanishes. Any other escaped character has no special meaning.
                seen = if escaped == '\n' { before } else { '\\' };
            }
            (Some('$' | '\''), '\'') | (Some('"'), '"') => quote = None,
            _ => {}
        }
        before = seen;
    }
    if quote.is_none() { Ok(text.len()) } else { Err(ShellError::Open) }
}

/// Characters that end a word.
const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

struct WordReader<'a> {
    rest: &'a str,
    words: Vec<Vec<u8>>,
    /// The unfinished word; `None` between words. Empty quotes make an empty word.
    word: Option<Vec<u8>>,
}

impl WordReader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn put(&mut self, c: char) {
        self.put_text(c.encode_utf8(&mut [0; 4]));
    }

    fn put_text(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.word.get_or_insert_default().extend(bytes);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    /// Reads one character outside quotes, or one quoted part. Returns false at the end.
    fn step(&mut self) -> Result<bool, ShellError> {
        let Some(c) = self.next() else { return Ok(false) };
        match c {
            c if BLANK.contains(&c) => self.end_word(),
            '#' if self.word.is_none() => self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]),
            '\'' => self.single_quoted()?,
            '"' => self.double_quoted()?,
            '$' => self.dollar(false)?,
            '\\' => match self.next().ok_or(ShellError::Open)? {
                '\n' => {}
                escaped => self.put(escaped),
            },
            '`' => return Err(ShellError::Expands('`')),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' => return Err(ShellError::Operator(c)),
            c => self.put(c),
        }
        Ok(true)
    }

    /// Reads what follows a dollar sign, without escaped line breaks. Without an expansion the sign is plain text.
    fn dollar(&mut self, in_quotes: bool) -> Result<(), ShellError> {
        self.rest = self.rest.trim_start_matches("\\\n");
        match self.rest.chars().next() {
            Some('\'') if !in_quotes => self.ansi_quoted(),
            Some('"') if in_quotes => {
                self.put('$');
                Ok(())
            }
            Some(c) if c.is_ascii_alphanumeric() || "_{(@*#?!$-\"".contains(c) => Err(ShellError::Expands('$')),
            _ => {
                self.put('$');
                Ok(())
            }
        }
    }

    fn single_quoted(&mut self) -> Result<(), ShellError> {
        let end = self.rest.find('\'').ok_or(ShellError::Open)?;
        let (quoted, rest) = self.rest.split_at(end);
        self.put_text(quoted);
        self.rest = &rest[1..];
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), ShellError> {
        self.word.get_or_insert_default();
        loop {
            match self.next().ok_or(ShellError::Open)? {
                '"' => return Ok(()),
                '`' => return Err(ShellError::Expands('`')),
                '$' => self.dollar(true)?,
                '\\' => match self.next().ok_or(ShellError::Open)? {
                    '\n' => {}
                    c @ ('"' | '\\' | '$' | '`') => self.put(c),
                    other => {
                        self.put('\\');
                        self.put(other);
                    }
                },
                c => self.put(c),
            }
        }
    }

    /// Reads `$'…'` from its opening quote. As in bash, a zero byte ends the text.
    fn ansi_quoted(&mut self) -> Result<(), ShellError> {
        self.next();
        let outside = self.word.take().unwrap_or_default();
        self.word = Some(Vec::new());
        loop {
            match self.next().ok_or(ShellError::Open)? {
                '\'' => break,
                '\\' => self.escape()?,
                c => self.put(c),
            }
        }
        let mut quoted = self.word.take().unwrap_or_default();
        quoted.truncate(quoted.iter().position(|byte| *byte == 0).unwrap_or(quoted.len()));
        self.word = Some([outside, quoted].concat());
        Ok(())
    }

    /// Reads what follows a backslash in `$'…'`. The backslash of an unknown escape is kept.
    fn escape(&mut self) -> Result<(), ShellError> {
        let c = self.next().ok_or(ShellError::Open)?;
        match c {
            'a' => self.put('\x07'),
            'b' => self.put('\x08'),
            'e' | 'E' => self.put('\x1b'),
            'f' => self.put('\x0c'),
            'n' => self.put('\n'),
            'r' => self.put('\r'),
            't' => self.put('\t'),
            'v' => self.put('\x0b'),
            '\\' | '\'' | '"' | '?' => self.put(c),
            '0'..='7' => {
                let first = c.to_digit(8).unwrap_or_default();
                let (more, length) = self.digits(8, 2).unwrap_or((0, 0));
                self.put_bytes(&[((first << (3 * length)) + more) as u8]);
            }
            'x' => match self.digits(16, 2) {
                Some((byte, _)) => self.put_bytes(&[byte as u8]),
                None => self.put_text("\\x"),
            },
            'u' | 'U' => match self.digits(16, if c == 'u' { 4 } else { 8 }) {
                Some((number, _)) => self.code_point(number)?,
                None => self.put_text(if c == 'u' { "\\u" } else { "\\U" }),
            },
            'c' if self.rest.starts_with(|c: char| c.is_ascii() && c != '\'') => self.control(),
            other => {
                self.put('\\');
                self.put(other);
            }
        }
        Ok(())
    }

    /// Adds a character by its number. As in bash, half of a surrogate pair becomes three bytes that are not UTF-8.
    fn code_point(&mut self, number: u32) -> Result<(), ShellError> {
        match char::from_u32(number) {
            Some(c) => self.put(c),
            None if number < 0x1_0000 => {
                let six_bits = |shift: u32| 0x80 | (number >> shift & 0x3f) as u8;
                self.put_bytes(&[0xe0 | (number >> 12) as u8, six_bits(6), six_bits(0)]);
            }
            None => return Err(ShellError::Bytes),
        }
        Ok(())
    }

    /// Adds the control character of a letter: `\cA` is 1.
    fn control(&mut self) {
        let Some(letter) = self.next() else { return };
        if letter == '\\' && self.rest.starts_with('\\') {
            self.next();
        }
        let byte = letter.to_ascii_uppercase() as u8;
        self.put_bytes(&[if letter == '?' { 0x7f } else { byte & 0x1f }]);
    }

    /// Reads up to `most` digits. Returns their value and their count.
    fn digits(&mut self, radix: u32, most: usize) -> Option<(u32, usize)> {
        let length = self.rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some((u32::from_str_radix(digits, radix).ok()?, length))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<String> {
        split_words(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[test]
    fn quotes_and_escapes() {
        assert_eq!(read(r#"curl 'a b'"c d"\ e '' x\'y "a\"b\c" # no"#), ["curl", "a bc d e", "", "x'y", "a\"b\\c"]);
        assert_eq!(read("a \\\n  b\\\nc"), ["a", "bc"]);
        assert_eq!(read("a#b #c\nd"), ["a#b", "d"]);
        assert_eq!(read(r"$'it\'s\n\u00e9\x21 \t'x"), ["it's\né! \tx"]);
        assert_eq!(read(r#"5$ "$" '$x'"#), ["5$", "$", "$x"]);
        assert_eq!(read("$\\\n'a\\tb'"), ["a\tb"], "a line break that is escaped is gone before quotes are read");
    }

    #[test]
    fn what_a_shell_would_do_is_refused() {
        for text in ["a'b", "a\"b", "a\\", "$'a", "\"a\\"] {
            assert_eq!(split_words(text), Err(ShellError::Open), "{text}");
        }
        for text in ["$\\\nHOME", "\"$\\\nx\"", "$HOME", "\"${x}\"", "$(ls)", "\"$x\""] {
            assert_eq!(split_words(text), Err(ShellError::Expands('$')), "{text}");
        }
        assert_eq!(split_words("http://a/?b=1&c=2"), Err(ShellError::Operator('&')));
        assert_eq!(split_words("a | b"), Err(ShellError::Operator('|')));
        for text in [r"$'caf\xe9'", r"$'\ud83d'", r"$'\U00110000'", r"$'\377'"] {
            assert_eq!(split_words(text), Err(ShellError::Bytes), "{text}");
        }
        assert_eq!(split_into_bytes(r"a $'caf\xe9\377'"), Ok(vec![b"a".to_vec(), b"caf\xe9\xff".to_vec()]));
        // bash 5.2 writes the halves one by one.
        assert_eq!(split_into_bytes(r"$'\ud83d\ude00'"), Ok(vec![b"\xed\xa0\xbd\xed\xb8\x80".to_vec()]));
    }

    #[test]
    fn escapes_of_bash() {
        for (text, word) in [
            (r"$'hello\041\1012'", "hello!A2"),
            (r"$'caf\303\251 caf\xc3\xa9 \u20ac'", "café café €"),
            (r"$'\U0001f600'", "😀"),
            (r"$'a\qb\xg\u\z'", r"a\qb\xg\u\z"),
            (r"$'a\cAb\ca\c?'", "a\x01b\x01\x7f"),
            (r"x$'a\0b'c", "xac"),
            (r"$'\c\\a'", "\x1ca"),
        ] {
            assert_eq!(read(text), [word], "{text}");
        }
    }

    #[test]
    fn a_command_ends_with_its_line() {
        for (text, first) in [
            ("a\nb", "a\n"),
            ("a \\\n b\nc", "a \\\n b\n"),
            ("a 'x\ny' z\nc", "a 'x\ny' z\n"),
            ("a $'x\\'\ny' z\nc", "a $'x\\'\ny' z\n"),
            ("a \\$'x\\' z\nc", "a \\$'x\\' z\n"),
            ("a # it's\nb", "a # it's\n"),
            ("a", "a"),
        ] {
            assert_eq!(&text[..first_command(text).unwrap()], first);
        }
        assert_eq!(first_command("a 'b\nc"), Err(ShellError::Open));
    }

    proptest! {
        /// The crate shlex returns the same words for all texts without `$'…'` that are not refused here.
        #[test]
        fn words_are_those_of_another_reader(text in r#"[ab \n'"\\#]{0,24}"#) {
            // shlex makes a word of an escaped line break; a shell drops it.
            let text = text.replace('\n', if text.contains("\\\n") { " " } else { "\n" });
            if let Ok(words) = split_words(&text) {
                prop_assert_eq!(Some(words), shlex::split(&text));
            } else {
                prop_assert_eq!(None, shlex::split(&text));
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>(), quoted in r#"[$'"\\a-z0-9#& \n]{0,40}"#) {
            for text in [text, quoted] {
                if let (Ok(words), Ok(end)) = (split_words(&text), first_command(&text)) {
                    prop_assert!(end <= text.len() && words.len() <= text.len());
                }
            }
        }

        /// The words of all commands are the words of the text, so no command ends inside a word.
        #[test]
        fn commands_end_between_words(text in r#"[ab \n'"\\#$]{0,24}"#) {
            if let Ok(all) = split_words(&text) {
                let mut rest = &text[..];
                let mut parts = Vec::new();
                while !rest.is_empty() {
                    let (command, after) = rest.split_at(first_command(rest).unwrap());
                    parts.extend(split_words(command).unwrap());
                    rest = after;
                }
                prop_assert_eq!(all, parts);
            }
        }

        /// Text in single quotes is not changed.
        #[test]
        fn quoted_text_comes_back(text in any::<String>()) {
            let quoted = format!("'{}'", text.replace('\'', r"'\''"));
            prop_assert_eq!(split_words(&quoted), Ok(vec![text]));
        }
    }
}
