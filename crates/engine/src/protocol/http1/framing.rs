//! The end of the body of an answer (RFC 9112, section 6.3). It is read strictly, because a load test that guesses a
//! length measures its guess.

use httparse::Header;
use truetail_model::record::Cause;

/// Method of finding the end of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Framing {
    /// After this number of bytes; 0 for answers without a body.
    Length(u64),
    Chunked,
    UntilClose,
}

/// Statements of a head about the connection and the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HeadSays {
    pub(super) framing: Framing,
    pub(super) keep_alive: bool,
}

/// Reads the fields of a final answer. `version` is the minor version of HTTP/1.
pub(super) fn read(status: u16, version: u8, headers: &[Header<'_>], is_head_request: bool) -> Result<HeadSays, Cause> {
    let mut length = None;
    let mut coding = None;
    let mut close = false;
    let mut keep = false;
    for header in headers {
        if header.name.eq_ignore_ascii_case("content-length") {
            length = Some(content_length(header.value, length)?);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            // The last of several fields decides, because its coding was applied last.
            coding = last_coding_is_chunked(header.value).or(coding).or(Some(false));
        } else if header.name.eq_ignore_ascii_case("connection") {
            close |= has_token(header.value, b"close");
            keep |= has_token(header.value, b"keep-alive");
        }
    }
    let has_no_body = is_head_request || status == 204 || status == 304;
    // The contradiction matters only if there is a body.
    if length.is_some() && coding.is_some() && !has_no_body {
        return Err(Cause::BadLength);
    }
    let framing = match (coding, length) {
        _ if has_no_body => Framing::Length(0),
        (Some(true), _) => Framing::Chunked,
        (Some(false), _) => Framing::UntilClose,
        (None, Some(length)) => Framing::Length(length),
        (None, None) => Framing::UntilClose,
    };
    // HTTP/1.0 has no transfer codings, so a server that sends one has its framing wrong (RFC 9112, section 6.1).
    let persistent = if version == 0 { keep && !close && coding.is_none() } else { !close };
    Ok(HeadSays { framing, keep_alive: persistent && framing != Framing::UntilClose })
}

/// Reads one value, or the same value several times. Different values are an error.
fn content_length(value: &[u8], before: Option<u64>) -> Result<u64, Cause> {
    let mut length = before;
    for part in value.split(|b| *b == b',') {
        let digits = part.trim_ascii();
        let number = decimal(digits).ok_or(Cause::BadLength)?;
        if length.is_some_and(|length| length != number) {
            return Err(Cause::BadLength);
        }
        length = Some(number);
    }
    length.ok_or(Cause::BadLength)
}

/// Returns the number; `None` if there is a sign, another character or an overflow.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, digit| {
        let value = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(value)
    })
}

/// Returns true if the last coding is chunked; `None`: no coding. Ignores empty elements (RFC 9110, section 5.6.1).
fn last_coding_is_chunked(value: &[u8]) -> Option<bool> {
    let last = value.rsplit(|b| *b == b',').map(<[u8]>::trim_ascii).find(|coding| !coding.is_empty())?;
    Some(last.eq_ignore_ascii_case(b"chunked"))
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|b| *b == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}
