//! The chunked coding (RFC 9112, section 7.1).

use truetail_model::record::Cause;

use super::part::Part;

/// Limit on each of these: the blanks on the line of a chunk, the extensions on that line, and all lines of trailers
/// together. In bytes.
const LINE_LIMIT: u32 = 16 * 1024;
/// Hexadecimal digits of a chunk size that fit into 64 bits.
const MAX_DIGITS: u8 = 16;

/// Position of the next byte in the coding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Size {
        digits: u8,
    },
    /// Blanks after a size.
    Blank {
        length: u32,
    },
    Extension {
        length: u32,
    },
    SizeLineFeed,
    Data,
    DataReturn,
    DataLineFeed,
    /// In the trailers, `line` bytes into a line.
    Trailer {
        line: u32,
    },
    TrailerLineFeed {
        line: u32,
    },
}

/// A decoder that keeps only its position. Its caller keeps the trailers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Chunked {
    at: At,
    /// Bytes left of the chunk, or its size while the size is being read.
    left: u64,
    trailers: u32,
}

impl Chunked {
    pub(super) fn new() -> Chunked {
        Chunked { at: At::Size { digits: 0 }, left: 0, trailers: 0 }
    }

    /// Decodes bytes until the coding ends, and passes the data to `on_part`. Adds the lines of trailers to `trailers`,
    /// which must be empty before the first call, and passes all of them on at the end. Returns the number of bytes
    /// used, and true if the end is among them.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        trailers: &mut Vec<u8>,
        on_part: &mut impl FnMut(Part<'_>),
    ) -> Result<(usize, bool), Cause> {
        let mut used = 0;
        while used < bytes.len() {
            if self.at == At::Data {
                let take = self.left.min((bytes.len() - used) as u64);
                self.left -= take;
                on_part(Part::Body(&bytes[used..used + take as usize]));
                used += take as usize;
                if self.left == 0 {
                    self.at = At::DataReturn;
                    on_part(Part::ChunkEnd);
                }
                continue;
            }
            let before = self.trailers;
            let ended = self.step(bytes[used])?;
            if self.trailers > before {
                trailers.push(bytes[used]);
            }
            used += 1;
            if ended {
                if !trailers.is_empty() {
                    on_part(Part::Trailers(trailers));
                }
                return Ok((used, true));
            }
        }
        Ok((used, false))
    }

    /// Takes one byte that is not data. Returns true if it is the last of the coding.
    fn step(&mut self, byte: u8) -> Result<bool, Cause> {
        self.at = match (self.at, byte) {
            (At::Size { digits }, _) => self.size(digits, byte)?,
            (At::Blank { .. } | At::Extension { .. }, b'\r') => At::SizeLineFeed,
            (At::Blank { .. }, b';') => At::Extension { length: 0 },
            (At::Blank { length }, b' ' | b'\t') if length < LINE_LIMIT => At::Blank { length: length + 1 },
            (At::Extension { length }, _) if byte != b'\n' && length < LINE_LIMIT => {
                At::Extension { length: length + 1 }
            }
            (At::SizeLineFeed, b'\n') if self.left > 0 => At::Data,
            (At::SizeLineFeed, b'\n') => At::Trailer { line: 0 },
            (At::DataReturn, b'\r') => At::DataLineFeed,
            (At::DataLineFeed, b'\n') => At::Size { digits: 0 },
            (At::Trailer { line }, b'\r') => At::TrailerLineFeed { line },
            (At::Trailer { line }, _) if byte != b'\n' && self.trailers < LINE_LIMIT => {
                self.trailers += 1;
                At::Trailer { line: line + 1 }
            }
            (At::TrailerLineFeed { line: 0 }, b'\n') => return Ok(true),
            (At::TrailerLineFeed { .. }, b'\n') => {
                self.trailers += 1;
                At::Trailer { line: 0 }
            }
            _ => return Err(Cause::BadChunk),
        };
        Ok(false)
    }

    fn size(&mut self, digits: u8, byte: u8) -> Result<At, Cause> {
        if let Some(value) = (byte as char).to_digit(16) {
            if digits >= MAX_DIGITS {
                return Err(Cause::BadChunk);
            }
            self.left = if digits == 0 { 0 } else { self.left << 4 } | u64::from(value);
            return Ok(At::Size { digits: digits + 1 });
        }
        match byte {
            _ if digits == 0 => Err(Cause::BadChunk),
            b'\r' => Ok(At::SizeLineFeed),
            b';' => Ok(At::Extension { length: 0 }),
            b' ' | b'\t' => Ok(At::Blank { length: 0 }),
            _ => Err(Cause::BadChunk),
        }
    }
}
