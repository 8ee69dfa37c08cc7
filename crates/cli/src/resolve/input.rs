//! Files named by arguments.

use std::io::{self, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use truetail_run::input::{self, AtMost, LONGEST};

use crate::error::{Result, runtime_error};

/// First bytes of a gzip file.
const GZIP: &[u8] = b"\x1f\x8b";
/// Limit on the bytes of an unpacked recording: 50 million arrivals.
const LONGEST_RECORDING: u64 = 1 << 30;

/// Returns the bytes of a file, or of standard input for `-`.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>> {
    within(path, LONGEST)
}

/// Returns the bytes of a file, or of standard input for `-`, if there are at most `most`.
pub(super) fn within(path: &Path, most: u64) -> Result<Vec<u8>> {
    let read = if path == Path::new("-") {
        let mut content = Vec::new();
        AtMost::new(io::stdin().lock(), most).read_to_end(&mut content).map(|_| content)
    } else {
        input::bytes_within(path, most)
    };
    read.map_err(|error| runtime_error(format!("cannot read {}: {error}", path.display())))
}

/// Returns the text of a file, or of standard input for `-`.
pub(crate) fn text(path: &Path) -> Result<String> {
    as_text(bytes(path)?, path)
}

/// Returns the text of a recording, which may be compressed with gzip.
pub(crate) fn recording(path: &Path) -> Result<String> {
    let bytes = within(path, LONGEST_RECORDING)?;
    if !bytes.starts_with(GZIP) {
        return as_text(bytes, path);
    }
    let mut text = Vec::new();
    let read = AtMost::new(MultiGzDecoder::new(bytes.as_slice()), LONGEST_RECORDING).read_to_end(&mut text);
    read.map_err(|error| runtime_error(format!("cannot unpack {}: {error}", path.display())))?;
    as_text(text, path)
}

fn as_text(bytes: Vec<u8>, path: &Path) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| runtime_error(format!("{} is not UTF-8 text", path.display())))
}
