//! The canvas: title, subtitle and legend above, the rest for data.

use super::color::Role;
use super::picture::Picture;
use super::svg::{Anchor, Label, Rect, Stroke, Svg};
use super::text_width;

pub(super) const WIDTH: f64 = 960.0;
pub(super) const HEIGHT: f64 = 540.0;
/// Margin around the picture.
pub(super) const MARGIN: f64 = 24.0;
pub(super) const INK: &str = "#1A1A1A";
pub(super) const FAINT_INK: &str = "#595959";
pub(super) const TEXT: f64 = 16.0;
const TITLE: f64 = 24.0;
const LEGEND_LINE: f64 = 26.0;
/// Font size of a legend beside the data, and its line height.
const SMALL: f64 = 14.0;
const BESIDE_LINE: f64 = 21.5;
const SWATCH: f64 = 30.0;
const GAP: f64 = 26.0;

/// Sample of a series in a legend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Swatch {
    Line,
    Block,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LegendEntry<'a> {
    pub(super) name: &'a str,
    pub(super) figure: &'a str,
    pub(super) role: Role,
    /// True to draw points instead of a line.
    pub(super) points: bool,
}

fn draw_legend_entry(svg: &mut Svg, x: f64, y: f64, entry: &LegendEntry<'_>) {
    if entry.points {
        svg.circle((x + SWATCH / 2.0, y - 5.0), entry.role.width() * 0.9 + 2.5, entry.role.color());
    } else {
        draw_swatch(svg, x, y - 5.0, entry.role, Swatch::Line);
    }
    let x = x + SWATCH + 8.0;
    let text = entry.name;
    svg.label(Label { x, y, text, size: SMALL, anchor: Anchor::Start, color: INK, bold: false });
}

/// A picture with title, subtitle and legend.
pub(super) struct Canvas {
    pub(super) svg: Svg,
    /// Remaining area for data.
    pub(super) area: Rect,
}

impl Canvas {
    pub(super) fn new(title: &str, subtitle: &str, legend: &[(String, Role)], swatch: Swatch) -> Canvas {
        let names: Vec<&str> = legend.iter().map(|(name, _)| name.as_str()).collect();
        let mut svg = Svg::new(WIDTH, HEIGHT, title, &described(subtitle, &names));
        let room = WIDTH - 2.0 * MARGIN;
        let mut y = MARGIN + TITLE * 0.8;
        heading(&mut svg, y, title, TITLE, INK, room);
        if !subtitle.is_empty() {
            y += 27.0;
            heading(&mut svg, y, subtitle, TEXT, FAINT_INK, room);
        }
        let bottom = if legend.is_empty() { y } else { draw_legend(&mut svg, y + 32.0, legend, swatch) };
        let top = bottom + 20.0;
        Canvas { svg, area: Rect { x: MARGIN, y: top, width: room, height: HEIGHT - MARGIN - top } }
    }

    /// Draws a legend right of the data, one entry per line, with `head` above the figures, and reduces the area.
    pub(super) fn legend_beside(&mut self, head: &str, entries: &[LegendEntry<'_>]) {
        let widest =
            |texts: &mut dyn Iterator<Item = &str>| texts.map(|t| text_width::width(t, SMALL)).fold(40.0, f64::max);
        let names = widest(&mut entries.iter().map(|entry| entry.name));
        let figures = widest(&mut entries.iter().map(|entry| entry.figure));
        let width = SWATCH + 8.0 + names + 14.0 + figures;
        let left = self.area.x + self.area.width - width;
        let line = ((self.area.height - 8.0) / (entries.len() + 1) as f64).min(BESIDE_LINE);
        let figure = |svg: &mut Svg, y: f64, text: &str, color: &str| {
            svg.label(Label { x: left + width, y, text, size: SMALL, anchor: Anchor::End, color, bold: false });
        };
        figure(&mut self.svg, self.area.y + SMALL * 0.8, head, FAINT_INK);
        for (number, entry) in (1..).zip(entries) {
            let y = self.area.y + SMALL * 0.8 + f64::from(number) * line;
            draw_legend_entry(&mut self.svg, left, y, entry);
            figure(&mut self.svg, y, entry.figure, INK);
        }
        self.area.width -= width + GAP;
    }

    pub(super) fn finish(self) -> Picture {
        Picture { svg: self.svg.finish(), reading: None }
    }
}

fn described(subtitle: &str, names: &[&str]) -> String {
    if names.is_empty() { subtitle.to_owned() } else { format!("{subtitle} Series: {}.", names.join(", ")) }
}

fn heading(svg: &mut Svg, y: f64, words: &str, size: f64, color: &str, room: f64) {
    let text = &text_width::fitted(words, size, room);
    svg.label(Label { x: MARGIN, y, text, size, anchor: Anchor::Start, color, bold: size > TEXT });
}

/// Draws rows of swatches and names from the base line `y` on, and returns the last base line.
fn draw_legend(svg: &mut Svg, y: f64, legend: &[(String, Role)], swatch: Swatch) -> f64 {
    let mut x = MARGIN;
    let mut y = y;
    for (name, role) in legend {
        let name = text_width::fitted(name, TEXT, WIDTH - 2.0 * MARGIN - SWATCH - 8.0);
        let width = SWATCH + 8.0 + text_width::width(&name, TEXT);
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
