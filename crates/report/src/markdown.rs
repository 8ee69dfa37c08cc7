//! Pieces of Markdown.

use crate::table::Align;
use crate::text::is_of_a_line;

/// Formats a table with these columns: (head, alignment).
pub(crate) fn table<'a>(
    columns: &[(&str, Align)],
    rows: impl IntoIterator<Item = impl IntoIterator<Item = &'a String>>,
) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns.iter().map(|(head, _)| escaped(head)).collect());
    let rule = |align: Align| if align == Align::Right { "--:" } else { "---" };
    text.push_str(&line(columns.iter().map(|(_, align)| rule(*align).to_owned()).collect()));
    for row in rows {
        text.push_str(&line(row.into_iter().map(|cell| escaped(cell)).collect()));
    }
    text
}

/// Escapes `text`, so that untrusted text cannot inject markup.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars().filter(|c| is_of_a_line(*c)) {
        match c {
            '<' => escaped.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_hide_or_turn() {
        assert_eq!(escaped("a\u{202e}b\u{200b}\x1b[31m\u{9b}"), "ab\\[31m");
    }

    #[test]
    fn text_from_outside_stays_in_its_cell() {
        let rows = [vec!["a|b\n".to_owned(), "<script>".to_owned()]];
        assert_eq!(
            table(&[("name", Align::Left), ("p99", Align::Right)], rows.iter()),
            "| name | p99 |\n| --- | --: |\n| a\\|b | &lt;script> |\n"
        );
    }
}
