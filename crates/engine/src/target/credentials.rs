//! User name and password in the text of a URL. They must not appear in messages, files or run.json.

use std::borrow::Cow;
use std::ops::Range;

/// Returns the range of user name and password in `url`, without the `@` after them; `None` if it has none. `url` need
/// not be valid. If it has no scheme, everything up to its last `@` counts, so that no message shows a password.
pub fn credentials_in(url: &str) -> Option<Range<usize>> {
    let is_scheme = |at: &usize| url[..*at].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (start, end) = match url.find("://").filter(is_scheme) {
        // A URL's authority ends at the first of these characters (WHATWG URL standard, "authority state").
        Some(at) => (at + 3, url[at + 3..].find(['/', '?', '#', '\\']).map_or(url.len(), |length| at + 3 + length)),
        None => (0, url.len()),
    };
    let at = url[start..end].rfind('@')?;
    Some(start..start + at)
}

/// Returns `url` without user name and password.
pub fn without_credentials(url: &str) -> Cow<'_, str> {
    match credentials_in(url) {
        Some(range) => Cow::Owned(format!("{}{}", &url[..range.start], &url[range.end + 1..])),
        None => Cow::Borrowed(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_end_at_the_last_at_sign_before_the_path() {
        for (url, credentials, rest) in [
            ("http://u:p@a/b", Some("u:p"), "http://a/b"),
            ("http://u@a", Some("u"), "http://a"),
            ("http://u:p@q@a:80?x", Some("u:p@q"), "http://a:80?x"),
            ("u:p@a", Some("u:p"), "a"),
            ("u:p@a/?b=http://c", Some("u:p"), "a/?b=http://c"),
            ("http:\t//u:p@a", Some("http:\t//u:p"), "a"),
            ("http://a/b@c", None, "http://a/b@c"),
            ("http://a?b@c", None, "http://a?b@c"),
            ("http://a#b@c", None, "http://a#b@c"),
            ("http://@a", Some(""), "http://a"),
            ("", None, ""),
        ] {
            assert_eq!(credentials_in(url).map(|range| &url[range]), credentials, "{url}");
            assert_eq!(without_credentials(url), rest);
        }
    }
}
