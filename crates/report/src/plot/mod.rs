//! Pictures as SVG and PNG. Pure functions: the same data give the same bytes of SVG.
//!
//! | function | draws |
//! |---|---|
//! | [`spectrum`] | response time over 1/(1 − q), logarithmic: the whole tail of several runs |
//! | [`run_spectrum`] | the same for one run |
//! | [`tool_spectrum`], [`many_tools_spectrum`] | the same for load tools, as they report themselves |
//! | [`requests`] | single requests by their start, two runs above each other |
//! | [`intervals`] | a value per interval of time for several series, bars beside each other, and the whole run apart |
//!
//! Colours are those of Okabe & Ito ("Color Universal Design", 2008), which can be told apart with any kind of colour
//! vision; lines differ in their dashes too. Legends stand above the frame, where there are no data. Texts are set in Inter,
//! which is built in for PNG, so that a machine without fonts draws the same; a browser without it takes another
//! sans-serif.

mod color;
mod frame;
mod intervals;
mod layout;
mod picture;
mod png;
mod requests;
mod scale;
mod spectrum;
mod steps;
mod svg;
mod text_width;

pub use color::{Role, ToolModel};
pub use intervals::{IntervalPlot, IntervalSeries, Shade, intervals};
pub use picture::{Picture, PictureError};
pub use png::PngError;
pub use requests::{Panel, RequestPlot, requests};
pub use spectrum::{Curve, SPECTRUM, many_tools_spectrum, run_spectrum, spectrum, tool_spectrum};
