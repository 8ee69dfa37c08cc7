//! Lines with a label in the margin.

use crate::style::{Emphasis, Style};

/// Columns before the text of a section.
pub(super) const MARGIN: usize = 12;

/// A line with a label in the margin.
pub(super) fn labelled(label: &str, text: &str, style: Style) -> String {
    let space = " ".repeat(MARGIN.saturating_sub(label.chars().count() + 2).max(1));
    format!("  {}{space}{text}", style.emphasize(Emphasis::Faint, label)).trim_end().to_owned()
}

/// A label in the margin, and text wrapped beside it.
pub(super) fn labelled_text(label: &str, text: &str, style: Style) -> Vec<String> {
    let lines = style.wrap(text, style.columns().saturating_sub(MARGIN));
    let label_of = |i: usize| if i == 0 { label } else { "" };
    lines.iter().enumerate().map(|(i, line)| labelled(label_of(i), line, style)).collect()
}
