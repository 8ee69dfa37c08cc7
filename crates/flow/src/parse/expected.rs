//! Parser for an expected answer.

use super::{FUNCTIONS, Parser, Result};
use crate::syntax::{Assert, Capture, Expected, ExpectedBody};

impl Parser<'_> {
    /// Reads an expected answer. `HTTP` comes next.
    pub(super) fn expected_answer(&mut self) -> Result<Expected> {
        let line = self.at.line();
        let version = self.version()?;
        let status = self.status()?;
        self.at.end_line()?;
        let mut expected = Expected {
            line,
            status,
            version,
            headers: Vec::new(),
            captures: Vec::new(),
            asserts: Vec::new(),
            body: None,
        };
        self.skip_blank();
        while self.is_at_pair() {
            let line = self.at.line();
            let key = self.key()?;
            expected.headers.push((line, (key, self.value_text()?)));
            self.skip_blank();
        }
        self.expected_sections(&mut expected)?;
        if !self.is_at_request() && !self.at.is_at_end() {
            let line = self.at.line();
            // After ``` at the end of a line, the text begins on the next line.
            let first = self.at.rest().lines().next().unwrap_or_default();
            let is_behind = first.strip_prefix("```").is_some_and(|rest| !rest.contains('`'));
            let text_line = if is_behind { line + 1 } else { line };
            expected.body = self.body()?.map(|body| ExpectedBody { line, text_line, body });
        }
        Ok(expected)
    }

    fn version(&mut self) -> Result<Option<&'static str>> {
        let start = self.at;
        self.at.eat("HTTP");
        if !self.at.eat("/") {
            return Ok(None);
        }
        match self.at.take_while(|c| !c.is_whitespace()) {
            "1.0" => Ok(Some("1.0")),
            "1.1" => Ok(Some("1.1")),
            "2" => Ok(Some("2")),
            "*" => Ok(None),
            other => {
                let version = super::cursor::shortened(other);
                Err(start
                    .error(format!("HTTP/{version} is not supported: flows speak HTTP/1.1 and HTTP/2; write HTTP")))
            }
        }
    }

    fn status(&mut self) -> Result<Option<u16>> {
        self.at.skip_spaces();
        let start = self.at;
        if self.at.eat("*") {
            return Ok(None);
        }
        let digits = self.at.take_while(|c| c.is_ascii_digit());
        match digits.parse::<u16>() {
            Ok(status @ 100..=999) => Ok(Some(status)),
            _ => Err(start.error("a status of three digits, or *, belongs behind HTTP")),
        }
    }

    fn expected_sections(&mut self, expected: &mut Expected) -> Result<()> {
        let mut seen = Vec::new();
        loop {
            let start = self.at;
            match self.section(&mut seen)? {
                None => return Ok(()),
                Some("Captures") => self.captures(&mut expected.captures)?,
                Some("Asserts") => self.asserts(&mut expected.asserts)?,
                Some(other) => return Err(start.error(format!("[{other}] belongs to a request, before HTTP …"))),
            }
        }
    }

    fn captures(&mut self, captures: &mut Vec<Capture>) -> Result<()> {
        while self.is_at_pair() {
            let start = self.at;
            let line = self.at.line();
            let key = self.key()?;
            let name = key.constant().ok_or_else(|| start.error("the name of a capture holds no {{…}}"))?.to_owned();
            if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
                return Err(start.error("the name of a capture has letters, digits, - and _"));
            }
            if FUNCTIONS.contains(&&*name) {
                return Err(start.error(format!("{name} is a function; a variable has another name")));
            }
            self.at.skip_spaces();
            let look = self.look()?;
            // Captured values are never shown, so `redact` changes nothing.
            self.at.eat("redact");
            self.at.end_line()?;
            let variable = self.variable(&name);
            captures.push(Capture { line, variable, look });
            self.skip_blank();
        }
        Ok(())
    }

    fn asserts(&mut self, asserts: &mut Vec<Assert>) -> Result<()> {
        while self.is_at_query() {
            let line = self.at.line();
            let look = self.look()?;
            let not = self.not();
            let predicate = self.predicate()?;
            self.at.end_line()?;
            asserts.push(Assert { line, look, not, predicate });
            self.skip_blank();
        }
        Ok(())
    }

    /// Returns true if a query comes next, and not a request, a section or a body.
    fn is_at_query(&self) -> bool {
        self.at.peek().is_some_and(|c| c.is_ascii_lowercase())
            && !["base64,", "hex,", "file,"].iter().any(|body| self.at.rest().starts_with(body))
            && !["true", "false", "null"].contains(&self.at.rest().lines().next().unwrap_or_default().trim())
    }
}
