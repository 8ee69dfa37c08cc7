//! Common parts of pictures over time: the axis, and the shades of pauses.

use truetail_analysis::series::{PauseSpan, PausedSide, RunSeries, TimeAxis};

use super::frame::{Axis, Frame};
use super::look::SeriesStyle;
use super::scale::{AxisScale, linear_ticks};
use super::sheet::Swatch;
use super::svg::{Rect, Svg};

/// Units of the axis: shortest length in seconds, length of the unit, and its name.
const UNITS: [(f64, f64, &str); 3] = [(3.0 * 3600.0, 3600.0, "hours"), (600.0, 60.0, "minutes"), (0.0, 1.0, "seconds")];
const SHADE: f64 = 0.22;
/// Lowest width of a shade.
const NARROWEST: f64 = 1.5;

pub(super) fn axis(time: &TimeAxis) -> Axis {
    let length = time.to_s - time.from_s;
    let (_, unit, name) = UNITS.into_iter().find(|(from, ..)| length >= *from).unwrap_or(UNITS[2]);
    let mut ticks = linear_ticks(time.from_s / unit, time.to_s / unit, 10);
    ticks.iter_mut().for_each(|tick| tick.at *= unit);
    let scale = AxisScale::Linear { from: time.from_s, to: time.to_s };
    Axis::new(&format!("{name} since the start of the run"), scale, ticks)
}

pub(super) fn middles(time: &TimeAxis) -> impl Iterator<Item = f64> {
    let time = *time;
    (0..time.columns).map(move |i| (time.begin_s(i) + time.end_s(i)) / 2.0)
}

/// Shades the pauses of both sides over the height of `place`.
pub(super) fn shade(svg: &mut Svg, frame: &Frame, place: Rect, pauses: &[PauseSpan]) {
    pauses.iter().for_each(|pause| shade_span(svg, frame, place, (pause.from_s, pause.to_s), look(pause.side)));
}

/// Shades a stretch of time over the height of `place`.
pub(super) fn shade_span(svg: &mut Svg, frame: &Frame, place: Rect, (from_s, to_s): (f64, f64), look: SeriesStyle) {
    let from = frame.x(from_s);
    let to = frame.x(to_s);
    svg.block(Rect { x: from, y: place.y, width: (to - from).max(NARROWEST), height: place.height }, look, SHADE);
}

pub(super) fn shade_swatch(look: SeriesStyle) -> Swatch {
    Swatch::Block(look, SHADE * 1.5)
}

const fn look(side: PausedSide) -> SeriesStyle {
    match side {
        PausedSide::Generator => SeriesStyle::GeneratorPause,
        PausedSide::Server => SeriesStyle::ServerPause,
    }
}

/// Returns the legend of the existing shades.
pub(super) fn shades(series: &RunSeries) -> Vec<(String, Swatch)> {
    let sides =
        [(PausedSide::Server, "server answered nothing"), (PausedSide::Generator, "load generator stood still")];
    let has = |side: PausedSide| series.pauses.iter().any(|pause| pause.side == side);
    let entry = |(side, name): (PausedSide, &str)| (name.to_owned(), shade_swatch(look(side)));
    sides.into_iter().filter(|(side, _)| has(*side)).map(entry).collect()
}
