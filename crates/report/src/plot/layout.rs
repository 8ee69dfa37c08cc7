//! Sizes and colours that all pictures share.

pub(super) const WIDTH: f64 = 960.0;
pub(super) const HEIGHT: f64 = 540.0;
/// Margin around the picture.
pub(super) const MARGIN: f64 = 24.0;
pub(super) const INK: &str = "#1A1A1A";
pub(super) const FAINT_INK: &str = "#595959";
pub(super) const TEXT: f64 = 16.0;
/// Font size of legends and remarks, and the width of a sample in a legend.
pub(super) const SMALL: f64 = 14.0;
pub(super) const SWATCH: f64 = 22.0;
