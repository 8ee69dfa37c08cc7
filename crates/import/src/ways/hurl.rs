//! Texts in Hurl's notation.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Characters that are encoded in the name of a form's field.
const IN_NAME: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'+').add(b'=');
/// Limit on the length of a JSON body that is written as JSON.
const LONGEST_JSON: usize = 1 << 20;
/// Limit on the depth of JSON that is written as JSON.
const DEEPEST_JSON: usize = 50;

/// Splits a URL into its origin, without user and default port, and its path and query as a Hurl file can hold them.
pub(in crate::ways) fn split_url(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?;
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(usual).unwrap_or(&host);
    if host.is_empty() || !host.chars().all(|c| c.is_alphanumeric() || "-._~%:[]".contains(c)) {
        return None;
    }
    let path = path.split('#').next().unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some((format!("{scheme}://{host}"), slash.to_owned() + &path_text(path)))
}

/// Writes a path or query with everything percent-encoded that a Hurl file cannot hold.
pub(in crate::ways) fn path_text(path: &str) -> String {
    path.bytes().fold(String::with_capacity(path.len()), |mut written, byte| {
        if byte.is_ascii_graphic() && !b"{}\\\"<>^`|#".contains(&byte) {
            written.push(char::from(byte));
        } else {
            written.push_str(&format!("%{byte:02X}"));
        }
        written
    })
}

/// Writes a name before a colon.
pub(in crate::ways) fn key(name: &str) -> String {
    escaped(name, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Returns true for the name of a header that a flow can have. Other characters mean something else in front of a line.
pub(in crate::ways) fn is_header_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Returns a name for a step, or a part of one: on one line, without placeholders, of at most `limit` characters.
pub(in crate::ways) fn step_name(name: &str, limit: usize) -> String {
    let plain = name.chars().map(|c| if c.is_control() || c == '#' { ' ' } else { c });
    let name: String = plain.take(limit).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() { "request".to_owned() } else { name.replace("{{", "{").replace("}}", "}").replace("${", "{") }
}

/// Writes the name of a form's field before a colon. Hurl sends such names unencoded.
pub(in crate::ways) fn form_key(name: &str) -> String {
    key(&utf8_percent_encode(name, IN_NAME).to_string())
}

/// Writes a value up to the end of its line.
pub(in crate::ways) fn value(text: &str) -> String {
    let safe = |c: char| !c.is_control() && !matches!(c, '\\' | '#');
    escaped(text, safe)
}

/// Writes a body: JSON unchanged, any other text on one line.
pub(in crate::ways) fn body_text(body: &str) -> String {
    if is_plain_json(body) {
        return body.trim().to_owned();
    }
    format!("`{}`", quoted_part(body))
}

/// Writes a text between backquotes.
pub(in crate::ways) fn quoted_part(text: &str) -> String {
    escaped(text, |c| !c.is_control() && !matches!(c, '\\' | '#' | '`'))
}

/// Writes a text between double quotes.
pub(in crate::ways) fn string_part(text: &str) -> String {
    escaped(text, |c| !c.is_control() && !matches!(c, '\\' | '#' | '"'))
}

fn escaped(text: &str, is_safe: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        // Two braces begin a placeholder. One may follow the last.
        let is_opening = c == '{' && matches!(text.as_bytes().get(at + 1), None | Some(b'{'));
        match c {
            c if is_safe(c) && !is_opening => out.push(c),
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    out
}

/// Returns true for an object or a list that Hurl reads as it is written.
pub(in crate::ways) fn is_plain_json(body: &str) -> bool {
    let body = body.trim();
    if !body.starts_with(['{', '[']) || is_like_section(body) || body.contains("{{") || body.len() > LONGEST_JSON {
        return false;
    }
    serde_json::from_str::<serde_json::Value>(body).is_ok_and(|json| depth(&json) <= DEEPEST_JSON)
}

/// Returns true for lists such as `[null]`, which begin like the name of a section, such as `[Form]`.
fn is_like_section(body: &str) -> bool {
    body.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn depth(json: &serde_json::Value) -> usize {
    match json {
        serde_json::Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        serde_json::Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split() {
        for (url, origin, path) in [
            ("https://Shop.example:443/a?b=c#d", "https://shop.example", "/a?b=c"),
            ("http://me:secret@a:81", "http://a:81", "/"),
            ("https://a\\@evil.test/x", "https://a", "/%5C@evil.test/x"),
            ("http://a?x={{y}} z", "http://a", "/?x=%7B%7By%7D%7D%20z"),
        ] {
            assert_eq!(split_url(url), Some((origin.to_owned(), path.to_owned())), "{url}");
        }
        assert!(
            ["", "ftp://a/", "http://", "http:///x", "data:x", "http://a\t.evil/", "http://{{b}}/", "http://a|b/"]
                .iter()
                .all(|url| split_url(url).is_none())
        );
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(value(r"a#b\{{c}}{"), r"a\u{23}b\u{5c}\u{7b}{c}}\u{7b}");
        assert_eq!(key("user[name]: x"), r"user\u{5b}name\u{5d}\u{3a}\u{20}x");
        assert_eq!(body_text(" {\"a\": {\"b\": 1}} "), "{\"a\": {\"b\": 1}}");
        assert_eq!(body_text("{\"a\": \"{{b}}\"}"), "`{\"a\": \"\\u{7b}{b}}\"}`");
        assert_eq!(body_text("[null, 1]"), "`[null, 1]`");
        assert_eq!(body_text("[\n[true]]"), "[\n[true]]");
        assert_eq!(body_text("a\n`b`"), "`a\\u{a}\\u{60}b\\u{60}`");
    }
}
