//! An SVG writer for the few shapes of plots.

use std::fmt::Write;

use super::look::{SeriesStyle, class_of};
use crate::markup::escaped;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Label<'a> {
    pub(super) x: f64,
    /// Base line.
    pub(super) y: f64,
    pub(super) text: &'a str,
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) color: &'a str,
    pub(super) bold: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke<'a> {
    pub(super) color: &'a str,
    pub(super) width: f64,
    /// Dashes; empty for a solid line.
    pub(super) dashes: &'a str,
}

impl<'a> Stroke<'a> {
    pub(super) fn solid(color: &'a str, width: f64) -> Stroke<'a> {
        Stroke { color, width, dashes: "" }
    }
}

/// A rectangle; sides are never negative.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

#[derive(Debug)]
pub(super) struct Svg {
    text: String,
}

const FONTS: &str = "Inter, 'Helvetica Neue', Arial, sans-serif";

impl Svg {
    /// Returns a white picture with classes, so that a page can recolour it. `title` and `description` are for screen
    /// readers.
    pub(super) fn new(width: f64, height: f64, title: &str, description: &str) -> Svg {
        let width = short(width);
        let height = short(height);
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"{FONTS}\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\" class=\"paper\"/>\n",
            escaped(title),
            escaped(description)
        );
        Svg { text }
    }

    pub(super) fn rect(&mut self, rect: Rect, fill: &str) {
        let [x, y, width, height] = [rect.x, rect.y, rect.width.max(0.0), rect.height.max(0.0)].map(short);
        let class = class_attribute(fill);
        self.push(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"{class}/>"));
    }

    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        let [x, y, radius] = [x, y, radius].map(short);
        let class = class_attribute(fill);
        self.push(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"{class}/>"));
    }

    /// Draws a line through `points`; nothing for fewer than two.
    pub(super) fn line(&mut self, points: &[(f64, f64)], stroke: Stroke<'_>) {
        if points.len() < 2 {
            return;
        }
        let mut path = String::new();
        for (x, y) in points {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            write!(path, "{letter}{} {}", short(*x), short(*y)).expect("a String takes everything");
        }
        let color = stroke.color;
        let width = short(stroke.width);
        let dashes =
            if stroke.dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", stroke.dashes) };
        let class = class_attribute(color);
        self.push(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"\
             {dashes}{class}/>"
        ));
    }

    /// Draws round dots of this diameter, all in one path.
    pub(super) fn dots(&mut self, points: &[(f64, f64)], diameter: f64, color: &str) {
        if points.is_empty() {
            return;
        }
        let mut path = String::new();
        for (x, y) in points {
            write!(path, "M{} {}h.01", short(*x), short(*y)).expect("a String takes everything");
        }
        let diameter = short(diameter);
        let class = class_attribute(color);
        self.push(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{diameter}\" \
             stroke-linecap=\"round\"{class}/>"
        ));
    }

    pub(super) fn label(&mut self, label: Label<'_>) {
        let x = short(label.x);
        let y = short(label.y);
        self.text(label, &format!("x=\"{x}\" y=\"{y}\""));
    }

    pub(super) fn label_upwards(&mut self, label: Label<'_>) {
        let x = short(label.x);
        let y = short(label.y);
        self.text(label, &format!("transform=\"translate({x} {y}) rotate(-90)\""));
    }

    fn text(&mut self, label: Label<'_>, place: &str) {
        let anchor = match label.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if label.bold { " font-weight=\"600\"" } else { "" };
        let size = short(label.size);
        let color = label.color;
        let text = escaped(label.text);
        let class = class_attribute(color);
        self.push(&format!("<text {place} font-size=\"{size}\" fill=\"{color}\"{anchor}{weight}{class}>{text}</text>"));
    }

    /// Draws the line of a series through stretches of `points`; a stretch of one point is a dot. Coordinates are
    /// relative and have one decimal, which keeps long lines short.
    pub(super) fn series(&mut self, stretches: &[Vec<(f64, f64)>], look: SeriesStyle, width: f64) {
        let mut path = String::new();
        let mut pen = Pen::default();
        for points in stretches {
            for (i, point) in points.iter().enumerate() {
                pen.to(&mut path, if i == 0 { 'm' } else { 'l' }, *point);
            }
            if points.len() == 1 {
                path.push_str("h.1");
                pen.at.0 += 1;
            }
        }
        if path.is_empty() {
            return;
        }
        let dashes = match look.dashes() {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let color = look.color();
        let class = look.class();
        let width = short(width);
        self.push(&format!(
            "<path class=\"{class}\" d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"{dashes}/>"
        ));
    }

    /// Fills the outline `points` in the colour of a series.
    pub(super) fn area(&mut self, points: &[(f64, f64)], look: SeriesStyle, opacity: f64) {
        if points.len() < 3 {
            return;
        }
        let mut path = String::new();
        let mut pen = Pen::default();
        points.iter().enumerate().for_each(|(i, point)| pen.to(&mut path, if i == 0 { 'm' } else { 'l' }, *point));
        self.filled(&format!("<path d=\"{path}z\""), look, opacity);
    }

    pub(super) fn block(&mut self, rect: Rect, look: SeriesStyle, opacity: f64) {
        let [x, y, width, height] = [rect.x, rect.y, rect.width.max(0.0), rect.height.max(0.0)].map(short);
        self.filled(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""), look, opacity);
    }

    /// Draws rectangles in the colour of a series in one path, which is shorter than separate elements.
    pub(super) fn blocks(&mut self, rects: &[Rect], look: SeriesStyle, opacity: f64) {
        let mut path = String::new();
        for rect in rects {
            let [x, y, width, height] = [rect.x, rect.y, rect.width.max(0.0), rect.height.max(0.0)].map(short);
            write!(path, "M{x} {y}h{width}v{height}H{x}z").expect("a String takes everything");
        }
        if !path.is_empty() {
            self.filled(&format!("<path d=\"{path}\""), look, opacity);
        }
    }

    fn filled(&mut self, element: &str, look: SeriesStyle, opacity: f64) {
        let color = look.color();
        let class = look.class();
        let opacity = short(opacity);
        self.push(&format!("{element} class=\"{class}\" fill=\"{color}\" fill-opacity=\"{opacity}\"/>"));
    }

    /// Draws cells of a grid as horizontal dashes. `path` is in columns and rows, from the lower left corner of `area`.
    pub(super) fn cells(
        &mut self,
        path: &str,
        area: Rect,
        (columns, rows): (f64, f64),
        look: SeriesStyle,
        opacity: f64,
    ) {
        if path.is_empty() {
            return;
        }
        let fine = |value: f64| {
            short(value * 1e4).parse::<f64>().map_or_else(|_| short(value), |value| (value / 1e4).to_string())
        };
        let x = short(area.x);
        let y = short(area.y + area.height);
        let wide = fine(area.width / columns);
        let high = fine(area.height / rows);
        let color = look.color();
        let class = look.class();
        let opacity = short(opacity);
        self.push(&format!(
            "<path class=\"{class}\" transform=\"translate({x} {y}) scale({wide} -{high})\" d=\"{path}\" fill=\"none\" \
             stroke=\"{color}\" stroke-opacity=\"{opacity}\"/>"
        ));
    }

    /// Begins the data of a panel. A page zooms into it by another `viewBox`, and so draws no data itself.
    pub(super) fn begin_panel(&mut self, inner: Rect) {
        let [x, y, width, height] = [inner.x, inner.y, inner.width, inner.height].map(short);
        self.push(&format!(
            "<svg class=\"inner\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"{x} {y} {width} {height}\" preserveAspectRatio=\"none\" overflow=\"visible\">"
        ));
    }

    pub(super) fn end_panel(&mut self) {
        self.push("</svg>");
    }

    /// Begins the elements of layer `n` of a panel.
    pub(super) fn begin_layer(&mut self, n: usize) {
        self.push(&format!("<g data-layer=\"{n}\">"));
    }

    pub(super) fn end_layer(&mut self) {
        self.push("</g>");
    }

    fn push(&mut self, element: &str) {
        self.text.push_str(element);
        self.text.push('\n');
    }

    pub(super) fn finish(self) -> String {
        self.text + "</svg>\n"
    }
}

/// Returns ` class="…"` for this colour; empty for a colour without a class.
fn class_attribute(color: &str) -> String {
    class_of(color).map_or(String::new(), |class| format!(" class=\"{class}\""))
}

/// Writes relative coordinates in tenths of a unit, without accumulating rounding errors.
#[derive(Default)]
struct Pen {
    at: (i64, i64),
}

impl Pen {
    fn to(&mut self, path: &mut String, letter: char, (x, y): (f64, f64)) {
        let tenths = |value: f64| (value * 10.0).round() as i64;
        let x = tenths(x);
        let y = tenths(y);
        let dx = tenth(x - self.at.0);
        let dy = tenth(y - self.at.1);
        let space = if dy.starts_with('-') { "" } else { " " };
        write!(path, "{letter}{dx}{space}{dy}").expect("a String takes everything");
        self.at = (x, y);
    }
}

fn tenth(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    let whole = n.abs() / 10;
    let part = n.abs() % 10;
    match (whole, part) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 0.5, -0.001, 123.456].map(short), ["1", "0.5", "0", "123.46"]);
    }
}
