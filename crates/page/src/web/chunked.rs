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
    // Number of bytes that were taken. They are removed before more is read, and not for each chunk.
    let mut taken = 0;
    let mut more = |pending: &mut Vec<u8>, taken: &mut usize| {
        pending.drain(..std::mem::take(taken));
        more(pending)
    };
    loop {
        let (line, size) = loop {
            match httparse::parse_chunk_size(&pending[taken..]) {
                Ok(Status::Complete(found)) => break found,
                Ok(Status::Partial) if pending.len() - taken <= LONGEST_LINE => more(pending, &mut taken)?,
                Ok(Status::Partial) | Err(_) => return Err(WRONG),
            }
        };
        taken += line;
        if size == 0 {
            pending.drain(..taken);
            let mut more = |pending: &mut Vec<u8>| more(pending, &mut 0);
            skip_trailers(pending, &mut more)?;
            return Ok(body);
        }
        let size = usize::try_from(size).ok().filter(|size| *size <= longest - body.len()).ok_or(TOO_LONG)?;
        while pending.len() - taken < size + 2 {
            more(pending, &mut taken)?;
        }
        let (chunk, end) = pending[taken..taken + size + 2].split_at(size);
        if end != b"\r\n" {
            return Err(WRONG);
        }
        body.extend_from_slice(chunk);
        taken += size + 2;
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
