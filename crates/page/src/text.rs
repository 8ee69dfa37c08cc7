//! Text from outside: URLs, headers, bodies, error texts, names.

/// `text` with a visible sign in place of each character that would change how the rest is read: control characters other
/// than line break and tab (`␛` for escape), line and paragraph separators, and those that turn the direction of writing.
/// Markup is not touched: what has it may come before or after.
pub fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

fn visible_char(c: char) -> char {
    /// The sign for NUL; those for the other control characters follow it.
    const NUL_SIGN: u32 = 0x2400;
    match c {
        '\n' | '\t' => c,
        '\0'..='\x1f' => char::from_u32(NUL_SIGN + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Control characters beyond ASCII, separators of lines, marks and overrides of direction, and what is no character at all.
pub(crate) fn is_unprintable(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_no_character = matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe;
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{2028}' | '\u{2029}')
        || is_direction
        || is_no_character
}

/// At most `most` characters of `text`, and how many more there are.
pub fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… ({} more characters)", &text[..at], text[at..].chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_vanishes_and_nothing_acts() {
        assert_eq!(visible("a\x1b[2J\0\r\n\tb\u{7f}"), "a␛[2J␀␍\n\tb␡");
        assert_eq!(visible("x\u{85}\u{2028}\u{202e}\u{ffff}y<é日"), "x\u{fffd}\u{fffd}\u{fffd}\u{fffd}y<é日");
    }

    #[test]
    fn a_clipped_text_says_how_much_is_missing() {
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("äöüß", 2), "äö… (2 more characters)");
    }
}
