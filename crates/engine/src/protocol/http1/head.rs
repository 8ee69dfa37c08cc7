//! The head of an answer: status line and header fields.

use std::mem::MaybeUninit;

use httparse::{Error, Header, ParserConfig, Response, Status};
use truetail_model::record::Cause;

use super::framing::{self, Framing};
use crate::protocol::fields::FieldList;

/// Longest head that is accepted. Each interim answer counts separately.
pub(crate) const HEAD_LIMIT: usize = 64 * 1024;
const FIELD_LIMIT: usize = 1024;

/// Limit on the bytes shown of an invalid line.
const ODD_LINE_SHOWN: usize = 80;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub(super) length: usize,
    pub(super) status: u16,
    pub(super) framing: Framing,
    pub(super) keep_alive: bool,
    /// True if lines that are not header fields were skipped.
    pub(super) has_odd_lines: bool,
}

/// Parses the head at the start of `bytes`. Returns `None` if its end is missing and it is not too long. Skips lines
/// that are not header fields, such as an interpreter's warning or a value with a control character. Refuses such a
/// line if it may define the end of the body.
pub(super) fn parse_head(bytes: &[u8], is_head_request: bool) -> Result<Option<Head>, Cause> {
    // httparse would skip a blank line before a head, which is not allowed.
    if bytes.first().is_some_and(|first| *first != b'H') {
        return Err(Cause::BadHead);
    }
    let bytes = &bytes[..bytes.len().min(HEAD_LIMIT + 1)];
    let mut fields = [const { MaybeUninit::<Header<'_>>::uninit() }; FIELD_LIMIT];
    match parse_with(OddLines::Refused, bytes, is_head_request, &mut fields) {
        Err(Cause::BadHead) => parse_with(OddLines::Skipped, bytes, is_head_request, &mut fields),
        parsed => parsed,
    }
}

fn parse_with<'a>(
    odd_lines: OddLines,
    bytes: &'a [u8],
    is_head_request: bool,
    fields: &mut [MaybeUninit<Header<'a>>],
) -> Result<Option<Head>, Cause> {
    let mut response = Response::new(&mut []);
    let length = match parser_config(odd_lines).parse_response_with_uninit_headers(&mut response, bytes, fields) {
        Ok(Status::Complete(length)) if length <= HEAD_LIMIT => length,
        Ok(Status::Partial) if bytes.len() <= HEAD_LIMIT => return Ok(None),
        Ok(_) | Err(Error::TooManyHeaders) => return Err(Cause::HeadTooLarge),
        Err(_) => return Err(Cause::BadHead),
    };
    let (Some(status), Some(version)) = (response.code, response.version) else { return Err(Cause::BadHead) };
    let has_odd_lines = odd_lines == OddLines::Skipped;
    if has_odd_lines && skipped_lines(&bytes[..length], response.headers).any(may_say_where_the_body_ends) {
        return Err(Cause::BadHead);
    }
    // Interim answers never have a body.
    if (100..200).contains(&status) {
        let framing = Framing::Length(0);
        return Ok(Some(Head { length, status, framing, keep_alive: true, has_odd_lines }));
    }
    let says = framing::read(status, version, response.headers, is_head_request)?;
    Ok(Some(Head { length, status, framing: says.framing, keep_alive: says.keep_alive, has_odd_lines }))
}

/// Treatment of lines that are not header fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OddLines {
    Refused,
    Skipped,
}

#[inline]
fn parser_config(odd_lines: OddLines) -> ParserConfig {
    let mut config = ParserConfig::default();
    // A user agent must accept a field that is folded over several lines (RFC 9112, section 5.2), and may accept
    // several spaces in the status line (section 4).
    config.allow_obsolete_multiline_headers_in_responses(true);
    config.allow_multiple_spaces_in_response_status_delimiters(true);
    config.ignore_invalid_headers_in_responses(odd_lines == OddLines::Skipped);
    config
}

/// Returns the lines after the status line of `head` that belong to none of `fields`, without blank lines.
fn skipped_lines<'a>(head: &'a [u8], fields: &[Header<'a>]) -> impl Iterator<Item = &'a [u8]> {
    let mut names = fields.iter().map(|field| field.name.as_ptr()).peekable();
    let mut is_field = false;
    head.split(|byte| *byte == b'\n').skip(1).filter(move |line| {
        // A folded line belongs to the line before it.
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            is_field = names.next_if_eq(&line.as_ptr()).is_some();
        }
        !is_field && !line.trim_ascii().is_empty()
    })
}

/// Returns true if other readers may find the body's length or coding in this line: its name differs from that of such
/// a field only in characters that a name must not have.
fn may_say_where_the_body_ends(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    let letters: Vec<u8> = name.iter().filter(|byte| byte.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    letters == b"contentlength" || letters == b"transferencoding"
}

/// Returns the first skipped line of a parsed head, for people.
pub(super) fn first_odd_line(bytes: &[u8]) -> Option<String> {
    let mut fields = [const { MaybeUninit::<Header<'_>>::uninit() }; FIELD_LIMIT];
    let mut response = Response::new(&mut []);
    let config = parser_config(OddLines::Skipped);
    config.parse_response_with_uninit_headers(&mut response, bytes, &mut fields).ok()?;
    skipped_lines(bytes, response.headers).next().map(shown_line)
}

/// Returns the line that caused the refusal of a head beginning with `bytes`, for people. `None` if no line did.
pub(crate) fn refused_line(bytes: &[u8]) -> Option<String> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let is_refused = |head: &[u8]| parse_head(head, false) == Err(Cause::BadHead);
    let status = lines.next()?;
    if is_refused(&[status, b"\r\n"].concat()) {
        return Some(shown_line(status));
    }
    let mut fields = lines.take_while(|line| !line.trim_ascii().is_empty());
    fields.find(|line| is_refused(&[b"HTTP/1.1 204 \r\nA: b\r\n", *line, b"\r\n"].concat())).map(shown_line)
}

/// Returns a line of an answer for people, shortened.
pub(crate) fn shown_line(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(ODD_LINE_SHOWN)]);
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.trim().chars().map(shown).collect()
}

/// Adds the header fields of a head that was parsed before.
pub(crate) fn head_fields(bytes: &[u8], list: &mut FieldList) {
    let mut fields = [const { MaybeUninit::<Header<'_>>::uninit() }; FIELD_LIMIT];
    let mut response = Response::new(&mut []);
    let config = parser_config(OddLines::Skipped);
    if config.parse_response_with_uninit_headers(&mut response, bytes, &mut fields).is_ok() {
        response.headers.iter().for_each(|field| list.push_unfolded(field.name.as_bytes(), field.value));
    }
}

/// Calls `found` with the value of each field of a head that was parsed before, if its name is one of `names` in any
/// case, and with the place of the name among them. A value that is folded over several lines ends with its first.
pub(crate) fn values_in_head(bytes: &[u8], names: &[impl AsRef<[u8]>], found: &mut dyn FnMut(usize, &[u8])) {
    let mut rest = bytes;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        rest = &rest[end + 1..];
        for (nth, name) in names.iter().map(AsRef::as_ref).enumerate() {
            let Some((start, after)) = rest.split_at_checked(name.len()) else { continue };
            if after.first() == Some(&b':') && start.eq_ignore_ascii_case(name) {
                let line = &after[1..memchr::memchr(b'\n', after).unwrap_or(after.len())];
                found(nth, line.trim_ascii());
            }
        }
    }
}

/// Returns true if `bytes` contains an empty line, with or without carriage returns.
pub(super) fn has_blank_line(bytes: &[u8]) -> bool {
    let mut line_ends = memchr::memchr_iter(b'\n', bytes);
    line_ends.any(|end| matches!(bytes[end + 1..], [b'\n', ..] | [b'\r', b'\n', ..]))
}
