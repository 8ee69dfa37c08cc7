//! Reads the text of a check from left to right.

/// The unread rest of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { rest: text.trim() }
    }

    pub(crate) fn rest(self) -> &'a str {
        self.rest
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest.trim_start();
        taken
    }

    pub(crate) fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        self.take(end)
    }

    /// Takes `word` if it comes next and no letter or digit follows it.
    pub(crate) fn skip_word(&mut self, word: &str) -> bool {
        let Some(after) = self.rest.strip_prefix(word) else { return false };
        let ends = !after.starts_with(|c: char| c.is_ascii_alphanumeric());
        if ends {
            self.take(word.len());
        }
        ends
    }

    /// Takes the first of these signs that comes next.
    pub(crate) fn sign<T: Copy>(&mut self, signs: &[(&str, T)]) -> Option<T> {
        let (sign, value) = signs.iter().find(|(sign, _)| self.rest.starts_with(sign))?;
        self.take(sign.len());
        Some(*value)
    }

    /// Takes a text in quotes. Returns `None` if no quote comes next.
    ///
    /// # Errors
    /// If the closing quote is missing, or an escape is not valid.
    pub(crate) fn quoted(&mut self) -> Result<Option<String>, String> {
        let quote = match self.rest.bytes().next() {
            Some(quote @ (b'"' | b'\'')) => quote,
            _ => return Ok(None),
        };
        let length = quoted_length(self.rest, quote).ok_or_else(|| format!("the quote of {} has no end", self.rest))?;
        let text = self.take(length);
        if quote == b'\'' {
            return Ok(Some(text[1..text.len() - 1].to_owned()));
        }
        let unquoted = serde_json::from_str(text);
        unquoted
            .map(Some)
            .map_err(|_| format!("{text} has an escape that JSON does not know; write \\\\ for a backslash"))
    }

    /// Takes the name of a header field, up to a blank or a comparison.
    pub(crate) fn header_name(&mut self) -> &'a str {
        let is_end = |(at, c): &(usize, char)| {
            c.is_whitespace() || "=<>\"'".contains(*c) || (*c == '!' && self.rest[*at..].starts_with("!="))
        };
        let end = self.rest.char_indices().find(is_end).map_or(self.rest.len(), |(at, _)| at);
        self.take(end)
    }

    /// Takes a JSONPath, up to a blank or a comparison outside of brackets.
    pub(crate) fn json_path(&mut self) -> &'a str {
        let mut depth = 0usize;
        let mut quote = None;
        let mut letters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, c)) = letters.next() {
            match (quote, c) {
                (Some(_), '\\') => drop(letters.next()),
                (Some(open), _) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') if depth > 0 => quote = Some(c),
                (None, '[' | '(') => depth += 1,
                (None, ']' | ')') => depth = depth.saturating_sub(1),
                (None, _) if depth == 0 && (c.is_whitespace() || "=<>!".contains(c)) => {
                    end = at;
                    break;
                }
                (None, _) => {}
            }
        }
        self.take(end)
    }
}

/// Returns the length up to the closing quote, both quotes included. In double quotes, a backslash escapes.
fn quoted_length(text: &str, quote: u8) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quote == b'"' => escaped = true,
            _ if byte == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}
