//! Values per interval of time for several series: as bars, so that equal values stay visible, or as steps if too many.

use super::color::Role;
use super::frame::{Axis, Frame};
use super::layout::{FAINT_INK, HEIGHT, INK};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::scale::{AxisScale, Tick, linear_ticks};
use super::sheet::{Sheet, Swatch};
use super::steps::{StepSegment, draw_steps};
use super::svg::{Anchor, Label, Rect, Svg};
use super::text_width;

/// A plot of values per interval.
#[derive(Clone, PartialEq, Debug)]
pub struct IntervalPlot {
    /// The headline.
    pub title: String,
    /// Sentence below the headline; empty for none.
    pub subtitle: String,
    /// Meaning of the values, with their unit: `p99 of each interval, ms`.
    pub quantity: String,
    /// End of each interval, seconds; the first begins at 0.
    pub ends: Vec<f64>,
    /// The series, each with one value per interval.
    pub series: Vec<IntervalSeries>,
    /// A shaded time range that explains the picture.
    pub shade: Option<Shade>,
}

/// One series.
#[derive(Clone, PartialEq, Debug)]
pub struct IntervalSeries {
    /// Name in the legend.
    pub name: String,
    /// Role, which determines colour and line.
    pub role: Role,
    /// The value of each interval, if it has one.
    pub values: Vec<Option<f64>>,
    /// Value of the whole run. If a series has one, they are drawn in a separate frame at the right.
    pub whole_run: Option<f64>,
}

/// A shaded time range.
#[derive(Clone, PartialEq, Debug)]
pub struct Shade {
    /// Start, seconds.
    pub from: f64,
    /// End, seconds.
    pub to: f64,
    /// Its label.
    pub label: String,
}

const MAX_BARS: usize = 16;
/// Lowest width of a bar with a value above it.
const NARROWEST_WITH_FIGURE: f64 = 26.0;
const FIGURE: f64 = 15.0;
const SPACE: f64 = 0.16;
const SHADE: f64 = 0.15;
const WHOLE_RUN_WIDTH: f64 = 190.0;
const BETWEEN_FRAMES: f64 = 26.0;

/// Draws the plot.
pub fn intervals(plot: &IntervalPlot) -> Picture {
    let swatch = if plot.as_bars() { Swatch::Bar } else { Swatch::Curve };
    let legend: Vec<_> = plot.series.iter().map(|series| (series.name.clone(), swatch(series.role))).collect();
    let mut sheet = Sheet::new(&plot.title, &plot.subtitle, HEIGHT, &legend);
    let (left, right) = plot.areas(sheet.area);
    let y = plot.value_axis();
    let frame = Frame::in_area(left, plot.time_axis(), y.clone());
    frame.draw_behind(&mut sheet.svg);
    plot.draw_shade(&mut sheet.svg, &frame);
    if plot.as_bars() {
        plot.draw_bars(&mut sheet.svg, &frame)
    } else {
        plot.draw_lines(&mut sheet.svg, &frame)
    }
    frame.draw_base(&mut sheet.svg);
    if let Some(right) = right {
        plot.draw_whole_run(&mut sheet.svg, right, y);
    }
    sheet.finish()
}

impl IntervalPlot {
    fn as_bars(&self) -> bool {
        self.ends.len() <= MAX_BARS
    }

    fn end(&self) -> f64 {
        self.ends.last().copied().unwrap_or(1.0)
    }

    fn areas(&self, area: Rect) -> (Rect, Option<Rect>) {
        if self.series.iter().all(|series| series.whole_run.is_none()) {
            return (area, None);
        }
        let left = Rect { width: area.width - WHOLE_RUN_WIDTH - BETWEEN_FRAMES, ..area };
        let x = area.x + area.width - WHOLE_RUN_WIDTH;
        (left, Some(Rect { x, width: WHOLE_RUN_WIDTH, ..area }))
    }

    fn time_axis(&self) -> Axis {
        let scale = AxisScale::Linear { from: 0.0, to: self.end() };
        Axis::new("time since the start, s", scale, linear_ticks(0.0, self.end(), 8))
    }

    fn value_axis(&self) -> Axis {
        let values = self.series.iter().flat_map(|series| series.values.iter().chain([&series.whole_run]).flatten());
        let highest = values.copied().fold(0.0, f64::max);
        // Room above the highest bar for its value and for the label of the shade.
        let to = if highest > 0.0 { highest * 1.2 } else { 1.0 };
        Axis::new(&self.quantity, AxisScale::Linear { from: 0.0, to }, linear_ticks(0.0, to, 6))
    }

    fn spans(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let starts = std::iter::once(0.0).chain(self.ends.iter().copied());
        starts.zip(self.ends.iter().copied())
    }

    fn draw_shade(&self, svg: &mut Svg, frame: &Frame) {
        let Some(shade) = &self.shade else { return };
        let from = frame.x(shade.from);
        let to = frame.x(shade.to);
        if to <= from {
            return;
        }
        let place = Rect { x: from, y: frame.inner.y, width: to - from, height: frame.inner.height };
        svg.block(place, SeriesStyle::WarmUp, SHADE);
        let half = text_width::width(&shade.label, FIGURE) / 2.0;
        let left = frame.inner.x + half;
        let right = frame.inner.x + frame.inner.width - half;
        let x = ((from + to) / 2.0).min(right).max(left);
        let y = frame.inner.y + 16.0;
        let label = Label { x, y, text: &shade.label, size: FIGURE, anchor: Anchor::Middle, color: INK, bold: false };
        svg.label(label);
    }

    fn draw_bars(&self, svg: &mut Svg, frame: &Frame) {
        for (number, (from, to)) in self.spans().enumerate() {
            let values: Vec<_> =
                self.series.iter().map(|series| series.values.get(number).copied().flatten()).collect();
            self.draw_group(svg, frame, (frame.x(from), frame.x(to)), &values);
        }
    }

    fn draw_group(&self, svg: &mut Svg, frame: &Frame, (left, right): (f64, f64), values: &[Option<f64>]) {
        let space = (right - left) * SPACE;
        let slot = (right - left - space) / values.len().max(1) as f64;
        for (number, (series, value)) in self.series.iter().zip(values).enumerate() {
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let x = left + space / 2.0 + slot * number as f64;
            let y = frame.y(value);
            let bar = Rect { x: x + 1.0, y, width: slot - 2.0, height: frame.bottom() - y };
            svg.rect(bar, series.role.color());
            if slot >= NARROWEST_WITH_FIGURE {
                figure(svg, x + slot / 2.0, y - 6.0, value);
            }
        }
    }

    fn draw_lines(&self, svg: &mut Svg, frame: &Frame) {
        for series in &self.series {
            let steps = self.spans().zip(&series.values);
            let steps: Vec<_> = steps
                .map(|((from, to), value)| {
                    value.filter(|value| value.is_finite()).map(|value| StepSegment { from, to, value })
                })
                .collect();
            for part in steps.split(Option::is_none) {
                let part: Vec<_> = part.iter().flatten().copied().collect();
                draw_steps(svg, frame, &part, series.role.stroke());
            }
        }
    }

    fn draw_whole_run(&self, svg: &mut Svg, area: Rect, y: Axis) {
        let ticks = vec![Tick { at: 0.5, text: "whole run".to_owned() }];
        // A blank label keeps both frames equally high.
        let x = Axis::new(" ", AxisScale::Linear { from: 0.0, to: 1.0 }, ticks);
        let frame = Frame::in_area(area, x, Axis { label: String::new(), bare: true, ..y });
        frame.draw_behind(svg);
        let left = frame.x(0.0);
        let right = frame.x(1.0);
        let values: Vec<_> = self.series.iter().map(|series| series.whole_run).collect();
        self.draw_group(svg, &frame, (left, right), &values);
        frame.draw_base(svg);
    }
}

fn figure(svg: &mut Svg, x: f64, y: f64, value: f64) {
    let text = if value >= 10.0 || value == value.round() { format!("{value:.0}") } else { format!("{value:.1}") };
    svg.label(Label { x, y, text: &text, size: FIGURE, anchor: Anchor::Middle, color: FAINT_INK, bold: false });
}
