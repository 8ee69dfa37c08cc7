//! Parser for a request and its sections.

use super::cursor::shortened;
use super::{Parser, Result, is_about_cookies};
use crate::error::FlowError;
use crate::syntax::{Entry, Expected, Field, Options, Pair, Parts};
use crate::template::Template;

impl Parser<'_> {
    /// Reads a request and its expected answer. The method comes next.
    pub(super) fn entry(&mut self) -> Result<Entry> {
        let line = self.at.line();
        // Remarks that are read after this belong to the next request.
        let remarks = std::mem::take(&mut self.remarks);
        if let Some((line, remark)) = remarks.iter().find(|(_, remark)| is_about_cookies(remark)) {
            return Err(FlowError::new(*line, format!("the comment '{}' is not supported", shortened(remark))));
        }
        let method = self.method()?;
        let url = self.url()?;
        let mut entry = Entry {
            line,
            name: None,
            method,
            url,
            headers: self.headers()?,
            parts: Parts::default(),
            options: Options::default(),
            body: None,
            response: None,
        };
        self.sections(&mut entry)?;
        self.apply_remarks(remarks, &mut entry)?;
        if !self.is_at_response() && !self.is_at_request() {
            entry.body = self.body()?;
            self.skip_blank();
        }
        if self.is_at_response() {
            entry.response = Some(self.expected()?);
        }
        self.skip_blank();
        if !self.at.is_at_end() && !self.is_at_request() {
            let rest = shortened(self.at.rest().lines().next().unwrap_or_default());
            return Err(self.at.error(format!("'{rest}' is not understood here; a request begins with its method")));
        }
        Ok(entry)
    }

    fn method(&mut self) -> Result<String> {
        let start = self.at;
        let method = self.at.take_while(|c| c.is_ascii_uppercase());
        if method.is_empty() || !self.at.skip_spaces() {
            let rest = shortened(start.rest().lines().next().unwrap_or_default());
            return Err(start.error(format!("'{rest}' is no request; write a method and a URL, such as GET http://…")));
        }
        if matches!(method, "CONNECT") {
            return Err(start.error("CONNECT is not supported: it opens a tunnel and asks for nothing"));
        }
        Ok(method.to_owned())
    }

    fn url(&mut self) -> Result<Template> {
        let start = self.at;
        let url = self.value_text()?;
        if url.0.is_empty() { Err(start.error("the URL is missing")) } else { Ok(url) }
    }

    /// Reads all header lines that come next.
    pub(super) fn headers(&mut self) -> Result<Vec<Pair>> {
        let mut headers = Vec::new();
        self.skip_blank();
        while self.is_at_pair() {
            headers.push(self.pair()?);
            self.skip_blank();
        }
        Ok(headers)
    }

    /// Reads `name: value`.
    fn pair(&mut self) -> Result<Pair> {
        let key = self.key()?;
        Ok((key, self.value_text()?))
    }

    /// Returns true if a line `name: value` comes next, and not a body, a section or an answer that looks like one.
    pub(super) fn is_at_pair(&self) -> bool {
        let line = self.at.rest().lines().next().unwrap_or_default();
        let begins =
            line.starts_with(|c: char| c.is_ascii_alphanumeric() || "_-.@$\\".contains(c)) || line.starts_with("{{");
        begins && !self.is_at_request() && !self.is_at_response() && has_colon(line)
    }

    /// Returns true if the next line begins a request.
    pub(super) fn is_at_request(&self) -> bool {
        let line = self.at.rest().lines().next().unwrap_or_default();
        let method = line.len() - line.trim_start_matches(|c: char| c.is_ascii_uppercase()).len();
        method > 0 && line[method..].starts_with([' ', '\t']) && !self.is_at_response()
    }

    /// Returns true if a line such as `HTTP 200` comes next.
    pub(super) fn is_at_response(&self) -> bool {
        let after = self.at.rest().strip_prefix("HTTP");
        after.is_some_and(|rest| rest.starts_with([' ', '\t', '/']))
    }

    /// Reads the name of a section, if one comes next. A section in `seen` is an error.
    pub(super) fn section(&mut self, seen: &mut Vec<&'static str>) -> Result<Option<&'static str>> {
        const KNOWN: [&str; 12] = [
            "QueryStringParams",
            "Query",
            "FormParams",
            "Form",
            "MultipartFormData",
            "Multipart",
            "Cookies",
            "BasicAuth",
            "Options",
            "Captures",
            "Asserts",
            "",
        ];
        let mut ahead = self.at;
        if !ahead.eat("[") {
            return Ok(None);
        }
        let name = ahead.take_while(|c| c.is_ascii_alphabetic());
        if name.is_empty() || !ahead.eat("]") || ahead.end_line().is_err() {
            return Ok(None);
        }
        match KNOWN.into_iter().find(|known| *known == name) {
            Some(known) if seen.contains(&known) => Err(self.at.error(format!("there is a second [{known}]"))),
            Some(known) => {
                seen.push(known);
                self.at = ahead;
                self.skip_blank();
                Ok(Some(known))
            }
            None => Err(self.at.error(format!("there is no section [{}]", shortened(name)))),
        }
    }

    fn sections(&mut self, entry: &mut Entry) -> Result<()> {
        let mut seen = Vec::new();
        loop {
            let start = self.at;
            let parts = &mut entry.parts;
            match self.section(&mut seen)? {
                None => {
                    // An empty section counts as absent.
                    parts.form.take_if(|form| form.is_empty());
                    parts.multipart.take_if(|fields| fields.is_empty());
                    return Ok(());
                }
                Some("QueryStringParams" | "Query") => parts.query.extend(self.headers()?),
                Some("FormParams" | "Form") => parts.form.get_or_insert_default().extend(self.headers()?),
                Some("MultipartFormData" | "Multipart") => {
                    let fields = self.fields()?;
                    parts.multipart.get_or_insert_default().extend(fields);
                }
                Some("Cookies") => parts.cookies.extend(self.headers()?),
                Some("BasicAuth") => {
                    let mut pairs = self.headers()?;
                    if pairs.len() > 1 {
                        return Err(start.error("[BasicAuth] has one line, user: password"));
                    }
                    parts.basic_auth = pairs.pop();
                }
                Some("Options") => self.options(&mut entry.options)?,
                Some(other) => {
                    return Err(start.error(format!("[{other}] belongs to an answer; write HTTP 200 before it")));
                }
            }
        }
    }

    fn fields(&mut self) -> Result<Vec<(Template, Field)>> {
        let mut fields = Vec::new();
        while self.is_at_pair() {
            let key = self.key()?;
            self.at.skip_spaces();
            let field =
                if self.at.rest().starts_with("file,") { self.file_field()? } else { Field::Text(self.value_text()?) };
            fields.push((key, field));
            self.skip_blank();
        }
        Ok(fields)
    }

    /// Reads `file,NAME; TYPE`.
    fn file_field(&mut self) -> Result<Field> {
        let path = self.file_name()?;
        self.at.skip_spaces();
        let content_type = self.at.take_while(|c| !matches!(c, '#' | '\n' | '\r')).trim();
        let content_type = (!content_type.is_empty()).then(|| content_type.to_owned());
        self.at.end_line()?;
        Ok(Field::File { path, content_type })
    }

    fn expected(&mut self) -> Result<Expected> {
        self.expected_answer()
    }
}

/// Returns true if the line has a colon outside of templates and before any comment.
fn has_colon(line: &str) -> bool {
    let mut rest = line;
    let mut depth = 0_usize;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("{{") || rest.starts_with("}}") {
            depth = if c == '{' { depth + 1 } else { depth.saturating_sub(1) };
            rest = &rest[2..];
            continue;
        }
        match c {
            ':' if depth == 0 => return true,
            '#' if depth == 0 => return false,
            _ => rest = &rest[c.len_utf8()..],
        }
    }
    false
}
