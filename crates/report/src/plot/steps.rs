//! Step lines.

use super::frame::Frame;
use super::svg::{Stroke, Svg};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct StepSegment {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) value: f64,
}

/// Draws steps from left to right as one line, without points that could not be told apart.
pub(super) fn draw_steps(svg: &mut Svg, frame: &Frame, steps: &[StepSegment], stroke: Stroke<'_>) {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for step in steps {
        for at in [step.from, step.to] {
            let point = (frame.x(at), frame.y(step.value));
            if points.last().is_none_or(|last| visibly_apart(*last, point)) {
                points.push(point);
            }
        }
    }
    svg.line(&points, stroke);
}

fn visibly_apart(one: (f64, f64), other: (f64, f64)) -> bool {
    (one.0 - other.0).abs() >= 0.25 || (one.1 - other.1).abs() >= 0.25
}
