//! Neutralizing of untrusted text in output: URLs, headers, bodies, error texts, file names.

/// Replaces each character that changes how the text around it is shown with a visible sign, such as `␛` for escape.
/// These are control characters other than line break and tab, line and paragraph separators, and marks of direction.
/// It does not escape markup.
pub fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

fn visible_char(c: char) -> char {
    /// The sign for NUL. The signs for the other control characters follow it.
    const NUL_SIGN: u32 = 0x2400;
    match c {
        '\n' | '\t' => c,
        '\0'..='\x1f' => char::from_u32(NUL_SIGN + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// Returns true if a line may contain the character: no control character, and not [unprintable](is_unprintable).
pub(crate) fn is_of_a_line(c: char) -> bool {
    !c.is_control() && !is_unprintable(c)
}

/// Returns true for control characters other than line break and tab, line separators, marks and overrides of
/// direction, characters without width, and noncharacters. Joiners are printable: scripts and emoji need them.
pub fn is_unprintable(c: char) -> bool {
    let is_direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let has_no_width = matches!(
        c,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    );
    let is_no_character = matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe;
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{2028}' | '\u{2029}')
        || is_direction
        || has_no_width
        || is_no_character
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_vanishes_and_nothing_acts() {
        assert_eq!(visible("a\x1b[2J\0\r\n\tb\u{7f}"), "a␛[2J␀␍\n\tb␡");
        assert_eq!(visible("\x1b]0;title\x07\x08"), "␛]0;title␇␈");
        assert_eq!(visible("x\u{85}\u{2028}\u{202e}\u{ffff}y<é日"), "x\u{fffd}\u{fffd}\u{fffd}\u{fffd}y<é日");
        for c in ['\u{9b}', '\u{2066}', '\u{2069}', '\u{200b}', '\u{feff}', '\u{ad}', '\u{e0041}'] {
            assert_eq!(visible(&format!("a{c}b")), "a\u{fffd}b", "{c:?}");
        }
        let joined = "می\u{200c}خواهم 👩\u{200d}💻";
        assert_eq!(visible(joined), joined);
    }
}
