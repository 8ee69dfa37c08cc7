//! The request of a step, split into fixed parts and parts that are filled in.

use std::convert::Infallible;
use std::fmt;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use truetail_engine::{FieldList, RequestParts, contradicts_framing, is_allowed_in_http2, is_header_value};
use truetail_grpc::CallMethod;
use truetail_model::time::Timestamp;

use crate::cookies::{CookieJar, Site};
use crate::scope::Scope;
use crate::syntax::Pair;
use crate::template::{Expression, Piece, RenderError, Template};

/// Characters that are encoded in a path or a query. A percent sign is not, because it belongs to encoded text.
const IN_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'#')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|');
/// Characters that are encoded in a value of a query or form. As in Hurl, users write names in encoded form.
const IN_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const COOKIE: &[u8] = b"Cookie";

/// Header fields that are always the same.
#[derive(Clone, Default)]
pub(crate) struct FixedFields(pub(crate) FieldList);

/// The form that these fields have in the hash of a step: the bytes of lines. Hashes of earlier versions depend on it.
impl fmt::Debug for FixedFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.0.iter().flat_map(|(name, value)| [name, b": ", value, b"\r\n"]);
        f.debug_list().entries(lines.flatten()).finish()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct StepRequest {
    pub(crate) method: String,
    pub(crate) origin: u32,
    /// The part after the origin.
    pub(crate) path: Template,
    pub(crate) query: Vec<Pair>,
    /// Header fields that are always the same.
    pub(crate) fixed: FixedFields,
    pub(crate) headers: Vec<Pair>,
    pub(crate) cookies: Vec<Pair>,
    pub(crate) basic_auth: Option<Pair>,
    pub(crate) body: StepBody,
    /// Sends `Content-Length` even if the body is empty.
    pub(crate) says_length: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum StepBody {
    Bytes(Vec<u8>),
    Text(Template),
    Form(Vec<Pair>),
    /// Parts in sequence: texts between fixed bytes.
    Parts(Vec<(Vec<u8>, Template)>, Vec<u8>),
    /// The message of a call, encoded.
    Message(Vec<u8>),
    /// The message of a call in JSON, which each session encodes.
    JsonMessage(Template, CallMethod),
}

impl StepBody {
    fn is_message(&self) -> bool {
        matches!(self, StepBody::Message(_) | StepBody::JsonMessage(..))
    }

    /// Returns why the message of a call cannot be encoded; `None` if it can, and for other bodies.
    pub(crate) fn problem(&self, scope: &mut Scope) -> Option<String> {
        let StepBody::JsonMessage(json, method) = self else { return None };
        method.body_of_json(json.render(scope).ok()?.as_bytes()).err()
    }

    /// Returns the body as it is written, with its placeholders; empty for a form and for the message of a call.
    pub(crate) fn written(&self) -> Vec<u8> {
        match self {
            StepBody::Bytes(bytes) => bytes.clone(),
            StepBody::Text(template) => template.written().into_bytes(),
            StepBody::Form(_) | StepBody::Parts(..) | StepBody::Message(_) | StepBody::JsonMessage(..) => Vec::new(),
        }
    }
}

/// Context for writing a request.
pub(crate) struct Sender<'a> {
    pub(crate) scope: &'a mut Scope,
    pub(crate) jar: &'a CookieJar,
    /// The destination, for cookies.
    pub(crate) site: &'a Site,
    pub(crate) now: Timestamp,
    /// Buffer that is used again.
    pub(crate) body: &'a mut Vec<u8>,
    /// Output for path and query.
    pub(crate) target: &'a mut String,
    /// The request is for HTTP/2, which does not allow every header.
    pub(crate) is_http2: bool,
}

/// Places in the fields of a written request.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Marks {
    /// Number of fields before the cookies.
    pub(crate) cookies: usize,
    /// Number of fields up to and including the cookies. The length of the body may follow.
    pub(crate) rest: usize,
}

/// Returns the path of a path with a query.
pub(crate) fn path_of(target: &str) -> &str {
    target.split('?').next().unwrap_or_default()
}

impl StepRequest {
    /// Writes the request to `out`, replacing its content.
    pub(crate) fn write(&self, with: &mut Sender<'_>, out: &mut RequestParts) -> Result<Marks, RenderError> {
        out.begin(self.method.as_bytes());
        self.write_path(with, out.buffer())?;
        out.end_path();
        self.fixed.0.iter().for_each(|(name, value)| out.field(name, value));
        for (name, value) in &self.headers {
            write_header(name, value, with, out)?;
        }
        self.write_authorization(with, out)?;
        let cookies = out.field_count();
        out.field_unless_empty(COOKIE, |out| self.write_cookies(with, out))?;
        let rest = out.field_count();
        let body = self.make_body(with)?;
        if self.says_length || !(body.is_empty() || self.body.is_message()) {
            out.field(b"Content-Length", body.len().to_string().as_bytes());
        }
        out.end_head(body);
        Ok(Marks { cookies, rest })
    }

    /// Returns the known start of the path, and whether it is the whole path. `is_known` says which values are fixed.
    pub(crate) fn known_path(&self, scope: &mut Scope, is_known: impl Fn(&Expression) -> bool) -> (String, bool) {
        let mut known = String::new();
        for piece in &self.path.0 {
            let is_whole = match piece {
                Piece::Value(expression) if !is_known(expression) => false,
                _ => render_piece(piece, scope, &mut |text| known.extend(utf8_percent_encode(text, IN_PATH))).is_ok(),
            };
            // A query follows, which does not matter for the path.
            if !is_whole || known.contains('?') {
                return (known, is_whole);
            }
        }
        (known, true)
    }

    fn write_path(&self, with: &mut Sender<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
        let start = out.len();
        for piece in &self.path.0 {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Value(_) => render_piece(piece, with.scope, &mut |text| {
                    utf8_percent_encode(text, IN_PATH).for_each(|part| out.extend_from_slice(part.as_bytes()));
                })?,
            }
        }
        let end = out[start..].iter().position(|byte| *byte == b'?').map_or(out.len(), |at| start + at);
        if out[start..end].windows(2).any(|two| two == b"/.") {
            let tidy = without_dot_segments(&out[start..end]);
            out.splice(start..end, tidy);
        }
        let mut separator = if out[start..].contains(&b'?') { b'&' } else { b'?' };
        for (name, value) in &self.query {
            out.push(std::mem::replace(&mut separator, b'&'));
            write_pair(name, value, with.scope, out)?;
        }
        with.target.clear();
        with.target.push_str(std::str::from_utf8(&out[start..]).map_err(|_| RenderError::NoText)?);
        Ok(())
    }

    fn write_authorization(&self, with: &mut Sender<'_>, out: &mut RequestParts) -> Result<(), RenderError> {
        use base64::Engine as _;
        let Some((user, password)) = &self.basic_auth else { return Ok(()) };
        let credentials = format!("{}:{}", user.render(with.scope)?, password.render(with.scope)?);
        let encoded = base64::engine::general_purpose::STANDARD.encode(credentials);
        out.field(b"Authorization", format!("Basic {encoded}").as_bytes());
        Ok(())
    }

    /// Writes the cookies, if there are any.
    fn write_cookies(&self, with: &mut Sender<'_>, out: &mut Vec<u8>) -> Result<(), RenderError> {
        let start = out.len();
        write_jar(with.jar, with.site, with.target, with.now, out);
        for (name, value) in &self.cookies {
            write_separator(start, out);
            write_field(name, with.scope, out)?;
            out.push(b'=');
            write_field(value, with.scope, out)?;
        }
        Ok(())
    }

    fn make_body<'b>(&'b self, with: &'b mut Sender<'_>) -> Result<&'b [u8], RenderError> {
        let scope = &mut *with.scope;
        let out = &mut *with.body;
        out.clear();
        match &self.body {
            StepBody::Bytes(bytes) | StepBody::Message(bytes) => return Ok(bytes),
            StepBody::Text(template) => {
                template.render_with(scope, &mut |text| out.extend_from_slice(text.as_bytes()))?
            }
            StepBody::JsonMessage(json, method) => {
                json.render_with(scope, &mut |text| out.extend_from_slice(text.as_bytes()))?;
                *out = method.body_of_json(out).map_err(|_| RenderError::NoText)?;
            }
            StepBody::Form(pairs) => {
                for (nth, (name, value)) in pairs.iter().enumerate() {
                    if nth > 0 {
                        out.push(b'&');
                    }
                    write_pair(name, value, scope, out)?;
                }
            }
            StepBody::Parts(parts, end) => {
                for (before, text) in parts {
                    out.extend_from_slice(before);
                    text.render_with(scope, &mut |text| out.extend_from_slice(text.as_bytes()))?;
                }
                out.extend_from_slice(end);
            }
        }
        Ok(out)
    }
}

fn render_piece(piece: &Piece, scope: &mut Scope, put: &mut dyn FnMut(&str)) -> Result<(), RenderError> {
    match piece {
        Piece::Text(text) => put(text),
        Piece::Value(expression) => expression.render(scope, put)?,
    }
    Ok(())
}

/// Adds the cookies for this site, path and query as a field, if there are any.
pub(crate) fn put_jar(jar: &CookieJar, site: &Site, target: &str, now: Timestamp, out: &mut RequestParts) {
    let Ok(()) = out.field_unless_empty(COOKIE, |out| {
        write_jar(jar, site, target, now, out);
        Ok::<_, Infallible>(())
    });
}

/// Writes the cookies for this site, path and query as the value of a field. Writes nothing without cookies.
pub(crate) fn write_jar(jar: &CookieJar, site: &Site, target: &str, now: Timestamp, out: &mut Vec<u8>) {
    let start = out.len();
    jar.each_for(site, path_of(target), now, &mut |name, value| {
        let before = out.len();
        write_separator(start, out);
        let is_written =
            put_checked(name, out).and_then(|()| put_checked("=", out)).and_then(|()| put_checked(value, out));
        if is_written.is_err() {
            out.truncate(before);
        }
    });
}

/// Adds text of a server to a head. All text from answers that is not percent-encoded must pass through this check.
///
/// # Errors
/// The text has a character that would end its line.
pub(crate) fn put_checked(text: &str, out: &mut Vec<u8>) -> Result<(), RenderError> {
    if !is_header_value(text.as_bytes()) {
        return Err(RenderError::NoText);
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Writes the separator between the cookies of a value that begins at `start`.
fn write_separator(start: usize, out: &mut Vec<u8>) {
    if out.len() > start {
        out.extend_from_slice(b"; ");
    }
}

/// Writes a header field. Its name may come from an answer too.
fn write_header(
    name: &Template,
    value: &Template,
    with: &mut Sender<'_>,
    out: &mut RequestParts,
) -> Result<(), RenderError> {
    let is_made = name.constant().is_none();
    write_field(name, with.scope, out.buffer())?;
    out.end_name();
    write_field(value, with.scope, out.buffer())?;
    let (name, value) = out.end_value();
    // The host of a request cannot come from an answer.
    let is_ours = is_made && name.eq_ignore_ascii_case(b"host");
    if is_ours || breaks_framing(name, value) || !is_name(name) || (with.is_http2 && !is_allowed_in_http2(name, value))
    {
        return Err(RenderError::NoText);
    }
    Ok(())
}

fn breaks_framing(name: &[u8], value: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name);
    let value = String::from_utf8_lossy(value);
    contradicts_framing(&name, &value, None).is_some()
}

/// Returns true for a valid name of a header field (RFC 9110, section 5.6.2).
pub(crate) fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Writes the name or value of a header field or cookie. It may come from an answer, so line ends are refused.
fn write_field(template: &Template, scope: &mut Scope, out: &mut Vec<u8>) -> Result<(), RenderError> {
    let mut is_written = Ok(());
    template.render_with(scope, &mut |text| is_written = is_written.and_then(|()| put_checked(text, out)))?;
    is_written
}

fn write_pair(name: &Template, value: &Template, scope: &mut Scope, out: &mut Vec<u8>) -> Result<(), RenderError> {
    let mut put = |template: &Template, encoded: &'static AsciiSet, out: &mut Vec<u8>| {
        template.render_with(scope, &mut |text| {
            utf8_percent_encode(text, encoded).for_each(|part| out.extend_from_slice(part.as_bytes()));
        })
    };
    put(name, IN_PATH, out)?;
    out.push(b'=');
    put(value, IN_VALUE, out)
}

/// Returns a path without the segments `.` and `..` (RFC 3986, section 5.2.4), as Hurl sends it.
fn without_dot_segments(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = path.split(|byte| *byte == b'/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        if segment == b".." {
            kept.pop();
        }
        match segment {
            b"." | b".." if segments.peek().is_some() => {}
            b"." | b".." => kept.push(b""),
            _ => kept.push(segment),
        }
    }
    kept.iter().flat_map(|segment| [b"/", *segment]).flatten().copied().collect()
}

/// Encodes a written path as far as needed. A fragment is left out, because it is never sent.
pub(crate) fn written_path(pieces: Vec<Piece>) -> Template {
    let mut path = Template::default();
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                let kept = text.split('#').next().unwrap_or_default();
                if !kept.is_empty() {
                    path.0.push(Piece::Text(utf8_percent_encode(kept, IN_PATH).to_string()));
                }
                if kept.len() < text.len() {
                    break;
                }
            }
            value => path.0.push(value),
        }
    }
    let begins_right = matches!(path.0.first(), Some(Piece::Text(text)) if text.starts_with('/'));
    if !begins_right {
        path.0.insert(0, Piece::Text("/".to_owned()));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_would_end_a_header_line_is_refused() {
        for text in ["a\r\nX: b", "a\rb", "a\nb", "a\0", "\u{1}", "\u{7f}"] {
            let mut out = b"a".to_vec();
            assert!(put_checked(text, &mut out).is_err(), "{text:?}");
            let site = Site { host: "a".to_owned(), is_secure: true };
            let mut jar = CookieJar::default();
            for field in
                [format!("k={text}"), format!("{text}=v"), format!("k=v; Domain={text}"), format!("k=v; Path=/{text}")]
            {
                jar.set(field.as_bytes(), &site, "/", Timestamp::ZERO);
            }
            assert!(jar.is_empty() && out == b"a", "{text:?}");
            jar.keep_unchecked(text, &site);
            jar.set(b"good=1", &site, "/", Timestamp::ZERO);
            out.clear();
            write_jar(&jar, &site, "/", Timestamp::ZERO, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), "good=1", "{text:?}");
        }
    }

    /// The first is an example of RFC 3986.
    #[test]
    fn paths_have_no_dot_segments() {
        for (path, tidy) in [
            ("/a/b/c/./../../g", "/a/g"),
            ("/a/..", "/"),
            ("/../../a/.", "/a/"),
            ("/.a/b../..c/", "/.a/b../..c/"),
            ("//./b", "//b"),
        ] {
            assert_eq!(without_dot_segments(path.as_bytes()), tidy.as_bytes(), "{path}");
        }
    }
}
