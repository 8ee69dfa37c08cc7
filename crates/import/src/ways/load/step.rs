//! A request of a session, in Hurl's notation.

use std::fmt::Write as _;

use super::text::{Of, Part, written, written_body};
use crate::ways::hurl;

/// Redirects that k6 and JMeter follow unless told otherwise.
const MAX_REDIRECTS: u64 = 10;

/// A request with what is expected of its answer.
#[derive(Clone, Debug)]
pub(in crate::ways) struct Step {
    pub(in crate::ways) name: String,
    pub(in crate::ways) method: String,
    pub(in crate::ways) url: Vec<Part>,
    pub(in crate::ways) headers: Vec<(String, Vec<Part>)>,
    pub(in crate::ways) cookies: Vec<(String, Vec<Part>)>,
    pub(in crate::ways) body: Body,
    /// Longest time for the answer, as a duration.
    pub(in crate::ways) timeout: Option<String>,
    pub(in crate::ways) redirects: Option<u64>,
    /// Variables that keep a value from here on, with its placeholder.
    pub(in crate::ways) variables: Vec<(String, String)>,
    /// The think time before it, such as `uniform 1s..3s`.
    pub(in crate::ways) delay: Option<String>,
    pub(in crate::ways) checks: Checks,
    /// Comments about what is not read, before this request.
    pub(in crate::ways) marks: Vec<String>,
}

/// The body of a request.
#[derive(Clone, Default, Debug)]
pub(in crate::ways) enum Body {
    #[default]
    Nothing,
    Text(Vec<Part>),
    Form(Vec<(String, Vec<Part>)>),
}

/// What is asked and taken of an answer.
#[derive(Clone, Default, Debug)]
pub(in crate::ways) struct Checks {
    pub(in crate::ways) status: Option<u16>,
    /// Asserts in Hurl's notation.
    pub(in crate::ways) asserts: Vec<String>,
    /// Names of captures with the part of the answer that they take.
    pub(in crate::ways) captures: Vec<(String, Of)>,
}

impl Step {
    /// Writes it. `max_redirects` is the script's own limit.
    pub(in crate::ways) fn hurl(&self, max_redirects: Option<u64>) -> String {
        let mut out = format!("# truetail: name {}\n", self.name);
        if let Some(delay) = &self.delay {
            line(&mut out, &format!("# truetail: delay {delay}"));
        }
        self.marks.iter().for_each(|mark| line(&mut out, &format!("# {mark}")));
        line(&mut out, &format!("{} {}", self.method, self.written_url()));
        section(&mut out, None, &self.headers, hurl::key);
        let redirects = self.redirects.or(max_redirects).unwrap_or(MAX_REDIRECTS);
        let kept = self.variables.iter().map(|(name, made)| format!("variable: {name}={{{{{made}}}}}"));
        let mut options: Vec<String> = kept.collect();
        if redirects > 0 {
            options.push("location: true".to_owned());
            options.push(format!("max-redirs: {redirects}"));
        }
        options.extend(self.timeout.as_ref().map(|timeout| format!("max-time: {timeout}")));
        if !options.is_empty() {
            line(&mut out, "[Options]");
            options.iter().for_each(|option| line(&mut out, option));
        }
        section(&mut out, Some("Cookies"), &self.cookies, hurl::key);
        match &self.body {
            Body::Nothing => {}
            // A flow sends a body that is written as JSON with its type.
            Body::Text(parts) if self.has_type() => line(&mut out, &written_body(parts)),
            Body::Text(parts) => line(&mut out, &format!("`{}`", written(parts, hurl::quoted_part))),
            Body::Form(fields) => section(&mut out, Some("Form"), fields, hurl::form_key),
        }
        let status = self.checks.status.map_or_else(|| "*".to_owned(), |status| status.to_string());
        line(&mut out, &format!("HTTP {status}"));
        if !self.checks.captures.is_empty() {
            line(&mut out, "[Captures]");
            self.checks.captures.iter().for_each(|(name, of)| line(&mut out, &format!("{name}: {}", query(of))));
        }
        if !self.checks.asserts.is_empty() {
            line(&mut out, "[Asserts]");
            self.checks.asserts.iter().for_each(|assert| line(&mut out, assert));
        }
        out
    }

    /// Returns the URL. The origin stays as it is, and the rest is encoded as far as a Hurl file needs it.
    pub(in crate::ways) fn written_url(&self) -> String {
        let (first, rest) = match self.url.split_first() {
            Some((Part::Literal(text), rest)) => (text.as_str(), rest),
            _ => return written(&self.url, hurl::path_text),
        };
        let origin_end = first.find("://").map_or(0, |at| {
            let after = at + 3;
            first[after..].find(['/', '?', '#']).map_or(first.len(), |end| after + end)
        });
        let (origin, path) = first.split_at(origin_end);
        let path = path.split('#').next().unwrap_or_default();
        format!("{origin}{}{}", hurl::path_text(path), written(rest, hurl::path_text))
    }

    fn has_type(&self) -> bool {
        self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
    }

    /// Returns all texts of the request.
    pub(super) fn texts(&mut self) -> impl Iterator<Item = &mut Vec<Part>> {
        let (text, form) = match &mut self.body {
            Body::Nothing => (None, None),
            Body::Text(parts) => (Some(parts), None),
            Body::Form(fields) => (None, Some(fields)),
        };
        let pairs = self.headers.iter_mut().chain(&mut self.cookies).chain(form.into_iter().flatten());
        std::iter::once(&mut self.url).chain(text).chain(pairs.map(|(_, value)| value))
    }

    /// Returns true if its URL begins with a placeholder, or names a host in a scheme of HTTP.
    pub(in crate::ways) fn can_be_sent(&self) -> bool {
        let has_method = !self.method.is_empty() && self.method.bytes().all(|byte| byte.is_ascii_uppercase());
        let has_host = match self.url.first() {
            None => false,
            Some(Part::Literal(text)) if self.url.len() > 1 && (text == "http://" || text == "https://") => true,
            Some(Part::Literal(text)) => hurl::split_url(text).is_some(),
            Some(Part::Variable(_) | Part::Made(_)) => true,
        };
        has_method && has_host
    }
}

/// Returns a query of Hurl for a part of an answer.
pub(in crate::ways) fn query(of: &Of) -> String {
    match of {
        Of::Whole | Of::Body | Of::Headers | Of::Timings | Of::Cookies => "body".to_owned(),
        Of::Cookie(name) | Of::CookieList(name) => format!("cookie \"{}\"", hurl::string_part(name)),
        Of::Status => "status".to_owned(),
        Of::BodyLength => "bytes count".to_owned(),
        Of::Header(name) => format!("header \"{name}\""),
        Of::Duration => "duration".to_owned(),
        Of::Member(path) => format!("jsonpath \"${}\"", hurl::string_part(path)),
        Of::Regex(regex) => format!("regex \"{}\"", hurl::string_part(regex)),
    }
}

fn section(out: &mut String, title: Option<&str>, pairs: &[(String, Vec<Part>)], key: fn(&str) -> String) {
    if let Some(title) = title.filter(|_| !pairs.is_empty()) {
        line(out, &format!("[{title}]"));
    }
    for (name, value) in pairs {
        line(out, &format!("{}: {}", key(name), written(value, hurl::value)));
    }
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a String grows");
}
