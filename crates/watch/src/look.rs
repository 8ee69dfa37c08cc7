//! What the terminal can show, and how text is emphasized there.

use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Span;

/// The colours of a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Palette {
    /// None: `NO_COLOR` is set. Text may be bold or faint.
    Monochrome,
    /// The sixteen of any terminal with colours.
    Basic,
    /// 256 of them.
    Indexed,
}

/// What the terminal can show. The caller says so: this crate does not look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// Its colours.
    pub palette: Palette,
    /// Use characters beyond ASCII.
    pub unicode: bool,
}

/// How text is emphasized; as on the screen that ends a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Emphasis {
    Plain,
    Bold,
    Faint,
    Good,
    Doubt,
    Bad,
}

impl Look {
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

    /// Text with an emphasis, without anything that could control the terminal.
    pub(crate) fn span(self, emphasis: Emphasis, text: &str) -> Span<'static> {
        Span::styled(self.printable(text), self.style(emphasis))
    }

    /// `text` without control characters, and in ASCII where the terminal has nothing else.
    pub(crate) fn printable(self, text: &str) -> String {
        self.report().printable(text)
    }

    /// `text` in lines of at most `columns`, as [`Look::printable`].
    pub(crate) fn wrap(self, text: &str, columns: u16) -> Vec<String> {
        self.report().wrap(text, usize::from(columns.max(1)))
    }

    /// Text without colours for the functions of the report.
    pub(crate) fn report(self) -> truetail_report::Style {
        truetail_report::Style { color: false, unicode: self.unicode, ..truetail_report::Style::default() }
    }

    /// One of two characters, the second of them ASCII.
    pub(crate) const fn either(self, unicode: char, ascii: char) -> char {
        if self.unicode { unicode } else { ascii }
    }
}
