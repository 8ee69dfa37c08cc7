use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use truetail_run::{FilePlace, ForeignRun};

/// First bytes of a gzip file.
pub(crate) const MAGIC: &[u8] = b"\x1f\x8b";
/// Maximum number of bytes of text, far above what a load test writes: minutes of reading.
const MAX_TEXT_BYTES: u64 = 1 << 36;

/// Reads compressed text, such as k6's files. If the file is damaged or cut off, the text before that place is used.
pub(crate) struct Unpacked<R> {
    decoder: MultiGzDecoder<R>,
    bytes: u64,
    max_bytes: u64,
    /// Reason that the text ends early.
    wrong: Option<String>,
}

impl<R: BufRead> Unpacked<R> {
    pub(crate) fn new(input: R) -> Unpacked<R> {
        Unpacked { decoder: MultiGzDecoder::new(input), bytes: 0, max_bytes: MAX_TEXT_BYTES, wrong: None }
    }

    /// Returns a note about the place at which the text ends early.
    pub(crate) fn note(&self) -> Option<String> {
        self.wrong.clone()
    }

    /// Records the place of the damage in the run.
    pub(crate) fn report(&self, run: &mut ForeignRun) {
        if let Some(note) = self.note() {
            run.notes.push(note);
            run.damage.truncated_at.get_or_insert(FilePlace { byte: self.bytes, line: 0 });
            run.claims.requests = None;
        }
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.wrong.is_some() {
            return Ok(0);
        }
        if self.bytes > self.max_bytes {
            self.wrong = Some(format!(
                "the compressed file has more than {} bytes of text; the rest is not read",
                self.max_bytes
            ));
            return Ok(0);
        }
        match self.decoder.read(buffer) {
            Ok(read) => {
                self.bytes += read as u64;
                Ok(read)
            }
            Err(error) if is_damage(error.kind()) => {
                let bytes = self.bytes;
                self.wrong =
                    Some(format!("the compressed file is damaged or cut off after {bytes} bytes of text: {error}"));
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}

fn is_damage(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    use super::*;

    #[test]
    fn text_of_any_length_is_read_to_a_limit_and_no_further() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&[b'x'; 200_000]).unwrap();
        let packed = packed.finish().unwrap();
        let read = |max_bytes| {
            let mut unpacked = Unpacked { max_bytes, ..Unpacked::new(&packed[..]) };
            let mut text = Vec::new();
            unpacked.read_to_end(&mut text).unwrap();
            (text.len(), unpacked.note())
        };
        assert_eq!(read(MAX_TEXT_BYTES), (200_000, None));
        let (bytes, note) = read(10_000);
        assert!((10_000..100_000).contains(&bytes), "{bytes}");
        assert!(note.is_some_and(|note| note.contains("more than 10000 bytes of text")));
    }
}
