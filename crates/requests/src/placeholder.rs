/// A placeholder `{{name}}` in a text.
pub(crate) struct Placeholder<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) name: &'a str,
}

/// Finds the first `{{name}}`. Spaces around the name are ignored. A name has no braces and no control characters, so
/// other braces are plain text: in `{{{a}}}` the placeholder is in the middle.
pub(crate) fn first_placeholder(text: &[u8]) -> Option<Placeholder<'_>> {
    let mut from = 0;
    while let Some(start) = find(&text[from..], b"{{").map(|at| from + at) {
        let inner = &text[start + 2..];
        let length = inner.iter().position(|byte| matches!(byte, b'{' | b'}' | 0..0x20 | 0x7f)).unwrap_or(inner.len());
        let name = std::str::from_utf8(&inner[..length]).map(str::trim).unwrap_or_default();
        if inner[length..].starts_with(b"}}") && !name.is_empty() {
            return Some(Placeholder { start, end: start + 2 + length + 2, name });
        }
        from = start + 1;
    }
    None
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

pub(crate) fn has_placeholder(text: &str) -> bool {
    first_placeholder(text.as_bytes()).is_some()
}

/// Applies `change` to all of `text` outside placeholders.
pub(crate) fn outside_placeholders(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut rest = text;
    let mut changed = String::new();
    while let Some(found) = first_placeholder(rest.as_bytes()) {
        changed += &change(&rest[..found.start]);
        changed += &rest[found.start..found.end];
        rest = &rest[found.end..];
    }
    changed + &change(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_placeholder() {
        let name = |text: &str| first_placeholder(text.as_bytes()).map(|found| found.name.to_owned());
        assert_eq!(name("a{{ first name }}b").as_deref(), Some("first name"));
        assert_eq!(name("{{{a}}}").as_deref(), Some("a"));
        assert_eq!(name("{{{{é}}").as_deref(), Some("é"));
        for text in ["{{}}", "{{ }}", "{{a}", "{a}}", "{{a\n}}", "{{a", "{\"a\":{\"b\":1}}"] {
            assert_eq!(name(text), None, "{text}");
        }
        assert_eq!(outside_placeholders("a{{b}}c", |text| text.to_uppercase()), "A{{b}}C");
    }
}
