//! Lines with a label in the margin.

use crate::style::{Emphasis, Style};

/// A label of a word or two, and its text.
pub type LabelledText = (&'static str, String);

/// Columns before the text of a section.
pub(super) const MARGIN: usize = 15;

/// Formats a line with a label in the margin.
pub(super) fn labelled(label: &str, text: &str, style: Style) -> String {
    let space = " ".repeat(MARGIN.saturating_sub(label.chars().count() + 2).max(1));
    format!("  {}{space}{text}", style.emphasize(Emphasis::Faint, label)).trim_end().to_owned()
}

/// Formats lines below each other, with a label beside the first.
pub(super) fn labelled_lines(label: &str, lines: impl IntoIterator<Item = String>, style: Style) -> Vec<String> {
    let label_of = |i: usize| if i == 0 { label } else { "" };
    lines.into_iter().enumerate().map(|(i, line)| labelled(label_of(i), &line, style)).collect()
}

pub(super) fn beside_margin(text: &str, style: Style) -> Vec<String> {
    style.wrap(text, style.columns().saturating_sub(MARGIN))
}

/// Formats a label in the margin, and text wrapped beside it.
pub(super) fn labelled_text(label: &str, text: &str, style: Style) -> Vec<String> {
    labelled_lines(label, beside_margin(text, style), style)
}

pub(super) fn labelled_texts(texts: impl IntoIterator<Item = LabelledText>, style: Style) -> Vec<String> {
    texts.into_iter().flat_map(|(label, text)| labelled_text(label, &text, style)).collect()
}
