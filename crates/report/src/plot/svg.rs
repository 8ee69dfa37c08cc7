//! An SVG writer for the few shapes that plots are made of.

use std::fmt::Write;

use crate::markup::escaped;

/// How a text is aligned to its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label<'a> {
    pub(super) x: f64,
    /// The base line.
    pub(super) y: f64,
    pub(super) text: &'a str,
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) color: &'a str,
    pub(super) bold: bool,
}

/// The style of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke<'a> {
    pub(super) color: &'a str,
    pub(super) width: f64,
    /// Empty for a solid one.
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

/// An SVG document that is being written.
#[derive(Debug)]
pub(super) struct Svg(String);

const FONTS: &str = "Inter, 'Helvetica Neue', Arial, sans-serif";

impl Svg {
    /// A white picture. `title` and `description` are for screen readers.
    pub(super) fn new(width: f64, height: f64, title: &str, description: &str) -> Svg {
        let (width, height) = (short(width), short(height));
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"{FONTS}\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n",
            escaped(title),
            escaped(description)
        ))
    }

    pub(super) fn rect(&mut self, rect: Rect, fill: &str) {
        let [x, y, width, height] = [rect.x, rect.y, rect.width.max(0.0), rect.height.max(0.0)].map(short);
        self.push(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"));
    }

    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        let [x, y, radius] = [x, y, radius].map(short);
        self.push(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"/>"));
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
        let (color, width) = (stroke.color, short(stroke.width));
        let dashes =
            if stroke.dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", stroke.dashes) };
        self.push(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"\
             {dashes}/>"
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
        self.push(&format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{diameter}\" stroke-linecap=\"round\"/>"
        ));
    }

    pub(super) fn label(&mut self, label: Label<'_>) {
        let (x, y) = (short(label.x), short(label.y));
        self.text(label, &format!("x=\"{x}\" y=\"{y}\""));
    }

    /// Draws a label that reads from bottom to top.
    pub(super) fn label_upwards(&mut self, label: Label<'_>) {
        let (x, y) = (short(label.x), short(label.y));
        self.text(label, &format!("transform=\"translate({x} {y}) rotate(-90)\""));
    }

    fn text(&mut self, label: Label<'_>, place: &str) {
        let anchor = match label.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if label.bold { " font-weight=\"600\"" } else { "" };
        let (size, color) = (short(label.size), label.color);
        let text = escaped(label.text);
        self.push(&format!("<text {place} font-size=\"{size}\" fill=\"{color}\"{anchor}{weight}>{text}</text>"));
    }

    fn push(&mut self, element: &str) {
        self.0.push_str(element);
        self.0.push('\n');
    }

    pub(super) fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// Two decimals, without trailing zeros.
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
