//! A body in chunks (RFC 9112, section 7.1).

use httparse::Status;

use super::no_request::{NoRequest, TOO_LONG};

/// Limit on the bytes of the line before a chunk, and of all trailer fields.
const LONGEST_LINE: usize = 4 << 10;

/// Removes a body of at most `longest` bytes from `pending`, and returns it. `more` reads further bytes into `pending`.
pub(super) fn read(
    pending: &mut Vec<u8>,
    longest: usize,
    more: &mut impl FnMut(&mut Vec<u8>) -> Result<(), NoRequest>,
) -> Result<Vec<u8>, NoRequest> {
    const WRONG: NoRequest = NoRequest::Refused(400, "the body has a chunk without its length or its end");
    let mut body = Vec::new();
    loop {
        let (line, size) = loop {
            match httparse::parse_chunk_size(pending) {
                Ok(Status::Complete(found)) => break found,
                Ok(Status::Partial) if pending.len() <= LONGEST_LINE => more(pending)?,
                Ok(Status::Partial) | Err(_) => return Err(WRONG),
            }
        };
        pending.drain(..line);
        if size == 0 {
            skip_trailers(pending, more)?;
            return Ok(body);
        }
        let size = usize::try_from(size).ok().filter(|size| *size <= longest - body.len()).ok_or(TOO_LONG)?;
        while pending.len() < size + 2 {
            more(pending)?;
        }
        if &pending[size..size + 2] != b"\r\n" {
            return Err(WRONG);
        }
        body.extend(pending.drain(..size + 2).take(size));
    }
}

/// Removes the trailer fields up to the empty line after them.
fn skip_trailers(
    pending: &mut Vec<u8>,
    more: &mut impl FnMut(&mut Vec<u8>) -> Result<(), NoRequest>,
) -> Result<(), NoRequest> {
    const TOO_MANY: NoRequest = NoRequest::Refused(431, "the body has too many trailer fields");
    let mut skipped = 0;
    while skipped <= LONGEST_LINE {
        match pending.windows(2).position(|end| end == b"\r\n") {
            Some(length) => {
                pending.drain(..length + 2);
                skipped += length;
                if length == 0 {
                    return Ok(());
                }
            }
            None if pending.len() > LONGEST_LINE => return Err(TOO_MANY),
            None => more(pending)?,
        }
    }
    Err(TOO_MANY)
}
