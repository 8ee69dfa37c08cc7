//! Common parts of pictures over time: the axis, and the shades of pauses.

use truetail_analysis::series::{PauseSpan, PausedSide, TimeAxis};

use super::frame::{Axis, Frame};
use super::look::SeriesStyle;
use super::reading::{LayerReading, ReadingAxis, levels};
use super::scale::{AxisScale, linear_ticks, second_levels};
use super::sheet::{Layer, Swatch};
use super::svg::{Rect, Svg};

/// Units of the axis: shortest length in seconds, length of the unit, and its name.
const UNITS: [(f64, f64, &str); 3] = [(3.0 * 3600.0, 3600.0, "hours"), (600.0, 60.0, "minutes"), (0.0, 1.0, "seconds")];
const SHADE: f64 = 0.22;
/// Opacity of marks along the foot.
const FOOT: f64 = 0.8;
/// Lowest width of a shade.
const NARROWEST: f64 = 1.5;

pub(super) fn axis(time: &TimeAxis) -> Axis {
    let length = time.to_s - time.from_s;
    let (_, unit, name) = UNITS.into_iter().find(|(from, ..)| length >= *from).unwrap_or(UNITS[2]);
    let mut ticks = linear_ticks(time.from_s / unit, time.to_s / unit, 10);
    ticks.iter_mut().for_each(|tick| tick.at *= unit);
    Axis::new(&format!("{name} since the start of the run"), scale(time), ticks)
}

fn scale(time: &TimeAxis) -> AxisScale {
    AxisScale::Linear { from: time.from_s, to: time.to_s }
}

/// Returns the axis for reading a picture: a stop in each column. Pictures with the same key share their cursor.
pub(super) fn reading(key: &'static str, time: &TimeAxis) -> ReadingAxis {
    let stops: Vec<f64> = middles(time).collect();
    let ticks = second_levels(time.from_s, time.to_s, 2.0 * time.column_s);
    let ticks = levels(scale(time), ticks);
    let texts = (0..time.columns).map(|i| column_text(time, i));
    ReadingAxis { key, name: "time since the start", ticks, ..ReadingAxis::new(scale(time), &stops, texts) }
}

/// Formats the times of a column: `30.0…30.5s`.
fn column_text(time: &TimeAxis, i: usize) -> String {
    let edge = |i: usize| if i == time.columns { time.to_s } else { time.from_s + i as f64 * time.column_s };
    let shortest = time.column_s.min(edge(i + 1) - edge(i));
    let decimals = (-libm::log10(shortest) - 1e-9).ceil().clamp(0.0, 6.0) as usize;
    format!("{:.decimals$}…{:.decimals$}s", edge(i), edge(i + 1))
}

pub(super) fn middles(time: &TimeAxis) -> impl Iterator<Item = f64> {
    let time = *time;
    (0..time.columns).map(move |i| (time.begin_s(i) + time.end_s(i)) / 2.0)
}

/// A kind of shaded stretches of time, with its name.
pub(super) struct Shades {
    pub(super) name: &'static str,
    pub(super) look: SeriesStyle,
    pub(super) spans: Vec<(f64, f64)>,
}

impl Shades {
    /// Returns the layer that shades these stretches over the height of the frame, or over `foot` units at its foot.
    pub(super) fn layer(&self, foot: Option<f64>) -> Layer<'_> {
        Layer::new(LayerReading::shade(self.name, self.look), move |svg, frame| {
            let inner = frame.inner;
            let height = foot.unwrap_or(inner.height);
            let place = Rect { y: inner.y + inner.height - height, height, ..inner };
            let opacity = if foot.is_some() { FOOT } else { SHADE };
            self.spans.iter().for_each(|span| shade_span(svg, frame, place, *span, (self.look, opacity)));
        })
    }

    pub(super) fn entry(&self) -> (String, Swatch) {
        (self.name.to_owned(), shade_swatch(self.look))
    }
}

fn shade_span(
    svg: &mut Svg,
    frame: &Frame,
    place: Rect,
    (from_s, to_s): (f64, f64),
    (look, opacity): (SeriesStyle, f64),
) {
    let x = frame.x(from_s);
    let width = (frame.x(to_s) - x).max(NARROWEST);
    svg.block(Rect { x, y: place.y, width, height: place.height }, look, opacity);
}

fn shade_swatch(look: SeriesStyle) -> Swatch {
    Swatch::Block(look, SHADE * 1.5)
}

/// Returns the pauses of both sides, and a warm-up within the first column, as far as there are any.
pub(super) fn shades(time: &TimeAxis, pauses: &[PauseSpan]) -> Vec<Shades> {
    let paused = |side: PausedSide| {
        pauses.iter().filter(|pause| pause.side == side).map(|pause| (pause.from_s, pause.to_s)).collect()
    };
    let warm_up = (time.measured_from_s > time.from_s).then_some((time.from_s, time.measured_from_s));
    let all = [
        ("warm-up", SeriesStyle::WarmUp, warm_up.into_iter().collect::<Vec<_>>()),
        ("server answered nothing", SeriesStyle::ServerPause, paused(PausedSide::Server)),
        ("load generator stood still", SeriesStyle::GeneratorPause, paused(PausedSide::Generator)),
    ];
    let some = all.into_iter().filter(|(.., spans)| !spans.is_empty());
    some.map(|(name, look, spans)| Shades { name, look, spans }).collect()
}
