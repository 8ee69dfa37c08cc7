/// A placeholder `{{name}}` in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placeholder<'a> {
    /// Offset of its first brace in bytes.
    pub start: usize,
    /// Offset of the byte after its last brace.
    pub end: usize,
    /// The text between the braces, without spaces around it.
    pub name: &'a str,
}

/// Finds each `{{name}}`, in order. Spaces around the name are ignored. A name has no braces and no control characters,
/// so other braces are plain text: in `{{{a}}}` the placeholder is in the middle.
pub fn placeholders(text: &[u8]) -> impl Iterator<Item = Placeholder<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(start) = text[from..].windows(2).position(|pair| pair == b"{{").map(|at| from + at) {
            let inner = &text[start + 2..];
            let length = inner.iter().position(|byte| matches!(byte, b'{' | b'}' | 0..0x20 | 0x7f));
            let (name, after) = inner.split_at(length.unwrap_or(inner.len()));
            let name = std::str::from_utf8(name).map(str::trim).unwrap_or_default();
            if after.starts_with(b"}}") && !name.is_empty() {
                from = text.len() - after.len() + 2;
                return Some(Placeholder { start, end: from, name });
            }
            from = start + 1;
        }
        None
    })
}

pub(crate) fn has_placeholder(text: &str) -> bool {
    placeholders(text.as_bytes()).next().is_some()
}

/// Returns the text without its placeholders.
pub(crate) fn without_placeholders(text: &str) -> String {
    let mut kept = String::new();
    let mut from = 0;
    for found in placeholders(text.as_bytes()) {
        kept += &text[from..found.start];
        from = found.end;
    }
    kept + &text[from..]
}

/// Applies `change` to all of `text` outside placeholders.
pub(crate) fn outside_placeholders(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut changed = String::new();
    let mut from = 0;
    for found in placeholders(text.as_bytes()) {
        changed += &change(&text[from..found.start]);
        changed += &text[found.start..found.end];
        from = found.end;
    }
    changed + &change(&text[from..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Vec<&str> {
        placeholders(text.as_bytes()).map(|found| found.name).collect()
    }

    #[test]
    fn what_is_a_placeholder() {
        assert_eq!(names("a{{ first name }}b{{c}}{{c}}"), ["first name", "c", "c"]);
        assert_eq!(names("{{{a}}}"), ["a"]);
        assert_eq!(names("{{{{é}}"), ["é"]);
        for text in ["{{}}", "{{ }}", "{{a}", "{a}}", "{{a\n}}", "{{a", "{\"a\":{\"b\":1}}"] {
            assert!(names(text).is_empty(), "{text}");
        }
        assert_eq!(outside_placeholders("a{{b}}c", |text| text.to_uppercase()), "A{{b}}C");
    }

    proptest! {
        /// Between names there may be anything without braces.
        #[test]
        fn each_name_is_found_where_it_was_written(
            parts in prop::collection::vec(("[^{}]{0,6}", " {0,2}", "[^\\s{}\\p{C}]([^{}\\p{C}]{0,4}[^\\s{}\\p{C}])?"), 0..6),
            end in "[^{}]{0,6}",
        ) {
            let mut text = String::new();
            let mut written = Vec::new();
            for (before, space, name) in &parts {
                text += before;
                let placeholder = format!("{{{{{space}{name}{space}}}}}");
                written.push((text.len(), text.len() + placeholder.len(), name.as_str()));
                text += &placeholder;
            }
            text += &end;
            let found: Vec<_> =
                placeholders(text.as_bytes()).map(|found| (found.start, found.end, found.name)).collect();
            prop_assert_eq!(found, written);
            let kept = outside_placeholders(&text, |_| String::new());
            prop_assert_eq!(names(&kept), names(&text));
        }

        /// In any text the placeholders are in order, apart, and each in its own braces.
        #[test]
        fn any_text_is_split_without_loss(text in "[{}a \n]{0,24}|\\PC{0,12}") {
            let mut from = 0;
            for found in placeholders(text.as_bytes()) {
                prop_assert!(found.start >= from);
                let inner = text[found.start..found.end].strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
                prop_assert_eq!(inner.map(str::trim), Some(found.name));
                from = found.end;
            }
            prop_assert_eq!(outside_placeholders(&text, str::to_owned), text);
        }
    }
}
