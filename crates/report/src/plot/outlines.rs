//! Texts of a picture as outlines of their glyphs, so that drawing needs no engine for fonts and scripts.
//!
//! Characters are set one after the other by their advances, without kerning. That is enough for Latin text and
//! numbers, which is all that the built-in fonts have.

use std::fmt::Write as _;

use resvg::usvg::roxmltree::{Document, Error, Node};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Inter, under the SIL Open Font License (`fonts/OFL.txt`), reduced to Latin and a few signs.
const REGULAR: &[u8] = include_bytes!("../../fonts/Inter-Regular.ttf");
const SEMI_BOLD: &[u8] = include_bytes!("../../fonts/Inter-SemiBold.ttf");

/// Returns an SVG with a path in place of each text.
///
/// # Errors
/// If it is not XML.
pub(super) fn outlined(svg: &str) -> Result<String, Error> {
    let document = Document::parse(svg)?;
    let fonts = [REGULAR, SEMI_BOLD].map(|font| Face::parse(font, 0).expect("a built-in font"));
    let mut out = String::with_capacity(2 * svg.len());
    let mut copied = 0;
    for text in document.descendants().filter(|node| node.has_tag_name("text")) {
        out.push_str(&svg[copied..text.range().start]);
        out.push_str(&path(text, &fonts));
        copied = text.range().end;
    }
    out.push_str(&svg[copied..]);
    Ok(out)
}

fn path(text: Node<'_, '_>, [regular, semi_bold]: &[Face<'_>; 2]) -> String {
    let number = |name: &str| text.attribute(name).and_then(|value| value.parse::<f32>().ok());
    let face = if text.attribute("font-weight") == Some("600") { semi_bold } else { regular };
    let size = number("font-size").unwrap_or(16.0);
    let scale = size / f32::from(face.units_per_em());
    let glyphs = || text.text().unwrap_or_default().chars().map(|c| face.glyph_index(c).unwrap_or(GlyphId(0)));
    let advance = |glyph: GlyphId| f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    let width: f32 = glyphs().map(advance).sum();
    let start = match text.attribute("text-anchor") {
        Some("middle") => -width / 2.0,
        Some("end") => -width,
        _ => 0.0,
    };
    let origin = (number("x").unwrap_or(0.0) + start, number("y").unwrap_or(0.0));
    let mut pen = Pen { path: String::new(), origin, scale };
    for glyph in glyphs() {
        face.outline_glyph(glyph, &mut pen);
        pen.origin.0 += advance(glyph);
    }
    let fill = text.attribute("fill").unwrap_or("#000000");
    let transform = text.attribute("transform").unwrap_or_default();
    format!("<path d=\"{}\" fill=\"{fill}\" transform=\"{transform}\"/>", pen.path)
}

/// Writes outlines as the data of a path. Fonts count upwards, and pictures downwards.
struct Pen {
    path: String,
    /// Position of the next glyph on the baseline.
    origin: (f32, f32),
    scale: f32,
}

impl Pen {
    fn write(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for (x, y) in points {
            let x = self.origin.0 + x * self.scale;
            let y = self.origin.1 - y * self.scale;
            write!(self.path, "{x:.2} {y:.2} ").expect("a String takes everything");
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.write('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.write('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.write('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.write('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}
