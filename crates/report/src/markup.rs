//! Escaping of text in HTML and SVG.

use crate::text::is_of_a_line;

/// Escapes `text` for elements and attributes of XML and HTML, so that untrusted text cannot inject markup. It drops
/// characters that XML forbids or that control how the rest is read, except the newline.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push(c),
            c if is_of_a_line(c) => escaped.push(c),
            _ => {}
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_cannot_break_it() {
        assert_eq!(escaped("a<b>&\"\u{1b}[2J\u{0}\u{ffff}\n"), "a&lt;b&gt;&amp;&quot;[2J\n");
        assert_eq!(escaped("a\u{202e}b\u{2066}\u{200b}\u{9b}c"), "abc");
    }
}
