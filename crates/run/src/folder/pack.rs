//! A run folder as text, for environments that keep only the output of a process: `kubectl logs`, a CI log.
//!
//! ```text
//! truetail.pack/1 name=stripe-2 bytes=48213 sha256=9f86d0…
//! H4sIAAAAAAAA/+w9…
//! truetail.pack/1 end
//! ```
//!
//! Between the first and the last line is a gzipped tar archive of the files in Base64. It can be read without
//! truetail: `sed '1,/^truetail.pack/d;/^truetail.pack/,$d' LOG | base64 -d | tar xz`. Other output before and after it
//! does no harm.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::contents::Contents;
use super::error::PackError;
use super::{FAILED_ANSWERS, HISTOGRAMS, RUN, SAMPLES, SCRAPES, SERVER_TIMING, SESSIONS, STREAMS, TIMELINE};
use crate::input::AtMost;
use crate::{Findings, Run};

/// Prefix of the first and the last line.
const MARK: &str = "truetail.pack/1 ";
const END: &str = "truetail.pack/1 end";
/// Bytes of the archive per line: a multiple of 3, so that only the last line is padded.
const BYTES_A_LINE: usize = 720;
/// Size limit of an unpacked archive, bytes. No run is larger, and a small text must not fill the memory.
const MAX_UNPACKED: u64 = 256 << 20;

/// Returns the run as text. If that would take more than `most_bytes`, it omits single requests and returns `false`.
///
/// # Errors
/// Fails if the archive cannot be written, or is too large without single requests.
pub fn pack(run: &Run, findings: &Findings, name: &str, most_bytes: usize) -> io::Result<(String, bool)> {
    let contents = Contents::new(run, findings);
    let whole = text_of(&archive(&contents, |_| true)?, name);
    if whole.len() <= most_bytes {
        return Ok((whole, true));
    }
    let less = text_of(&archive(&contents, |file| file != SAMPLES)?, name);
    if less.len() <= most_bytes {
        return Ok((less, false));
    }
    Err(io::Error::other(format!("the run takes {} bytes as text, and at most {most_bytes} are printed", less.len())))
}

fn archive(contents: &Contents<'_>, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for name in contents.names().into_iter().filter(|name| wanted(name)) {
        let mut bytes = Vec::new();
        contents.write(name, &mut bytes)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, bytes.as_slice())?;
    }
    tar.into_inner()?.finish()
}

fn text_of(archive: &[u8], name: &str) -> String {
    let mut text = format!("{MARK}name={name} bytes={} sha256={}\n", archive.len(), hex_sha256(archive));
    for part in archive.chunks(BYTES_A_LINE) {
        STANDARD.encode_string(part, &mut text);
        text.push('\n');
    }
    text + END + "\n"
}

fn hex_sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text grows");
        text
    })
}

pub(super) fn unpack(text: &str) -> Result<BTreeMap<String, Vec<u8>>, PackError> {
    let archive = archive_in(text)?;
    let damaged = |error: io::Error| PackError::Damaged(error.to_string());
    let mut files = BTreeMap::new();
    let mut tar = tar::Archive::new(AtMost::new(GzDecoder::new(archive.as_slice()), MAX_UNPACKED));
    for entry in tar.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let name = entry.path().map_err(damaged)?.to_string_lossy().into_owned();
        let known = [FAILED_ANSWERS, SCRAPES, SERVER_TIMING, STREAMS, SESSIONS, HISTOGRAMS, TIMELINE, SAMPLES, RUN];
        if !known.contains(&name.as_str()) {
            return Err(PackError::Damaged(format!("it holds '{name}', which is no file of a run")));
        }
        // The holes of a sparse file take no bytes in the archive, but do in memory.
        if !entry.header().entry_type().is_file() {
            return Err(PackError::Damaged(format!("'{name}' in it is no plain file")));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(damaged)?;
        if files.insert(name.clone(), bytes).is_some() {
            return Err(PackError::Damaged(format!("it holds {name} twice")));
        }
    }
    Ok(files)
}

/// Returns true if `text` has the beginning or the end of a packed run.
pub fn is_packed(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(MARK))
}

/// Returns the archive after checking its length and hash.
fn archive_in(text: &str) -> Result<Vec<u8>, PackError> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(MARK)).peekable();
    let head = lines.next().ok_or(PackError::None)?;
    if head == END {
        return Err(PackError::Damaged("its first line is missing".to_owned()));
    }
    let heads = text.lines().filter(|line| line.starts_with(MARK) && *line != END).count();
    if heads > 1 {
        return Err(PackError::Several(heads));
    }
    let said = |key: &str| head.split(' ').find_map(|word| word.strip_prefix(key));
    let lacks = |what: &str| PackError::Damaged(format!("its first line says no {what}"));
    let length: usize = said("bytes=").and_then(|bytes| bytes.parse().ok()).ok_or_else(|| lacks("bytes"))?;
    let sum = said("sha256=").ok_or_else(|| lacks("sha256"))?;
    let mut archive = Vec::new();
    for line in lines.by_ref().take_while(|line| *line != END) {
        let cut = |_| PackError::Cut { found: archive.len(), said: length };
        let part = STANDARD.decode(line.trim_end()).map_err(cut)?;
        archive.extend(part);
    }
    if archive.len() < length {
        return Err(PackError::Cut { found: archive.len(), said: length });
    }
    if hex_sha256(&archive) != sum {
        return Err(PackError::Damaged("its sha256 is not the one that its first line says".to_owned()));
    }
    Ok(archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(header: &mut tar::Header, content: impl Read) -> String {
        header.set_mode(0o644);
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        tar.append_data(header, RUN, content).expect("memory");
        let archive = tar.into_inner().and_then(GzEncoder::finish).expect("memory");
        unpack(&text_of(&archive, "x")).expect_err("refused").to_string()
    }

    #[test]
    fn a_hole_takes_no_memory() {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::GNUSparse);
        header.set_size(512);
        let gnu = header.as_gnu_mut().expect("a GNU header");
        gnu.set_real_size(8 << 20);
        gnu.sparse[0].set_offset((8 << 20) - 512);
        gnu.sparse[0].set_length(512);
        let error = refused(&mut header, io::repeat(b'x').take(512));
        assert_eq!(error, "the packed run in it is damaged: 'run.json' in it is no plain file");
    }

    #[test]
    fn an_archive_that_unpacks_to_too_much_is_refused() {
        let mut header = tar::Header::new_gnu();
        header.set_size(MAX_UNPACKED + 1);
        let error = refused(&mut header, io::repeat(0).take(MAX_UNPACKED + 1));
        assert!(error.ends_with("it holds more than 268435456 bytes, the most that are read"), "{error}");
    }
}
