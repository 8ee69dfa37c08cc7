use crate::error::FlowError;

/// A position in the text of a flow, and its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0, line: 1 }
    }

    /// Returns the line, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Returns the rest of the text.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Advances by `bytes`, which must end between two characters.
    pub(super) fn advance(&mut self, bytes: usize) {
        let passed = &self.rest().as_bytes()[..bytes];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at += bytes;
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.advance(next.len_utf8());
        Some(next)
    }

    /// Skips `what` if it comes next.
    pub(super) fn eat(&mut self, what: &str) -> bool {
        let is_next = self.rest().starts_with(what);
        if is_next {
            self.advance(what.len());
        }
        is_next
    }

    /// Takes characters while `belongs` returns true.
    pub(super) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.advance(end);
        &rest[..end]
    }

    /// Skips spaces and tabs. Returns false if none came.
    pub(super) fn skip_spaces(&mut self) -> bool {
        !self.take_while(|c| matches!(c, ' ' | '\t')).is_empty()
    }

    /// Reads a word of letters, digits, hyphens and underscores.
    pub(super) fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    }

    /// Skips the rest of a line, which must hold only spaces and a comment.
    pub(super) fn end_line(&mut self) -> Result<(), FlowError> {
        self.skip_spaces();
        if self.peek() == Some('#') {
            self.take_while(|c| c != '\n');
        }
        self.eat("\r");
        if self.is_at_end() || self.eat("\n") {
            return Ok(());
        }
        let rest = self.rest().lines().next().unwrap_or_default();
        Err(self.error(format!("'{}' is not understood here", shortened(rest))))
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> FlowError {
        FlowError::new(self.line, problem)
    }
}

/// Returns the start of a text, short enough for an error message of one line.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let clean: String = text.chars().filter(|c| !c.is_control()).take(MOST + 1).collect();
    if clean.chars().count() > MOST { format!("{}…", clean.chars().take(MOST).collect::<String>()) } else { clean }
}
