//! Removes secrets from a command line: user names, passwords, secret headers, and bodies that are long or hold
//! secrets.

use truetail_engine::credentials_in;

use crate::curl_options::{PASSED_OVER_WITH_VALUE, READ_WITH_VALUE, long_name};
use crate::secrets::{body_holds_secret, holds_secret, is_secret_name};

/// Text that replaces a secret.
pub const REDACTED: &str = "[redacted]";
/// Length in bytes beyond which a body is left out.
const LONGEST_BODY: usize = 200;
/// Returns `url` without user name and password.
pub fn redacted_url(url: &str) -> String {
    match credentials_in(url) {
        Some(range) => format!("{}{REDACTED}{}", &url[..range.start], &url[range.end..]),
        None => url.to_owned(),
    }
}

/// Returns a header `Name: value` without a value that may grant access.
pub fn redacted_header(header: &str) -> String {
    match header.split_once(':') {
        Some((name, value)) if !value.trim().is_empty() && (is_secret_name(name) || holds_secret(value)) => {
            format!("{name}: {REDACTED}")
        }
        _ => header.to_owned(),
    }
}

/// Returns a request body, or only its length in bytes if it is long or may hold a secret.
pub fn redacted_body(body: &str) -> String {
    if body.len() > LONGEST_BODY || body_holds_secret(body) {
        format!("[{} bytes left out]", body.len())
    } else {
        body.to_owned()
    }
}

/// Returns the words of a curl command without its secrets. `words` are the words after `curl`; they need not be valid.
pub fn redacted_curl(words: &[String]) -> Vec<String> {
    let mut shown = Vec::with_capacity(words.len());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match option_of(word) {
            Some((name, at)) if at < word.len() => {
                shown.push(format!("{}{}", &word[..at], redacted(name, &word[at..])))
            }
            Some((name, _)) => {
                shown.push(word.clone());
                shown.extend(words.next().map(|value| redacted(name, value)));
            }
            // This is no known option of curl, so the text after `=` may be anything.
            None if word.starts_with("--") => shown.push(match word.split_once('=') {
                Some((name, _)) => format!("{name}={REDACTED}"),
                None => word.clone(),
            }),
            None if word.starts_with('-') => shown.push(word.clone()),
            None => shown.push(redacted_url(word)),
        }
    }
    shown
}

/// Returns the name of the option in `word` that takes a value, and the index in `word` at the start of the value. The
/// index is the length of `word` if the value is the next word.
fn option_of(word: &str) -> Option<(&str, usize)> {
    let takes_value = |name: &str| READ_WITH_VALUE.contains(&name) || PASSED_OVER_WITH_VALUE.contains(&name);
    if let Some(name) = word.strip_prefix("--") {
        return takes_value(name).then_some((name, word.len()));
    }
    let letters = word.strip_prefix('-')?;
    letters.char_indices().find_map(|(at, letter)| {
        let name = long_name(letter).filter(|name| takes_value(name))?;
        Some((name, 1 + at + letter.len_utf8()))
    })
}

fn redacted(option: &str, value: &str) -> String {
    match option {
        "user" | "cookie" | "oauth2-bearer" => REDACTED.to_owned(),
        "header" => redacted_header(value),
        "url" => redacted_url(value),
        "data" | "data-ascii" | "data-raw" | "data-binary" | "data-urlencode" | "json" => redacted_body(value),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn curl(text: &str) -> String {
        redacted_curl(&crate::split_words(text).unwrap()).join(" ")
    }

    #[test]
    fn secrets_are_left_out_however_they_are_written() {
        for (text, shown) in [
            ("-u me:secret http://a/b", "-u [redacted] http://a/b"),
            ("-sSume:secret http://a/b", "-sSu[redacted] http://a/b"),
            ("--user me:secret a", "--user [redacted] a"),
            ("http://me:secret@a/b@c", "http://[redacted]@a/b@c"),
            ("-H 'Authorization: Bearer secret' a", "-H Authorization: [redacted] a"),
            ("-H'x-api-key:secret' a", "-Hx-api-key: [redacted] a"),
            ("-H 'Accept: text/html' a", "-H Accept: text/html a"),
            ("-b k=secret a", "-b [redacted] a"),
            ("--oauth2-bearer secret a", "--oauth2-bearer [redacted] a"),
            ("--user=me:secret a", "--user=[redacted] a"),
            ("--proxy-user=me:secret a", "--proxy-user=[redacted] a"),
            ("-H 'Ocp-Apim-Subscription-Key: secret' a", "-H Ocp-Apim-Subscription-Key: [redacted] a"),
            ("-d 'user=me&pwd=x' a", "-d [13 bytes left out] a"),
            ("-d keyboard=de a", "-d keyboard=de a"),
            ("-d '{\"password\":\"x\"}' a", "-d [16 bytes left out] a"),
            ("--json '{\"n\":1}' a", "--json {\"n\":1} a"),
            ("-X PUT -o /dev/null a -d", "-X PUT -o /dev/null a -d"),
        ] {
            assert_eq!(curl(text), shown, "{text}");
        }
        assert_eq!(redacted_body(&"x".repeat(5_000)), "[5000 bytes left out]");
        assert_eq!(redacted_header("Cookie:"), "Cookie:", "a header that is left out has no secret");
    }

    proptest! {
        /// Each word gives one word, shown or hidden.
        #[test]
        fn no_word_is_lost(words in prop::collection::vec("(-[A-Za-z]{0,4}|--(data|user|header|url)|[ -~]{0,8}|\\PC{0,4})", 0..8)) {
            prop_assert_eq!(redacted_curl(&words).len(), words.len());
        }
    }
}
