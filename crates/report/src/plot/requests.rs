//! Single requests by start and latency, one run above another on the same axes.

use std::collections::BTreeSet;

use super::color::Role;
use super::frame::{Axis, Frame};
use super::layout::{FAINT_INK, HEIGHT};
use super::look::SeriesStyle;
use super::picture::Picture;
use super::scale::{AxisScale, linear_ticks, log_time_ticks};
use super::sheet::{Sheet, Swatch};
use super::svg::{Anchor, Label, Rect, Svg};

/// A plot of single requests.
#[derive(Clone, PartialEq, Debug)]
pub struct RequestPlot<'a> {
    /// The headline.
    pub title: String,
    /// Sentence below the headline.
    pub subtitle: String,
    /// Meaning of the latencies.
    pub quantity: &'a str,
    /// Length of the time axis, nanoseconds.
    pub duration_ns: u64,
    /// Shaded time ranges that explain the picture: (from, to), nanoseconds.
    pub shades: Vec<(u64, u64)>,
    /// Panels from top to bottom.
    pub panels: Vec<Panel>,
}

/// The requests of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Panel {
    /// Name in the legend.
    pub name: String,
    /// Role, which determines the colour.
    pub role: Role,
    /// (start since the beginning of the run, latency) of each request, nanoseconds.
    pub requests: Vec<(u64, u64)>,
}

const SHADE: f64 = 0.2;
const DOT: f64 = 2.6;
const BETWEEN: f64 = 14.0;
/// Height of the text below the last panel.
const FOOT: f64 = 25.0;

/// Draws the plot.
pub fn requests(plot: &RequestPlot<'_>) -> Picture {
    let legend: Vec<_> = plot.panels.iter().map(|panel| (panel.name.clone(), Swatch::Bar(panel.role))).collect();
    let mut sheet = Sheet::new(&plot.title, &plot.subtitle, HEIGHT, &legend);
    let count = plot.panels.len().max(1) as f64;
    let height = (sheet.area.height - FOOT - BETWEEN * (count - 1.0)) / count;
    for (number, panel) in plot.panels.iter().enumerate() {
        let last = number + 1 == plot.panels.len();
        let y = sheet.area.y + number as f64 * (height + BETWEEN);
        let area = Rect { y, height: height + if last { FOOT } else { 0.0 }, ..sheet.area };
        draw_panel(&mut sheet.svg, plot, panel, area, last);
    }
    sheet.finish()
}

fn draw_panel(svg: &mut Svg, plot: &RequestPlot<'_>, panel: &Panel, area: Rect, last: bool) {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let end = seconds(plot.duration_ns);
    let (from, to) = range(plot);
    let x = Axis::new(
        if last { "start of the request, s" } else { "" },
        AxisScale::Linear { from: 0.0, to: end },
        linear_ticks(0.0, end, 6),
    );
    let y = Axis::new(plot.quantity, AxisScale::Log { from, to }, log_time_ticks(from, to));
    let frame = Frame::in_area(area, x, y);
    for (from, to) in &plot.shades {
        let left = frame.x(seconds(*from));
        let right = frame.x(seconds(*to));
        let width = (right - left).max(1.0);
        let place = Rect { x: left, y: frame.inner.y, width, height: frame.inner.height };
        svg.block(place, SeriesStyle::WarmUp, SHADE);
    }
    frame.draw_behind(svg);
    frame.draw_base(svg);
    svg.dots(&dots(&frame, panel), DOT, panel.role.color());
    if panel.requests.is_empty() {
        let x = frame.inner.x + frame.inner.width / 2.0;
        let y = frame.inner.y + frame.inner.height / 2.0;
        let text = "no single requests";
        svg.label(Label { x, y, text, size: 16.0, anchor: Anchor::Middle, color: FAINT_INK, bold: false });
    }
}

/// Returns the positions of the dots, rounded to half a unit of the picture. Requests at the same position share a dot.
fn dots(frame: &Frame, panel: &Panel) -> Vec<(f64, f64)> {
    let half_units = |at: f64| (at * 2.0).round() as i64;
    let place = |(start, took): &(u64, u64)| {
        (half_units(frame.x(*start as f64 / 1e9)), half_units(frame.y((*took).max(1) as f64)))
    };
    let places: BTreeSet<(i64, i64)> = panel.requests.iter().map(place).collect();
    places.into_iter().map(|(x, y)| (x as f64 / 2.0, y as f64 / 2.0)).collect()
}

fn range(plot: &RequestPlot<'_>) -> (f64, f64) {
    let times = || plot.panels.iter().flat_map(|panel| &panel.requests).map(|(_, took)| (*took).max(1) as f64);
    let low = times().fold(f64::INFINITY, f64::min);
    let high = times().fold(0.0, f64::max);
    if high > 0.0 { (low / 1.5, (high * 1.6).max(low * 20.0)) } else { (1e6, 1e9) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(requests: Vec<(u64, u64)>) -> RequestPlot<'static> {
        let panel = |name: &str, role, requests| Panel { name: name.to_owned(), role, requests };
        RequestPlot {
            title: "single requests".to_owned(),
            subtitle: String::new(),
            quantity: "as reported",
            duration_ns: 60_000_000_000,
            shades: vec![(30_000_000_000, 31_000_000_000)],
            panels: vec![panel("closed", Role::Closed, Vec::new()), panel("open", Role::Open, requests)],
        }
    }

    #[test]
    fn overlapping_marks_are_drawn_once() {
        let same = plot((0..60_000).map(|n| (n * 1_000_000, 10_000_000)).collect());
        let picture = requests(&same);
        let dots = picture.svg().matches("h.01").count();
        assert!((1_000..4_000).contains(&dots), "{dots} dots for 60 000 requests of one height");
        let two = requests(&plot(vec![(0, 10_000_000), (1_000_000_000, 1_000_000_000)]));
        assert_eq!(two.svg().matches("h.01").count(), 2);
        assert_eq!(two.svg().matches("s-warm-up").count(), 2, "the stall is shaded in both");
    }

    #[test]
    fn odd_requests_are_drawn_somehow() {
        let picture = requests(&plot(vec![(0, 0), (u64::MAX, u64::MAX)]));
        assert!(!picture.svg().contains("NaN") && !picture.svg().contains("inf"));
        assert!(requests(&plot(Vec::new())).svg().contains("no single requests"));
        assert!(picture.png().is_ok());
    }
}
