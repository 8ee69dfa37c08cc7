//! The head of an answer: status line and header fields.

use std::mem::MaybeUninit;

use httparse::{Error, Header, ParserConfig, Response, Status};
use truetail_model::record::Cause;

use super::framing::{self, Framing};
use crate::protocol::fields::FieldList;

/// Longest head that is accepted, interim answers each counted by themselves.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;
/// Most header fields of one head.
const FIELD_LIMIT: usize = 128;

/// A head that was parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub(super) length: usize,
    pub(super) status: u16,
    pub(super) framing: Framing,
    pub(super) keep_alive: bool,
}

/// Parses the head at the beginning of `bytes`. `None` while it has no end and is not too long.
pub(super) fn parse_head(bytes: &[u8], is_head_request: bool) -> Result<Option<Head>, Cause> {
    // A blank line before a head, which httparse would skip, is none of it.
    if bytes.first().is_some_and(|first| *first != b'H') {
        return Err(Cause::BadHead);
    }
    let bytes = &bytes[..bytes.len().min(HEAD_LIMIT + 1)];
    let mut fields = [const { MaybeUninit::<Header<'_>>::uninit() }; FIELD_LIMIT];
    let mut response = Response::new(&mut []);
    let length = match parser_config().parse_response_with_uninit_headers(&mut response, bytes, &mut fields) {
        Ok(Status::Complete(length)) if length <= HEAD_LIMIT => length,
        Ok(Status::Partial) if bytes.len() <= HEAD_LIMIT => return Ok(None),
        Ok(_) | Err(Error::TooManyHeaders) => return Err(Cause::HeadTooLarge),
        Err(_) => return Err(Cause::BadHead),
    };
    let (Some(status), Some(version)) = (response.code, response.version) else { return Err(Cause::BadHead) };
    // Interim answers have no body whatever their fields say.
    if (100..200).contains(&status) {
        return Ok(Some(Head { length, status, framing: Framing::Length(0), keep_alive: true }));
    }
    let says = framing::read(status, version, response.headers, is_head_request)?;
    Ok(Some(Head { length, status, framing: says.framing, keep_alive: says.keep_alive }))
}

#[inline]
fn parser_config() -> ParserConfig {
    let mut config = ParserConfig::default();
    // A user agent must accept what folds a field over several lines (RFC 9112, section 5.2).
    config.allow_obsolete_multiline_headers_in_responses(true);
    config
}

/// Adds the header fields of a head that was parsed before.
pub(crate) fn head_fields(bytes: &[u8], list: &mut FieldList) {
    let mut fields = [const { MaybeUninit::<Header<'_>>::uninit() }; FIELD_LIMIT];
    let mut response = Response::new(&mut []);
    if parser_config().parse_response_with_uninit_headers(&mut response, bytes, &mut fields).is_ok() {
        response.headers.iter().for_each(|field| list.push_unfolded(field.name.as_bytes(), field.value));
    }
}

/// There is an empty line in `bytes`, with or without carriage returns.
pub(super) fn has_blank_line(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|w| w == b"\n\n") || bytes.windows(3).any(|w| w == b"\n\r\n")
}
