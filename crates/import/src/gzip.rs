use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use truetail_run::{FilePlace, ForeignRun};

/// First bytes of a gzip file.
pub(crate) const MAGIC: &[u8] = b"\x1f\x8b";

/// Reads compressed text, such as k6's files. If the file is damaged or cut off, the text before that place is used.
pub(crate) struct Unpacked<R> {
    decoder: MultiGzDecoder<R>,
    bytes: u64,
    wrong: Option<String>,
}

impl<R: BufRead> Unpacked<R> {
    pub fn new(input: R) -> Unpacked<R> {
        Unpacked { decoder: MultiGzDecoder::new(input), bytes: 0, wrong: None }
    }

    /// Returns a note about the place of the damage.
    pub fn note(&self) -> Option<String> {
        let wrong = self.wrong.as_ref()?;
        Some(format!("the compressed file is damaged or cut off after {} bytes of text: {wrong}", self.bytes))
    }

    /// Records the place of the damage in the run.
    pub fn report(&self, run: &mut ForeignRun) {
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
        match self.decoder.read(buffer) {
            Ok(read) => {
                self.bytes += read as u64;
                Ok(read)
            }
            Err(error) if is_damage(error.kind()) => {
                self.wrong = Some(error.to_string());
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}

fn is_damage(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput)
}
