//! Pictures: from figures to SVG, and from SVG to PNG. Pure functions; the same figures give the same bytes of SVG.
//!
//! | function | draws |
//! |---|---|
//! | [`spectrum`] | response time over 1/(1 − q), logarithmic: the whole tail of several runs |
//! | [`run_spectrum`] | the same for one run |
//! | [`tool_spectrum`], [`many_tools_spectrum`] | the same for load tools, in their own words |
//! | [`requests`] | single requests by their start, two runs above each other |
//! | [`intervals`] | a figure per interval of time for several series, bars beside each other, with the whole run apart |
//!
//! Colours are those of Okabe & Ito ("Color Universal Design", 2008), which people with any kind of colour vision can
//! tell apart; lines differ in their dashes besides. Legends stand above the frame, where no data are. Texts are set in
//! Inter, which is built in for PNG, so that a machine without fonts draws the same; a browser that lacks it takes
//! another sans-serif.

mod color;
mod frame;
mod intervals;
mod layout;
mod marks;
mod png;
mod requests;
mod scale;
mod spectrum;
mod svg;
mod text;

pub use color::{Model, Role};
pub use intervals::{IntervalPlot, IntervalSeries, Shade, intervals};
pub use png::PngError;
pub use requests::{Panel, RequestPlot, requests};
pub use spectrum::{Curve, many_tools_spectrum, run_spectrum, spectrum, tool_spectrum};

/// A finished picture, 960 × 540 units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    svg: String,
}

impl Picture {
    /// As SVG, with a line break at its end.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// As PNG, 1 920 × 1 080 pixels.
    ///
    /// # Errors
    /// [`PngError`] when there is no memory for that many pixels.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png::png(&self.svg)
    }
}
