//! A finished picture.

use super::png::{PngError, png};
use super::reading::Reading;
use crate::output_file::OutputFile;

/// A finished picture, 960 × 540 units.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    pub(super) svg: String,
    pub(super) reading: Option<Reading>,
}

/// Error for a picture that cannot be written as PNG.
#[derive(Debug, thiserror::Error)]
#[error("{name}.png: {source}")]
pub struct PictureError {
    /// File name without extension.
    pub name: String,
    /// Cause.
    pub source: PngError,
}

impl Picture {
    /// Returns the picture as SVG, with a newline at its end.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Returns the data for reading its values at a cursor, if it has any.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// Returns the picture as PNG, 1 920 × 1 080 pixels. Fails if there is no memory for the pixels.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png(&self.svg)
    }

    /// Returns the picture as the files `name.svg` and `name.png`. Fails if there is no memory for the pixels.
    pub fn files(&self, name: &str) -> Result<[OutputFile; 2], PictureError> {
        let png = self.png().map_err(|source| PictureError { name: name.to_owned(), source })?;
        let svg = OutputFile::text(format!("{name}.svg"), self.svg.clone());
        Ok([svg, OutputFile { name: format!("{name}.png"), content: png }])
    }
}
