//! The body of a request.

use super::Refusal;

/// Maximum number of bytes between the data of two chunks: size lines, extensions and trailers.
const MAX_CHUNK_OVERHEAD: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Body(State);

#[derive(Clone, Copy, Debug)]
enum State {
    /// Number of bytes left.
    Length(u64),
    /// A position in the chunked coding; `between` counts the bytes since the data of the last chunk.
    Chunked { at: Chunk, between: usize },
}

/// Position of the next byte in the chunked coding (RFC 9112, section 7.1).
#[derive(Clone, Copy, Debug)]
enum Chunk {
    /// Digits of a size; `None` before the first digit.
    Size(Option<u64>),
    /// Rest of the size line, after the digits.
    Extension(u64),
    /// Data of a chunk, with the number of bytes left.
    Data(u64),
    /// Line break after the data.
    DataEnd,
    /// Trailers; `blank` is true while the current line is empty.
    Trailer { blank: bool },
    /// End of the body.
    Over,
}

impl Body {
    pub(crate) fn with_length(length: u64) -> Body {
        Body(State::Length(length))
    }

    pub(crate) fn chunked() -> Body {
        Body(State::Chunked { at: Chunk::Size(None), between: 0 })
    }

    /// Returns true if no more bytes belong to the body.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.0, State::Length(0) | State::Chunked { at: Chunk::Over, .. })
    }

    /// Takes the part of `bytes` that belongs to the body, passes its data to `on_data`, and returns its length.
    pub(crate) fn read(&mut self, bytes: &[u8], on_data: &mut impl FnMut(&[u8])) -> Result<usize, Refusal> {
        match &mut self.0 {
            State::Length(left) => {
                let taken = at_most(*left, bytes.len());
                *left -= taken as u64;
                on_data(&bytes[..taken]);
                Ok(taken)
            }
            State::Chunked { at, between } => read_chunks(at, between, bytes, on_data),
        }
    }
}

fn at_most(limit: u64, available: usize) -> usize {
    usize::try_from(limit).map_or(available, |limit| limit.min(available))
}

fn read_chunks(
    at: &mut Chunk,
    between: &mut usize,
    bytes: &[u8],
    on_data: &mut impl FnMut(&[u8]),
) -> Result<usize, Refusal> {
    let mut taken = 0;
    while taken < bytes.len() && !matches!(at, Chunk::Over) {
        if let Chunk::Data(left) = *at {
            let length = at_most(left, bytes.len() - taken);
            on_data(&bytes[taken..taken + length]);
            taken += length;
            *between = 0;
            *at = if left == length as u64 { Chunk::DataEnd } else { Chunk::Data(left - length as u64) };
        } else {
            *at = after(*at, bytes[taken])?;
            taken += 1;
            *between += 1;
            if *between > MAX_CHUNK_OVERHEAD {
                return Err(Refusal::TooLarge);
            }
        }
    }
    Ok(taken)
}

/// Returns the position after `byte`. The rest of a size line after the digits is ignored.
fn after(at: Chunk, byte: u8) -> Result<Chunk, Refusal> {
    Ok(match (at, byte) {
        (Chunk::Size(Some(0)) | Chunk::Extension(0), b'\n') => Chunk::Trailer { blank: true },
        (Chunk::Size(Some(size)) | Chunk::Extension(size), b'\n') => Chunk::Data(size),
        (Chunk::Size(Some(size)), b'\r' | b';' | b' ' | b'\t') => Chunk::Extension(size),
        (Chunk::Size(size), digit) => Chunk::Size(Some(with_digit(size.unwrap_or(0), digit)?)),
        (Chunk::Extension(size), _) => Chunk::Extension(size),
        (Chunk::DataEnd, b'\r') => Chunk::DataEnd,
        (Chunk::DataEnd, b'\n') => Chunk::Size(None),
        (Chunk::Trailer { blank: true }, b'\n') => Chunk::Over,
        (Chunk::Trailer { .. }, b'\n') => Chunk::Trailer { blank: true },
        (Chunk::Trailer { blank }, b'\r') => Chunk::Trailer { blank },
        (Chunk::Trailer { .. }, _) => Chunk::Trailer { blank: false },
        (Chunk::DataEnd | Chunk::Data(_) | Chunk::Over, _) => return Err(Refusal::Malformed),
    })
}

fn with_digit(size: u64, digit: u8) -> Result<u64, Refusal> {
    let value = char::from(digit).to_digit(16).ok_or(Refusal::Malformed)?;
    size.checked_mul(16).map(|size| size + u64::from(value)).ok_or(Refusal::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feeds `bytes` in pieces. Returns the number of bytes taken, and true if the body was complete then.
    fn feed(body: Body, bytes: &[u8], piece: usize) -> Result<(usize, bool), Refusal> {
        feed_all(body, bytes, piece).map(|(taken, is_over, _)| (taken, is_over))
    }

    /// Feeds `bytes` as [`feed`] does, and also returns the data.
    fn feed_all(mut body: Body, bytes: &[u8], piece: usize) -> Result<(usize, bool, Vec<u8>), Refusal> {
        let mut taken = 0;
        let mut data = Vec::new();
        for part in bytes.chunks(piece.max(1)) {
            let of_part = body.read(part, &mut |more| data.extend_from_slice(more))?;
            taken += of_part;
            if of_part < part.len() {
                break;
            }
        }
        Ok((taken, body.is_over(), data))
    }

    #[test]
    fn bodies_end_where_they_should() {
        let whole = b"4\r\nwiki\r\n5;name=\"v\"\r\npedia\r\nE \r\n in\r\n\r\nchunks.\r\n0\r\nX: y\r\n\r\nGET";
        for piece in 1..whole.len() {
            let expected = (whole.len() - 3, true, b"wikipedia in\r\n\r\nchunks.".to_vec());
            assert_eq!(feed_all(Body::chunked(), whole, piece), Ok(expected), "{piece}");
        }
        assert_eq!(feed(Body::with_length(5), b"12345GET", 3), Ok((5, true)));
        assert_eq!(feed(Body::with_length(9), b"12345", 2), Ok((5, false)));
        assert!(Body::with_length(0).is_over());
    }

    #[test]
    fn broken_chunks() {
        for bytes in [&b"\r\n"[..], b"x\r\n", b"-1\r\n", b"4\r\nwikiX", b"10000000000000000\r\n"] {
            assert_eq!(feed(Body::chunked(), bytes, 1), Err(Refusal::Malformed), "{bytes:?}");
        }
        let endless = [b"1;".to_vec(), vec![b'x'; MAX_CHUNK_OVERHEAD]].concat();
        assert_eq!(feed(Body::chunked(), &endless, 100), Err(Refusal::TooLarge));
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_the_same_in_any_pieces(bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1..50usize) {
            prop_assert_eq!(feed_all(Body::chunked(), &bytes, piece), feed_all(Body::chunked(), &bytes, 1));
        }
    }
}
