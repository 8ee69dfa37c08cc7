//! A finished picture.

use super::png::{PngError, png};
use crate::output_file::OutputFile;

/// A finished picture, 960 × 540 units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    pub(super) svg: String,
}

/// A picture that cannot be written as PNG.
#[derive(Debug, thiserror::Error)]
#[error("{name}.png: {source}")]
pub struct PictureError {
    /// Its file name without an ending.
    pub name: String,
    /// Why.
    pub source: PngError,
}

impl Picture {
    /// As SVG, with a newline at its end.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// As PNG, 1 920 × 1 080 pixels.
    ///
    /// # Errors
    /// [`PngError`] when there is no memory for that many pixels.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png(&self.svg)
    }

    /// As the files `name.svg` and `name.png`.
    ///
    /// # Errors
    /// [`PictureError`] when there is no memory for the pixels.
    pub fn files(&self, name: &str) -> Result<[OutputFile; 2], PictureError> {
        let png = self.png().map_err(|source| PictureError { name: name.to_owned(), source })?;
        let svg = OutputFile::text(format!("{name}.svg"), self.svg.clone());
        Ok([svg, OutputFile { name: format!("{name}.png"), content: png }])
    }
}
