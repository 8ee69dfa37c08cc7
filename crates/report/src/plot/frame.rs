//! A frame with two axes.

use super::layout::{FAINT_INK, INK, TEXT};
use super::scale::{AxisScale, Tick};
use super::svg::{Anchor, Label, Rect, Stroke, Svg};
use super::text_width;

const TICK_TEXT: f64 = 15.0;
const GRID: &str = "#E3E3E3";
const AXIS: &str = "#8A8A8A";
/// Distance from the frame to the base line of the texts below it, and from there to the axis label.
const BELOW: f64 = 21.0;
const LABEL_BELOW: f64 = 25.0;

#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Label with unit; empty for none.
    pub(super) label: String,
    pub(super) scale: AxisScale,
    pub(super) ticks: Vec<Tick>,
    /// True to omit the texts of ticks, because the adjacent frame shows them.
    pub(super) bare: bool,
}

impl Axis {
    pub(super) fn new(label: &str, scale: AxisScale, ticks: Vec<Tick>) -> Axis {
        Axis { label: label.to_owned(), scale, ticks, bare: false }
    }

    fn widest_text(&self) -> f64 {
        let widths = self.ticks.iter().map(|tick| text_width::width(&tick.text, TICK_TEXT));
        if self.bare { 0.0 } else { widths.fold(0.0, f64::max) }
    }
}

/// A frame that maps values to places.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Area inside the axes.
    pub(super) inner: Rect,
    x: Axis,
    y: Axis,
}

impl Frame {
    /// Returns a frame that fills `area` with its axes, ticks and labels.
    pub(super) fn in_area(area: Rect, x: Axis, y: Axis) -> Frame {
        let left = y.widest_text() + 10.0 + if y.label.is_empty() { 0.0 } else { 26.0 };
        // Half of the last text below the frame protrudes.
        let right = x.ticks.last().map_or(0.0, |tick| text_width::width(&tick.text, TICK_TEXT) / 2.0).max(8.0);
        let below = BELOW + if x.label.is_empty() { 4.0 } else { LABEL_BELOW };
        let inner = Rect {
            x: area.x + left,
            y: area.y,
            width: (area.width - left - right).max(1.0),
            height: (area.height - below).max(1.0),
        };
        Frame { inner, x, y }
    }

    /// Returns a frame whose data fill `inner`, with the texts of its axes around it.
    pub(super) fn around(inner: Rect, x: Axis, y: Axis) -> Frame {
        Frame { inner, x, y }
    }

    pub(super) fn x_scale(&self) -> AxisScale {
        self.x.scale
    }

    pub(super) fn y_scale(&self) -> AxisScale {
        self.y.scale
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.inner.x + self.inner.width * self.x.scale.place(value)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.inner.y + self.inner.height * (1.0 - self.y.scale.place(value))
    }

    pub(super) fn bottom(&self) -> f64 {
        self.inner.y + self.inner.height
    }

    /// Draws the grid behind the data, ticks with their texts, and labels.
    pub(super) fn draw_behind(&self, svg: &mut Svg) {
        let left = self.inner.x;
        let right = self.inner.x + self.inner.width;
        for tick in self.y.ticks.iter().filter(|tick| !tick.text.is_empty()) {
            let y = self.y(tick.at);
            svg.line(&[(left, y), (right, y)], Stroke::solid(GRID, 1.0));
            if !self.y.bare {
                tick_text(svg, left - 10.0, y + 5.3, &tick.text, Anchor::End);
            }
        }
        for (tick, has_room) in self.x.ticks.iter().zip(self.texts_with_room()) {
            let x = self.x(tick.at);
            svg.line(&[(x, self.bottom()), (x, self.bottom() + 5.0)], Stroke::solid(AXIS, 1.0));
            if has_room {
                tick_text(svg, x, self.bottom() + BELOW, &tick.text, Anchor::Middle);
            }
        }
        for tick in self.y.ticks.iter().filter(|tick| tick.text.is_empty()) {
            let y = self.y(tick.at);
            svg.line(&[(left, y), (left + 5.0, y)], Stroke::solid(AXIS, 1.0));
        }
        self.draw_labels(svg);
    }

    /// Returns, for each tick of the x axis, if its text is shown. If two texts would touch, only the right one is.
    fn texts_with_room(&self) -> Vec<bool> {
        let mut from = f64::INFINITY;
        let has_room = |tick: &Tick| {
            let x = self.x(tick.at);
            let half = text_width::width(&tick.text, TICK_TEXT) / 2.0;
            let fits = x + half + 3.0 < from;
            from = if fits { x - half } else { from };
            fits
        };
        let mut fits: Vec<bool> = self.x.ticks.iter().rev().map(has_room).collect();
        fits.reverse();
        fits
    }

    pub(super) fn draw_columns(&self, svg: &mut Svg) {
        for tick in &self.x.ticks {
            let x = self.x(tick.at);
            svg.line(&[(x, self.inner.y), (x, self.bottom())], Stroke::solid(GRID, 1.0));
        }
    }

    fn draw_labels(&self, svg: &mut Svg) {
        let middle = self.inner.x + self.inner.width / 2.0;
        let below = self.bottom() + BELOW + LABEL_BELOW;
        svg.label(axis_label(middle, below, &self.x.label));
        if !self.y.label.is_empty() {
            let x = self.inner.x - self.y.widest_text() - 20.0;
            svg.label_upwards(axis_label(x, self.inner.y + self.inner.height / 2.0, &self.y.label));
        }
    }

    /// Draws the base line, over the data.
    pub(super) fn draw_base(&self, svg: &mut Svg) {
        let left = self.inner.x;
        let right = self.inner.x + self.inner.width;
        svg.line(&[(left, self.bottom()), (right, self.bottom())], Stroke::solid(AXIS, 1.5));
    }
}

fn tick_text(svg: &mut Svg, x: f64, y: f64, text: &str, anchor: Anchor) {
    svg.label(Label { x, y, text, size: TICK_TEXT, anchor, color: FAINT_INK, bold: false });
}

fn axis_label(x: f64, y: f64, text: &str) -> Label<'_> {
    Label { x, y, text, size: TEXT, anchor: Anchor::Middle, color: INK, bold: false }
}
