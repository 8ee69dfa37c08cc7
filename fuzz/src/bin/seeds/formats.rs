//! Seeds of the importers: the stored files that a format recognises.

use std::error::Error;
use std::fs;
use std::path::Path;

use truetail_import::{Excerpt, Likeness, all, by_name};

/// What the name of a target begins with, before the name of a format.
pub const PREFIX: &str = "import-";
/// The longest seed, bytes: longer ones slow the fuzzer down.
const MAX_BYTES: u64 = 64 << 10;

/// The targets of all formats.
pub fn targets() -> Vec<String> {
    all().iter().map(|format| format!("{PREFIX}{}", format.info().name)).collect()
}

/// The seeds of a target; `None` if it is none of ours.
pub fn of(target: &str) -> Result<Option<Vec<Vec<u8>>>, Box<dyn Error>> {
    let Some(format) = target.strip_prefix(PREFIX) else { return Ok(None) };
    let format = by_name(format).ok_or_else(|| format!("no format {format}"))?;
    let mut seeds = Vec::new();
    for folder in ["../testdata/tools", "../testdata/import", "seeds"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut |bytes| {
            if format.likeness(&Excerpt::new(&bytes)) == Likeness::Yes {
                seeds.push(bytes);
            }
        })?;
    }
    Ok(Some(seeds))
}

fn collect(folder: &Path, take: &mut dyn FnMut(Vec<u8>)) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let facts = path.metadata()?;
        match facts.is_dir() {
            true => collect(&path, take)?,
            false if facts.len() <= MAX_BYTES => take(fs::read(&path)?),
            false => {}
        }
    }
    Ok(())
}
