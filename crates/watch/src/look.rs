//! Capabilities of the terminal, and emphasis of text.

use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Span;

/// Colours of a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Palette {
    /// No colours: `NO_COLOR` is set. Text may be bold or faint.
    Monochrome,
    /// The sixteen colours of any colour terminal.
    Basic,
    /// 256 colours.
    Indexed,
}

/// Capabilities of the terminal, as stated by the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TerminalStyle {
    /// Colours.
    pub palette: Palette,
    /// True if characters beyond ASCII are allowed.
    pub unicode: bool,
}

/// Emphasis of text, as in the summary of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Emphasis {
    Plain,
    Bold,
    Faint,
    Good,
    Doubt,
    Bad,
}

impl TerminalStyle {
    pub(crate) fn style(self, emphasis: Emphasis) -> Style {
        let colored = |color: Color| match self.palette {
            Palette::Monochrome => Style::new().add_modifier(Modifier::BOLD),
            Palette::Basic | Palette::Indexed => Style::new().fg(color).add_modifier(Modifier::BOLD),
        };
        match emphasis {
            Emphasis::Plain => Style::new(),
            Emphasis::Bold => Style::new().add_modifier(Modifier::BOLD),
            Emphasis::Faint => Style::new().add_modifier(Modifier::DIM),
            Emphasis::Good => colored(Color::Green),
            Emphasis::Doubt => colored(Color::Yellow),
            Emphasis::Bad => colored(Color::Red),
        }
    }

    /// Returns text with an emphasis, without control characters.
    pub(crate) fn span(self, emphasis: Emphasis, text: &str) -> Span<'static> {
        Span::styled(self.printable(text), self.style(emphasis))
    }

    /// Returns `text` without control characters, and in ASCII if the terminal supports nothing else.
    pub(crate) fn printable(self, text: &str) -> String {
        self.report().printable(text)
    }

    /// Wraps [`TerminalStyle::printable`] `text` in lines of at most `columns`.
    pub(crate) fn wrap(self, text: &str, columns: u16) -> Vec<String> {
        self.report().wrap(text, usize::from(columns.max(1)))
    }

    /// Returns a style without colours for the functions of the report.
    pub(crate) fn report(self) -> truetail_report::Style {
        truetail_report::Style { color: false, unicode: self.unicode, ..truetail_report::Style::default() }
    }

    pub(crate) const fn either(self, unicode: char, ascii: char) -> char {
        if self.unicode { unicode } else { ascii }
    }
}
