//! Renders SVG as PNG, with the built-in fonts only.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;

use super::outlines::outlined;

/// Pixels per unit.
const DENSITY: f32 = 2.0;

/// Reason for a missing PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The SVG is not valid.
    #[error("the picture cannot be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// There is no memory for the pixels.
    #[error("there is no memory for a picture of {width} × {height} pixels")]
    TooLarge {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The pixels cannot be encoded.
    #[error("the picture cannot be packed: {0}")]
    Encoding(String),
}

pub(super) fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let svg = outlined(svg).map_err(usvg::Error::ParsingFailed)?;
    let tree = usvg::Tree::from_str(&svg, &usvg::Options::default())?;
    let side = |units: f32| (units * DENSITY).ceil() as u32;
    let width = side(tree.size().width());
    let height = side(tree.size().height());
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::TooLarge { width, height })?;
    resvg::render(&tree, Transform::from_scale(DENSITY, DENSITY), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark_pixels(text: &str) -> usize {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"40\">\
             <rect width=\"200\" height=\"40\" fill=\"#FFFFFF\"/>\
             <text x=\"5\" y=\"30\" font-family=\"Inter, sans-serif\" font-size=\"20\">{text}</text></svg>"
        );
        let pixels = Pixmap::decode_png(&png(&svg).unwrap()).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (400, 80));
        pixels.pixels().iter().filter(|pixel| pixel.red() < 100).count()
    }

    #[test]
    fn texts_are_drawn_without_any_font_of_the_machine() {
        assert_eq!(dark_pixels(""), 0);
        let missing = dark_pixels("日");
        for text in ["p99, ms", "µ", "≥", "−", "×", "…"] {
            assert!(dark_pixels(text) > 0 && dark_pixels(text) != missing, "{text} is not in the font");
        }
    }

    #[test]
    fn what_is_no_svg_is_told() {
        assert!(matches!(png("<svg"), Err(PngError::Svg(_))));
    }
}
