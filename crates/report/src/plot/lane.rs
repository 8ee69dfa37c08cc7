//! Lanes one below the other, with one axis of time.

use std::borrow::Cow;

use truetail_analysis::series::TimeAxis;

use super::frame::{Axis, Frame};
use super::look::SeriesStyle;
use super::over_time::{self, Shades};
use super::reading::{LayerReading, PanelReading};
use super::scale::{AxisScale, Quantity, Tick, linear_ticks};
use super::sheet::{Layer, Sheet, Swatch, draw_legend, heading, remark, stretches, time_axis};
use super::svg::{Anchor, Rect};

/// Room for the texts of the axes of all lanes.
const LEFT: f64 = 74.0;
const BELOW: f64 = 58.0;
/// Heading of a lane, and the gap below a lane.
const HEADING: f64 = 26.0;
const GAP: f64 = 14.0;

pub(super) struct Line {
    pub(super) name: String,
    pub(super) look: SeriesStyle,
    pub(super) values: Vec<Option<f64>>,
    /// Formats a value.
    pub(super) write: fn(f64) -> String,
}

pub(super) struct Lane {
    pub(super) heading: Cow<'static, str>,
    pub(super) lines: Vec<Line>,
    /// True for times on a logarithmic axis, false for counts from 0.
    pub(super) times: bool,
    /// Text for a lane without values.
    pub(super) nothing: &'static str,
}

/// Fills the rest of the sheet with lanes of equal height.
pub(super) fn draw_lanes(sheet: &mut Sheet, lanes: &[Lane], time: &TimeAxis, shades: &[Shades]) {
    let height = (sheet.area.height - BELOW) / lanes.len().max(1) as f64;
    for (i, lane) in lanes.iter().enumerate() {
        let place = sheet.take(height);
        draw(sheet, lane, time, place, i + 1 == lanes.len(), shades);
    }
}

fn inner(place: Rect) -> Rect {
    Rect { x: place.x + LEFT, width: place.width - LEFT - 10.0, ..place }
}

fn draw(sheet: &mut Sheet, lane: &Lane, time: &TimeAxis, place: Rect, has_axis: bool, shades: &[Shades]) {
    heading(&mut sheet.svg, place.x, place.y + 14.0, &lane.heading);
    let values = || lane.lines.iter().flat_map(|line| line.values.iter().flatten().copied());
    let place = inner(place);
    let inside = Rect { y: place.y + HEADING, height: place.height - HEADING - GAP, ..place };
    let has_values = values().next().is_some();
    let y = y_axis(
        lane.times,
        values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min),
        values().fold(0.0, f64::max),
    );
    let x = over_time::axis(time);
    let x = if has_axis { x } else { Axis { label: String::new(), ticks: Vec::new(), ..x } };
    let y = if has_values { y } else { Axis { ticks: Vec::new(), ..y } };
    let frame = Frame::around(inside, x, y);
    frame.draw_behind(&mut sheet.svg);
    let shades = shades.iter().map(|shades| shades.layer(None));
    let quantity = if lane.times { Quantity::LogTimes } else { Quantity::Numbers };
    let mut reading = PanelReading::new(&lane.heading, frame.y_scale(), quantity);
    if !has_values {
        reading.set_nothing(lane.nothing);
        sheet.panel(&frame, reading, shades.collect());
        let middle = (inside.x + inside.width / 2.0, inside.y + inside.height / 2.0 + 5.0);
        remark(&mut sheet.svg, middle.0, middle.1, lane.nothing, Anchor::Middle);
        frame.draw_base(&mut sheet.svg);
        return;
    }
    let named = lane.lines.iter().filter(|line| !line.name.is_empty());
    let entries: Vec<(String, Swatch)> = named.map(|line| (line.name.clone(), Swatch::Line(line.look))).collect();
    draw_legend(
        &mut sheet.svg,
        Rect { x: place.x + 190.0, y: place.y + 14.0, width: place.width - 190.0, height: 0.0 },
        &entries,
    );
    let lines = lane.lines.iter().map(|line| {
        let texts = line.values.iter().map(|value| value.map(line.write));
        Layer::new(LayerReading::line(&line.name, line.look, texts), move |svg, frame| {
            let points = over_time::middles(time).zip(line.values.iter().copied());
            svg.series(&stretches(frame, points), line.look, 2.0);
        })
    });
    sheet.panel(&frame, reading, shades.chain(lines).collect());
    frame.draw_base(&mut sheet.svg);
}

fn y_axis(times: bool, lowest: f64, highest: f64) -> Axis {
    if times {
        let axis = time_axis("", lowest, highest);
        return Axis { ticks: sparse(axis.ticks), ..axis };
    }
    let to = if highest > 0.0 { highest * 1.08 } else { 1.0 };
    Axis::new("", AxisScale::Linear { from: 0.0, to }, linear_ticks(0.0, to, 4))
}

/// Returns at most five ticks, all with a text.
fn sparse(ticks: Vec<Tick>) -> Vec<Tick> {
    let named: Vec<Tick> = ticks.into_iter().filter(|tick| !tick.text.is_empty()).collect();
    let step = named.len().div_ceil(5).max(1);
    named.into_iter().step_by(step).collect()
}
