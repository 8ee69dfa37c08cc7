//! Text from outside: URLs, headers, bodies, error texts, names.

pub use truetail_report::text::visible;

pub(crate) use truetail_report::text::is_unprintable;

/// Returns at most `most` characters of `text`, and the number of characters cut off.
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
    fn a_clipped_text_says_how_much_is_missing() {
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("äöüß", 2), "äö… (2 more characters)");
    }
}
