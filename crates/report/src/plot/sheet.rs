//! The paper of a picture of a run: title, subtitle and legend above, the rest for data; and what is drawn of series.

use super::frame::{Axis, Frame};
use super::layout::{FAINT_INK, INK, MARGIN, TEXT, WIDTH};
use super::look::Look;
use super::picture::Picture;
use super::scale::{AxisScale, log_time_ticks};
use super::svg::{Anchor, Label, Rect, Svg};
use super::text_width;

const TITLE: f64 = 24.0;
/// Texts of legends.
const SMALL: f64 = 14.0;
const SWATCH: f64 = 22.0;
const LEGEND_LINE: f64 = 22.0;

/// How a legend shows a series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Swatch {
    Line(Look),
    Block(Look, f64),
}

/// A picture that is being drawn.
pub(super) struct Sheet {
    pub(super) svg: Svg,
    /// What is left for data.
    pub(super) area: Rect,
}

impl Sheet {
    /// Draws title, subtitle and legend. `height` is that of the whole picture.
    pub(super) fn new(title: &str, subtitle: &str, height: f64, legend: &[(String, Swatch)]) -> Sheet {
        let names: Vec<&str> = legend.iter().map(|(name, _)| name.as_str()).collect();
        let described =
            if names.is_empty() { subtitle.to_owned() } else { format!("{subtitle} Series: {}.", names.join(", ")) };
        let mut svg = Svg::themed(WIDTH, height, title, &described);
        let room = WIDTH - 2.0 * MARGIN;
        let mut y = MARGIN + TITLE * 0.8;
        let mut line = |y: f64, words: &str, size: f64, color: &str| {
            let text = &text_width::fitted(words, size, room);
            svg.label(Label { x: MARGIN, y, text, size, anchor: Anchor::Start, color, bold: size > TEXT });
        };
        line(y, title, TITLE, INK);
        if !subtitle.is_empty() {
            y += 27.0;
            line(y, subtitle, TEXT, FAINT_INK);
        }
        if !legend.is_empty() {
            y = draw_legend(&mut svg, Rect { x: MARGIN, y: y + 30.0, width: room, height: 0.0 }, legend);
        }
        let top = y + 20.0;
        Sheet { svg, area: Rect { x: MARGIN, y: top, width: room, height: height - MARGIN - top } }
    }

    /// A picture that says in a sentence why there is nothing to draw.
    pub(super) fn nothing(title: &str, why: &str) -> Picture {
        Sheet::new(title, why, 110.0, &[]).finish()
    }

    /// The area without `height` at its top, which is returned.
    pub(super) fn take(&mut self, height: f64) -> Rect {
        let taken = Rect { height, ..self.area };
        self.area.y += height;
        self.area.height -= height;
        taken
    }

    pub(super) fn finish(self) -> Picture {
        Picture { svg: self.svg.finish() }
    }
}

/// Draws rows of swatches and names from the base line `place.y` on, and returns the last base line.
pub(super) fn draw_legend(svg: &mut Svg, place: Rect, legend: &[(String, Swatch)]) -> f64 {
    let (mut x, mut y) = (place.x, place.y);
    for (name, swatch) in legend {
        let name = text_width::fitted(name, SMALL, place.width - SWATCH - 8.0);
        let width = SWATCH + 8.0 + text_width::width(&name, SMALL);
        if x > place.x && x + width > place.x + place.width {
            (x, y) = (place.x, y + LEGEND_LINE);
        }
        draw_swatch(svg, (x, y - 5.0), *swatch);
        let x_text = x + SWATCH + 8.0;
        svg.label(Label { x: x_text, y, text: &name, size: SMALL, anchor: Anchor::Start, color: INK, bold: false });
        x += width + 20.0;
    }
    y
}

fn draw_swatch(svg: &mut Svg, (x, middle): (f64, f64), swatch: Swatch) {
    match swatch {
        Swatch::Line(look) => svg.series(&[vec![(x, middle), (x + SWATCH, middle)]], look, 3.0),
        Swatch::Block(look, opacity) => {
            svg.block(Rect { x: x + 4.0, y: middle - 7.0, width: SWATCH - 4.0, height: 14.0 }, look, opacity);
        }
    }
}

/// Draws a small heading.
pub(super) fn heading(svg: &mut Svg, x: f64, y: f64, text: &str) {
    svg.label(Label { x, y, text, size: 15.0, anchor: Anchor::Start, color: INK, bold: true });
}

/// Draws a faint remark.
pub(super) fn remark(svg: &mut Svg, x: f64, y: f64, text: &str, anchor: Anchor) {
    svg.label(Label { x, y, text, size: SMALL, anchor, color: FAINT_INK, bold: false });
}

/// The stretches of a line through these places; one ends where a value is missing.
pub(super) fn stretches(frame: &Frame, values: impl Iterator<Item = (f64, Option<f64>)>) -> Vec<Vec<(f64, f64)>> {
    let mut stretches = vec![Vec::new()];
    for (x, value) in values {
        match value {
            Some(value) => stretches.last_mut().expect("never empty").push((frame.x(x), frame.y(value))),
            None => stretches.push(Vec::new()),
        }
    }
    stretches.retain(|points| !points.is_empty());
    stretches
}

/// A logarithmic axis of times around values above zero: some room below and above, and at least a factor of ten.
pub(super) fn time_axis(label: &str, low: f64, high: f64) -> Axis {
    let (low, high) = if low.is_finite() && high > 0.0 { (low, high) } else { (1e6, 1e9) };
    let short = libm::sqrt((10.0 / (high / low)).max(1.0));
    let (from, to) = (low / 1.3 / short, high * 1.3 * short);
    Axis::new(label, AxisScale::Log { from, to }, log_time_ticks(from, to))
}
