//! The sheet: title, subtitle and legend above, the rest for data.

use super::svg::{Anchor, Label, Rect, Stroke, Svg};
use super::{Picture, Role, text};

pub(super) const WIDTH: f64 = 960.0;
pub(super) const HEIGHT: f64 = 540.0;
/// Around everything.
pub(super) const MARGIN: f64 = 24.0;
pub(super) const INK: &str = "#1A1A1A";
pub(super) const FAINT_INK: &str = "#595959";
/// Size of most texts.
pub(super) const TEXT: f64 = 16.0;
const TITLE: f64 = 24.0;
const LEGEND_LINE: f64 = 26.0;
const SWATCH: f64 = 30.0;
const GAP: f64 = 26.0;

/// How the legend shows a series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Swatch {
    Line,
    Block,
}

/// A sheet with its head drawn.
pub(super) struct Sheet {
    pub(super) svg: Svg,
    /// What is left for data.
    pub(super) area: Rect,
}

impl Sheet {
    /// Draws title, subtitle and legend, which stand above the data and cover none.
    pub(super) fn new(title: &str, subtitle: &str, legend: &[(String, Role)], swatch: Swatch) -> Sheet {
        let names: Vec<&str> = legend.iter().map(|(name, _)| name.as_str()).collect();
        let mut svg = Svg::new(WIDTH, HEIGHT, title, &format!("{subtitle} Series: {}.", names.join(", ")));
        let room = WIDTH - 2.0 * MARGIN;
        let mut y = MARGIN + TITLE * 0.8;
        heading(&mut svg, y, title, TITLE, INK, room);
        if !subtitle.is_empty() {
            y += 27.0;
            heading(&mut svg, y, subtitle, TEXT, FAINT_INK, room);
        }
        y += 32.0;
        let bottom = draw_legend(&mut svg, y, legend, swatch);
        let top = bottom + 20.0;
        Sheet { svg, area: Rect { x: MARGIN, y: top, width: room, height: HEIGHT - MARGIN - top } }
    }

    pub(super) fn finish(self) -> Picture {
        Picture { svg: self.svg.finish() }
    }
}

fn heading(svg: &mut Svg, y: f64, words: &str, size: f64, color: &str, room: f64) {
    let text = &text::fitted(words, size, room);
    svg.label(Label { x: MARGIN, y, text, size, anchor: Anchor::Start, color, bold: size > TEXT });
}

/// Rows of swatches and names from the base line `y` on. Gives the last base line.
fn draw_legend(svg: &mut Svg, y: f64, legend: &[(String, Role)], swatch: Swatch) -> f64 {
    let (mut x, mut y) = (MARGIN, y);
    for (name, role) in legend {
        let name = text::fitted(name, TEXT, WIDTH - 2.0 * MARGIN - SWATCH - 8.0);
        let width = SWATCH + 8.0 + text::width(&name, TEXT);
        if x > MARGIN && x + width > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + LEGEND_LINE);
        }
        draw_swatch(svg, x, y - 5.5, *role, swatch);
        let label =
            Label { x: x + SWATCH + 8.0, y, text: &name, size: TEXT, anchor: Anchor::Start, color: INK, bold: false };
        svg.label(label);
        x += width + GAP;
    }
    y
}

fn draw_swatch(svg: &mut Svg, x: f64, middle: f64, role: Role, swatch: Swatch) {
    match swatch {
        Swatch::Line => {
            let stroke = Stroke { color: role.color(), width: role.width(), dashes: role.dashes() };
            svg.line(&[(x, middle), (x + SWATCH, middle)], stroke);
        }
        Swatch::Block => {
            let side = 16.0;
            svg.rect(Rect { x: x + SWATCH - side, y: middle - side / 2.0, width: side, height: side }, role.color());
        }
    }
}
