//! Pictures beside a run.

use std::fs;
use std::path::Path;

use truetail_report::plot::Picture;

use super::lab::Files;
use crate::outcome::{Result, could_not};

/// The name of the percentile spectrum, without an ending.
pub const SPECTRUM: &str = "percentiles";

/// A picture as its files: (name, bytes).
///
/// # Errors
/// When there is no memory for its pixels.
pub fn drawn(name: &str, picture: &Picture) -> Result<Files> {
    let png = picture.png().map_err(|error| could_not(format!("{name}.png: {error}")))?;
    Ok(vec![(format!("{name}.svg"), picture.svg().as_bytes().to_vec()), (format!("{name}.png"), png)])
}

/// Writes files into `folder`, which exists.
///
/// # Errors
/// When the system refuses.
pub fn write(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    files.iter().try_for_each(|(name, content)| {
        let path = folder.join(name);
        fs::write(&path, content).map_err(|error| could_not(format!("cannot write {}: {error}", path.display())))
    })
}
