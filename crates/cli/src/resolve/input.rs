//! Files named by arguments.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Result, runtime_error};

/// How a file begins that is compressed with gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// The bytes of a file, or of standard input for `-`.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut content).map(|_| content)
    } else {
        fs::read(path)
    };
    read.map_err(|error| runtime_error(format!("cannot read {}: {error}", path.display())))
}

/// The text of a file, or of standard input for `-`.
pub fn text(path: &Path) -> Result<String> {
    as_text(bytes(path)?, path)
}

/// The text of a recording, which may be compressed with gzip.
pub fn recording(path: &Path) -> Result<String> {
    let bytes = bytes(path)?;
    if !bytes.starts_with(GZIP) {
        return as_text(bytes, path);
    }
    let mut text = Vec::new();
    let read = MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text);
    read.map_err(|error| runtime_error(format!("cannot unpack {}: {error}", path.display())))?;
    as_text(text, path)
}

fn as_text(bytes: Vec<u8>, path: &Path) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| runtime_error(format!("{} is not UTF-8 text", path.display())))
}
