//! Lines with a label in the margin, cut to the available rows and columns.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::{Line, Span};

use crate::look::{Emphasis, TerminalStyle};

/// Columns before the text.
const MARGIN: usize = 13;
/// Minimum width of a screen with a margin. On a narrower screen, labels and text share the line.
const NARROW: u16 = 50;

/// Text below a label, or next to it.
pub(crate) struct Labelled {
    look: TerminalStyle,
    columns: u16,
    margin: usize,
    /// All lines, regardless of the available rows.
    pub lines: Vec<Line<'static>>,
}

impl Labelled {
    /// Creates an empty text for an area of this many columns.
    pub(crate) fn new(look: TerminalStyle, columns: u16) -> Labelled {
        Labelled { look, columns, margin: MARGIN, lines: Vec::new() }
    }

    /// Sets the width of the labels in columns, including the blanks after them.
    pub(crate) fn with_margin(self, margin: usize) -> Labelled {
        Labelled { margin, ..self }
    }

    /// Adds text, wrapped. Emphasizes its first word, or all of it if `whole` is true.
    pub(crate) fn add(&mut self, label: &str, text: &str, emphasis: Emphasis, whole: bool) {
        let label = &self.look.printable(label);
        let margin = if self.columns < NARROW { label.chars().count() + 1 } else { self.margin };
        let room = self.columns.saturating_sub(margin as u16).max(8);
        for (number, line) in self.look.wrap(text, room).into_iter().enumerate() {
            let label = if number == 0 { label.as_str() } else { "" };
            let mut spans = vec![self.look.span(Emphasis::Faint, &format!("{label:margin$}"))];
            match line.split_once(' ') {
                Some((word, rest)) if number == 0 && !whole => {
                    spans.push(self.look.span(emphasis, word));
                    spans.push(Span::raw(format!(" {rest}")));
                }
                _ => spans.push(self.look.span(if number == 0 || whole { emphasis } else { Emphasis::Plain }, &line)),
            }
            self.lines.push(Line::from(spans));
        }
    }

    pub(crate) fn rows(&self) -> u16 {
        u16::try_from(self.lines.len()).unwrap_or(u16::MAX)
    }

    pub(crate) fn draw(&self, area: Rect, buffer: &mut Buffer) {
        draw_lines(&self.lines, self.look, area, buffer);
    }
}

/// Draws as many lines as fit. The last one ends in a mark if lines were cut off.
pub(crate) fn draw_lines(lines: &[Line<'static>], look: TerminalStyle, area: Rect, buffer: &mut Buffer) {
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        let (end, _) = buffer.set_line(area.x, y, line, area.width);
        let is_cut = line.width() > usize::from(area.width);
        let is_last = y + 1 == area.bottom() && lines.len() > usize::from(area.height);
        if (is_cut || is_last) && area.width > 3 {
            let mark = if is_cut { look.printable("…") } else { look.printable(" …") };
            let x = end.min(area.right().saturating_sub(mark.chars().count() as u16));
            buffer.set_line(x, y, &Line::from(look.span(Emphasis::Faint, &mark)), area.right() - x);
        }
    }
}
