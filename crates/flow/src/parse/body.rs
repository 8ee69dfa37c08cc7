use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::cursor::shortened;
use super::{Parser, Result};
use crate::syntax::Body;
use crate::template::{Filter, Piece, Template};

pub(crate) const JSON: &str = "application/json";
/// Limit on the depth of JSON.
const DEEPEST: usize = 100;

impl Parser<'_> {
    /// Reads a body, if one comes next.
    pub(super) fn body(&mut self) -> Result<Option<Body>> {
        let start = self.at;
        let body = match self.at.peek() {
            None => return Ok(None),
            Some('<') => {
                return Err(start.error("a bare XML body is not supported; put it between ```xml and ```"));
            }
            Some('`') if self.at.rest().starts_with("```") => {
                let (text, kind) = self.multiline()?;
                self.multiline_body(text, kind).map_err(|problem| start.error(problem))?
            }
            Some('`') => Body::Text(self.one_line()?, None),
            _ if self.at.rest().starts_with("file,") => Body::File(self.file_name()?),
            _ => match self.encoded_bytes()? {
                Some(bytes) => Body::Bytes(bytes),
                None => Body::Text(self.json()?, Some(JSON)),
            },
        };
        self.at.end_line()?;
        Ok(Some(body))
    }

    fn multiline_body(&mut self, text: Template, kind: &str) -> std::result::Result<Body, String> {
        match kind {
            "" | "raw" => Ok(Body::Text(text, None)),
            "json" => Ok(Body::Text(text, Some(JSON))),
            "xml" => Ok(Body::Text(text, Some("application/xml"))),
            "base64" | "hex" => {
                let text = text.constant().ok_or("{{…}} is not supported between ``` of bytes")?;
                let bytes = if kind == "hex" { decode_hex(text) } else { decode_base64(text) };
                bytes.map(Body::Bytes).ok_or_else(|| format!("this is no {kind}"))
            }
            other => Err(format!("a body of {} is not supported", shortened(other))),
        }
    }

    /// Reads a text between ``` and ```. Returns the text and the word after the opening ```.
    pub(super) fn multiline(&mut self) -> Result<(Template, &'static str)> {
        let start = self.at;
        self.at.advance(3);
        let header = self.at.take_while(|c| !matches!(c, '\n' | '\r' | '`'));
        let is_raw = header.split(',').any(|word| matches!(word.trim(), "raw" | "escape"));
        let kind = header.split(',').next().unwrap_or_default().trim();
        let known = ["", "raw", "json", "xml", "base64", "hex"].into_iter().find(|known| *known == kind);
        // On a single line, the text itself follows the opening ```.
        let one_line = self.at.peek() == Some('`');
        let kind = if one_line {
            ""
        } else {
            known.ok_or_else(|| start.error(format!("a body of {} is not supported", shortened(kind))))?
        };
        if is_raw && !one_line && !kind.is_empty() {
            return Err(start.error(format!("'```{}' is not supported", shortened(header))));
        }
        let mut template = Template::default();
        if one_line {
            header.chars().for_each(|c| template.push(c));
        } else {
            self.at.eat("\r");
            self.at.eat("\n");
        }
        while !self.at.rest().starts_with("```") {
            if self.at.rest().starts_with("{{") {
                let expression = self.expression()?;
                template.0.push(Piece::Value(expression));
                continue;
            }
            let c = self.at.next().ok_or_else(|| start.error("the text between ``` does not end"))?;
            template.push(c);
        }
        self.at.advance(3);
        Ok((template, kind))
    }

    /// Reads `hex,…;` or `base64,…;`.
    pub(super) fn encoded_bytes(&mut self) -> Result<Option<Vec<u8>>> {
        let start = self.at;
        let decode: fn(&str) -> Option<Vec<u8>> = if self.at.eat("hex,") {
            decode_hex
        } else if self.at.eat("base64,") {
            decode_base64
        } else {
            return Ok(None);
        };
        let text = self.at.take_while(|c| c != ';');
        if !self.at.eat(";") {
            return Err(start.error("the bytes have no ';' at their end"));
        }
        decode(text).map(Some).ok_or_else(|| start.error("the bytes cannot be decoded"))
    }

    /// Reads `file,NAME;`. The next characters must be `file,`.
    pub(super) fn file_name(&mut self) -> Result<String> {
        let start = self.at;
        self.at.eat("file,");
        let name = self.template_until(|c| matches!(c, ';' | '\n'))?;
        if !self.at.eat(";") {
            return Err(start.error("the name of the file has no ';' at its end"));
        }
        let name = name.constant().ok_or_else(|| start.error("{{…}} is not supported in the name of a file"))?.trim();
        if name.is_empty() { Err(start.error("the name of the file is missing")) } else { Ok(name.to_owned()) }
    }

    /// Reads JSON with templates, as it is written.
    fn json(&mut self) -> Result<Template> {
        let mut template = Template::default();
        self.json_value(&mut template, 0)?;
        Ok(template)
    }

    fn json_value(&mut self, out: &mut Template, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(self.at.error("this JSON is too deep"));
        }
        match self.at.peek() {
            Some('{') if self.at.rest().starts_with("{{") => {
                let expression = self.expression()?;
                out.0.push(Piece::Value(expression));
                Ok(())
            }
            Some(open @ ('{' | '[')) => self.json_items(out, open, depth),
            Some('"') => self.json_text(out),
            _ => {
                let start = self.at;
                let word = self.at.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
                if serde_json::from_str::<serde_json::Value>(word).is_err() {
                    let rest = shortened(start.rest().lines().next().unwrap_or_default());
                    if depth > 0 {
                        return Err(start.error(format!("this JSON is not understood at '{rest}'")));
                    }
                    return Err(
                        start.error(format!("'{rest}' is not understood here: no section, no body, no request"))
                    );
                }
                word.chars().for_each(|c| out.push(c));
                Ok(())
            }
        }
    }

    /// Reads a list or an object, including its brackets.
    fn json_items(&mut self, out: &mut Template, open: char, depth: usize) -> Result<()> {
        let close = if open == '{' { '}' } else { ']' };
        self.json_char(out);
        self.json_space(out);
        let mut is_first = true;
        while self.at.peek() != Some(close) {
            if !is_first {
                self.json_expect(out, ',')?;
            }
            is_first = false;
            if open == '{' {
                self.json_text(out)?;
                self.json_space(out);
                self.json_expect(out, ':')?;
            }
            self.json_value(out, depth + 1)?;
            self.json_space(out);
        }
        self.json_char(out);
        Ok(())
    }

    fn json_expect(&mut self, out: &mut Template, what: char) -> Result<()> {
        if self.at.peek() != Some(what) {
            return Err(self.at.error(format!("this JSON lacks a '{what}' or does not end")));
        }
        self.json_char(out);
        self.json_space(out);
        Ok(())
    }

    fn json_char(&mut self, out: &mut Template) {
        self.at.next().into_iter().for_each(|c| out.push(c));
    }

    fn json_space(&mut self, out: &mut Template) {
        self.at.take_while(|c| c.is_ascii_whitespace()).chars().for_each(|c| out.push(c));
    }

    /// Reads a string and keeps its escapes.
    fn json_text(&mut self, out: &mut Template) -> Result<()> {
        let start = self.at;
        if self.at.peek() != Some('"') {
            return Err(start.error("this JSON lacks a text in quotes"));
        }
        self.json_char(out);
        let mut is_constant = true;
        loop {
            if self.at.rest().starts_with("{{") {
                is_constant = false;
                let mut expression = self.expression()?;
                expression.filters.push(Filter::JsonEscape);
                out.0.push(Piece::Value(expression));
                continue;
            }
            match self.at.peek() {
                Some('"') => {
                    self.json_char(out);
                    let text = &start.rest()[..start.rest().len() - self.at.rest().len()];
                    if is_constant && serde_json::from_str::<String>(text).is_err() {
                        return Err(start.error(format!("a backslash in {} stands for no character", shortened(text))));
                    }
                    return Ok(());
                }
                Some('\\') => {
                    self.json_char(out);
                    self.json_char(out);
                }
                Some(c) if c >= ' ' => self.json_char(out),
                _ => return Err(start.error("a text in this JSON does not end")),
            }
        }
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    STANDARD.decode(text).ok()
}
