//! Files named by arguments.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Result, runtime_error};

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
    String::from_utf8(bytes(path)?).map_err(|_| runtime_error(format!("{} is not UTF-8 text", path.display())))
}
