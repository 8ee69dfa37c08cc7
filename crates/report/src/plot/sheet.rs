//! The sheet for all pictures: title, subtitle and legend above, the rest for data.

use super::color::Role;
use super::frame::{Axis, Frame};
use super::layout::{FAINT_INK, INK, MARGIN, SMALL, SWATCH, TEXT, WIDTH};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::reading::{LayerReading, PanelReading, Reading, ReadingAxis};
use super::scale::{AxisScale, log_time_ticks};
use super::svg::{Anchor, Label, Rect, Svg};
use super::text_width;

const TITLE: f64 = 24.0;
const LEGEND_LINE: f64 = 22.0;

/// Sample of a series in a legend.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Swatch {
    Line(SeriesStyle),
    Block(SeriesStyle, f64),
    /// A line, and a bar, of a role.
    Curve(Role),
    Bar(Role),
}

/// Draws something into a frame.
type Draw<'a> = dyn Fn(&mut Svg, &Frame) + 'a;

/// A layer of a panel: its elements, and their reading.
pub(super) struct Layer<'a> {
    pub(super) reading: LayerReading,
    pub(super) draw: Box<Draw<'a>>,
}

impl<'a> Layer<'a> {
    pub(super) fn new(reading: LayerReading, draw: impl Fn(&mut Svg, &Frame) + 'a) -> Layer<'a> {
        Layer { reading, draw: Box::new(draw) }
    }
}

/// A picture in progress.
pub(super) struct Sheet {
    pub(super) svg: Svg,
    /// Remaining area for data.
    pub(super) area: Rect,
    panels: Vec<PanelReading>,
}

impl Sheet {
    /// Draws title, subtitle and legend. `height` is that of the whole picture.
    pub(super) fn new(title: &str, subtitle: &str, height: f64, legend: &[(String, Swatch)]) -> Sheet {
        let names: Vec<&str> = legend.iter().map(|(name, _)| name.as_str()).collect();
        let described =
            if names.is_empty() { subtitle.to_owned() } else { format!("{subtitle} Series: {}.", names.join(", ")) };
        let mut svg = Svg::new(WIDTH, height, title, &described);
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
        let area = Rect { x: MARGIN, y: top, width: room, height: height - MARGIN - top };
        Sheet { svg, area, panels: Vec::new() }
    }

    /// Returns a picture with only a sentence: the reason why there is nothing to draw.
    pub(super) fn nothing(title: &str, why: &str) -> Picture {
        Sheet::new(title, why, 110.0, &[]).finish()
    }

    /// Removes a strip of `height` from the top of the area and returns it.
    pub(super) fn take(&mut self, height: f64) -> Rect {
        let taken = Rect { height, ..self.area };
        self.area.y += height;
        self.area.height -= height;
        taken
    }

    /// Draws the layers of a panel into its frame, and adds them to its reading.
    pub(super) fn panel(&mut self, frame: &Frame, mut reading: PanelReading, layers: Vec<Layer<'_>>) {
        self.svg.begin_panel(frame.inner);
        for layer in layers {
            self.svg.begin_layer(reading.layers.len());
            (layer.draw)(&mut self.svg, frame);
            self.svg.end_layer();
            reading.layers.push(layer.reading);
        }
        self.svg.end_panel();
        self.panels.push(reading);
    }

    pub(super) fn finish(self) -> Picture {
        Picture { svg: self.svg.finish(), reading: None }
    }

    /// Finishes a picture whose panels can be read and zoomed along `axis`.
    pub(super) fn finish_readable(self, axis: ReadingAxis) -> Picture {
        Picture { svg: self.svg.finish(), reading: Some(Reading { axis, panels: self.panels }) }
    }
}

/// Draws rows of swatches and names from the base line `place.y` on, and returns the last base line.
pub(super) fn draw_legend(svg: &mut Svg, place: Rect, legend: &[(String, Swatch)]) -> f64 {
    let mut last = place.y;
    for (entry, (_, swatch)) in legend_entries(place.width, legend).iter().zip(legend) {
        let x = place.x + entry.x;
        let y = place.y + f64::from(entry.line) * LEGEND_LINE;
        draw_swatch(svg, (x, y - 5.0), *swatch);
        let x = x + SWATCH + 8.0;
        let text = &entry.name;
        svg.label(Label { x, y, text, size: SMALL, anchor: Anchor::Start, color: INK, bold: false });
        last = y;
    }
    last
}

pub(super) fn legend_height(legend: &[(String, Swatch)]) -> f64 {
    let entries = legend_entries(WIDTH - 2.0 * MARGIN, legend);
    entries.last().map_or(0.0, |last| f64::from(last.line + 1) * LEGEND_LINE)
}

/// The name of a series in a legend, shortened to the room.
struct LegendEntry {
    name: String,
    line: u32,
    x: f64,
}

/// Places the names of a legend with the width `room`.
fn legend_entries(room: f64, legend: &[(String, Swatch)]) -> Vec<LegendEntry> {
    let mut x = 0.0;
    let mut line = 0;
    let place = |(name, _): &(String, Swatch)| {
        let name = text_width::fitted(name, SMALL, room - SWATCH - 8.0);
        let width = SWATCH + 8.0 + text_width::width(&name, SMALL);
        if x > 0.0 && x + width > room {
            (x, line) = (0.0, line + 1);
        }
        let entry = LegendEntry { name, line, x };
        x += width + 20.0;
        entry
    };
    legend.iter().map(place).collect()
}

pub(super) fn draw_swatch(svg: &mut Svg, (x, middle): (f64, f64), swatch: Swatch) {
    let block = Rect { x: x + 4.0, y: middle - 7.0, width: SWATCH - 4.0, height: 14.0 };
    match swatch {
        Swatch::Line(look) => svg.series(&[vec![(x, middle), (x + SWATCH, middle)]], look, 3.0),
        Swatch::Block(look, opacity) => svg.block(block, look, opacity),
        Swatch::Curve(role) => svg.line(&[(x, middle), (x + SWATCH, middle)], role.stroke()),
        Swatch::Bar(role) => svg.rect(block, role.color()),
    }
}

pub(super) fn heading(svg: &mut Svg, x: f64, y: f64, text: &str) {
    svg.label(Label { x, y, text, size: 15.0, anchor: Anchor::Start, color: INK, bold: true });
}

pub(super) fn remark(svg: &mut Svg, x: f64, y: f64, text: &str, anchor: Anchor) {
    svg.label(Label { x, y, text, size: SMALL, anchor, color: FAINT_INK, bold: false });
}

/// Returns the stretches of a line through these places. A missing value ends a stretch.
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

/// Returns a logarithmic axis of times around values above zero, with margins, and of at least a factor of ten.
pub(super) fn time_axis(label: &str, low: f64, high: f64) -> Axis {
    let (low, high) = if low.is_finite() && high > 0.0 { (low, high) } else { (1e6, 1e9) };
    let short = libm::sqrt((10.0 / (high / low)).max(1.0));
    let from = low / 1.3 / short;
    let to = high * 1.3 * short;
    Axis::new(label, AxisScale::Log { from, to }, log_time_ticks(from, to))
}
