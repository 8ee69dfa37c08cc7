//! Text inside markup: pages and pictures.

/// `text` as the content of an element or the value of an attribute, in XML and HTML. What comes from tools and files
/// cannot command the page; characters that XML has not are left out, and of the control characters only the end of a
/// line stays.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
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
    }
}
