//! Headers that define the end of a request. The body determines them. A header that contradicts the body would make
//! the server wait for bytes that never come, or take a part of one request for the next.

/// Limit on the characters of a value that an error shows.
const SHOWN: usize = 40;

/// Returns the reason why a request with a body of `body` bytes cannot have this header; `None` if it can. `body` is
/// `None` if the length is only known during the run; then no length may be set.
pub fn contradicts_framing(name: &str, value: &str, body: Option<usize>) -> Option<String> {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let value = value.trim();
    let shown: String = value.chars().take(SHOWN).collect();
    if is("content-length") {
        // Only digits count, because a sign would parse.
        let says = value.parse().ok().filter(|_| value.bytes().all(|byte| byte.is_ascii_digit()));
        return match body {
            Some(length) if says == Some(length) => None,
            Some(length) => Some(format!(
                "'{name}: {shown}' contradicts the body, which has {}; leave the header out, and truetail sends the length",
                bytes(length)
            )),
            None => Some(format!("'{name}' cannot be set: it follows from the body of each request; leave it out")),
        };
    }
    if is("transfer-encoding") {
        return Some(format!(
            "'{name}: {shown}' contradicts how the body is sent: whole, with its length; leave it out"
        ));
    }
    let asks_to_switch =
        |word: &str| ["upgrade", "http2-settings"].contains(&word.trim().to_ascii_lowercase().as_str());
    if is("upgrade") || is("http2-settings") || (is("connection") && value.split(',').any(asks_to_switch)) {
        return Some(format!(
            "'{name}: {shown}' asks for another protocol in the middle of a connection; leave it out (--http2 speaks HTTP/2)"
        ));
    }
    None
}

fn bytes(length: usize) -> String {
    if length == 1 { "1 byte".to_owned() } else { format!("{length} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_says_what_is_sent_is_no_contradiction() {
        for (name, value, body) in [
            ("Content-Length", "5", 5),
            ("content-length", " 0 ", 0),
            ("Connection", "close", 5),
            ("Connection", "keep-alive, TE", 0),
            ("Upgrade-Insecure-Requests", "1", 0),
            ("Expect", "100-continue", 3),
            ("TE", "trailers", 0),
        ] {
            assert_eq!(contradicts_framing(name, value, Some(body)), None, "{name}: {value}");
        }
    }

    #[test]
    fn a_header_that_would_break_the_framing_is_refused() {
        for (name, value, body) in [
            ("Content-Length", "5", Some(0)),
            ("CONTENT-LENGTH", "4", Some(5)),
            ("Content-Length", "+5", Some(5)),
            ("Content-Length", "", Some(0)),
            ("Content-Length", "5, 5", Some(5)),
            ("Content-Length", "99999999999999999999999", Some(5)),
            ("Content-Length", "5", None),
            ("Transfer-Encoding", "chunked", Some(5)),
            ("transfer-encoding", "identity", Some(0)),
            ("Upgrade", "websocket", Some(0)),
            ("HTTP2-Settings", "AAMAAABk", Some(0)),
            ("Connection", "Upgrade", Some(0)),
            ("Connection", "keep-alive, HTTP2-Settings", Some(0)),
        ] {
            let refused = contradicts_framing(name, value, body).unwrap_or_default();
            assert!(refused.contains(name) && refused.contains("leave"), "{name}: {value}: {refused}");
        }
        let long = contradicts_framing("Upgrade", &"x".repeat(100_000), Some(0)).unwrap();
        assert!(long.len() < 300, "{long}");
    }
}
