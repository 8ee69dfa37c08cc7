//! The frame that all pictures over time share: labels on the left, captions on the right, one time axis.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;

use crate::look::{Emphasis, TerminalStyle};
use crate::time::Span;

/// Columns of the labels and the blank after them.
const LABELS: u16 = 12;
/// Columns of the captions and the blanks before them.
const CAPTIONS: u16 = 22;
/// Minimum width of a plot with captions.
const NARROWEST: u16 = 24;

/// Layout of a row of the screen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Frame {
    /// Capabilities of the terminal.
    pub look: TerminalStyle,
    /// Time axis, with as many columns as the plot.
    pub span: Span,
    has_captions: bool,
}

impl Frame {
    /// Returns the columns of a plot in an area of this width, and true if it has captions.
    fn plot(width: u16) -> (u16, bool) {
        let rest = width.saturating_sub(LABELS);
        if rest >= NARROWEST + CAPTIONS { (rest - CAPTIONS, true) } else { (rest, false) }
    }

    /// Creates a frame from the end of the warm-up to now.
    pub(crate) fn new(look: TerminalStyle, width: u16, from_s: f64, now_s: f64, end_s: Option<f64>) -> Frame {
        let (columns, has_captions) = Frame::plot(width);
        Frame { look, span: Span::for_run(from_s, now_s, end_s, usize::from(columns)), has_captions }
    }

    /// Writes a right-aligned label next to row `y`.
    pub(crate) fn label(&self, text: &str, area: Rect, y: u16, buffer: &mut Buffer) {
        let text = self.look.printable(text);
        let room = usize::from(LABELS - 1);
        let line = Line::from(self.look.span(Emphasis::Faint, &format!("{text:>room$}")));
        buffer.set_line(area.x, y, &line, area.width.min(LABELS));
    }

    /// Writes the caption of row `y`, after the plot.
    pub(crate) fn caption(&self, line: Line<'static>, area: Rect, y: u16, buffer: &mut Buffer) {
        if self.has_captions {
            let x = area.right().saturating_sub(CAPTIONS - 2).max(area.x);
            buffer.set_line(x, y, &line, area.right() - x);
        }
    }

    pub(crate) fn plot_area(&self, area: Rect) -> Rect {
        let (width, _) = Frame::plot(area.width);
        Rect { x: area.x + LABELS.min(area.width), width, ..area }
    }

    /// Writes the times at both ends of the axis.
    pub(crate) fn axis(&self, area: Rect, buffer: &mut Buffer) {
        let plot = self.plot_area(area);
        let [from, to] = [self.span.from_s, self.span.to_s].map(seconds);
        let room = usize::from(plot.width).saturating_sub(from.len()).max(to.len() + 1);
        let line = Line::from(self.look.span(Emphasis::Faint, &format!("{from}{to:>room$}")));
        buffer.set_line(plot.x, plot.y, &line, plot.width);
    }
}

fn seconds(time_s: f64) -> String {
    format!("{}s", (time_s * 10.0).round() / 10.0)
}
