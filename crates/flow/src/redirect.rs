//! Redirects: where one leads, and the request that follows it.

use truetail_model::time::Timestamp;
use url::{Position, Url};

use crate::cookies::CookieJar;
use crate::evaluate::answer::Answer;
use crate::request::{Marks, write_jar};

/// Longer ones lead nowhere: 8 KiB.
const MOST_LOCATION_BYTES: usize = 8 << 10;
/// Most characters of an origin that are shown.
const MOST_SHOWN: usize = 80;

/// The `Location` of an answer that is a redirect: one with a status from 300 to 399 that has one, as in Hurl.
pub(crate) fn location<'a>(answer: &Answer<'a>) -> Option<&'a [u8]> {
    if !(300..400).contains(&answer.status) {
        return None;
    }
    answer.fields.all("location").next()
}

/// Path and query of where a redirect leads, from a request for `target` of the origin of `root`.
///
/// # Errors
/// Why nothing is to be asked for there.
pub(crate) fn target(root: &Url, target: &str, location: &[u8]) -> Result<String, String> {
    if location.len() > MOST_LOCATION_BYTES {
        return Err(format!("the Location has {} bytes, and the limit is {MOST_LOCATION_BYTES}", location.len()));
    }
    let text = std::str::from_utf8(location).ok().filter(|text| !text.contains(char::is_control));
    let text = text.ok_or("the Location has a character that no URL has")?;
    // Not by joining the target, which may begin with two slashes.
    let current = Url::parse(&format!("{}{target}", &root[..Position::AfterPort]));
    let url = current.and_then(|current| current.join(text)).map_err(|error| format!("the Location: {error}"))?;
    if url.origin() != root.origin() {
        return Err(format!("the redirect leads to another origin, {}", origin_for_people(&url)));
    }
    if url.username() != "" || url.password().is_some() {
        return Err("the Location has a user or a password".to_owned());
    }
    Ok(url[Position::BeforePath..Position::AfterQuery].to_owned())
}

/// Neither path nor query, which may be secret.
fn origin_for_people(url: &Url) -> String {
    let text = match url.host_str() {
        Some(host) => {
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            format!("{}://{host}{port}", url.scheme())
        }
        None => format!("a URL of {}:", url.scheme()),
    };
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The request that a session made last, where a redirect may follow it. Its room is used again.
#[derive(Clone, Default, Debug)]
pub(crate) struct LastRequest {
    bytes: Vec<u8>,
    marks: Marks,
}

impl LastRequest {
    /// This was it.
    pub(crate) fn keep(&mut self, bytes: &[u8], marks: Marks) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.marks = marks;
    }

    /// Writes the request that follows it to `target`, after an answer with this status. Its header lines are the same, its
    /// cookies are those of the jar. Body and method stay, unless the status is 301, 302 or 303: then it is a GET without a
    /// body, and a HEAD stays one.
    pub(crate) fn follow(
        &self,
        status: u16,
        target: &str,
        jar: &CookieJar,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Marks {
        let method = self.bytes.split(|byte| *byte == b' ').next().unwrap_or_default();
        let keeps_all = !(301..=303).contains(&status);
        let method = if keeps_all || method == b"HEAD" { method } else { b"GET" };
        out.clear();
        for part in [method, b" ", target.as_bytes(), b" HTTP/1.1\r\n"] {
            out.extend_from_slice(part);
        }
        let lines = self.bytes[..self.marks.cookies].split_inclusive(|byte| *byte == b'\n').skip(1);
        lines.filter(|line| keeps_all || !is_of_body(line)).for_each(|line| out.extend_from_slice(line));
        let cookies = out.len();
        write_jar(jar, target, now, out);
        if out.len() > cookies {
            out.extend_from_slice(b"\r\n");
        }
        let rest = out.len();
        out.extend_from_slice(if keeps_all { &self.bytes[self.marks.rest..] } else { b"\r\n" });
        Marks { cookies, rest }
    }
}

/// The line says something of the body, as those that begin with `Content-` do (RFC 9110, section 15.4).
fn is_of_body(line: &[u8]) -> bool {
    const OF_BODY: &[u8] = b"content-";
    line.get(..OF_BODY.len()).is_some_and(|start| start.eq_ignore_ascii_case(OF_BODY))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn root() -> Url {
        Url::parse("http://127.0.0.1:8080/").unwrap()
    }

    #[test]
    fn a_location_is_relative_to_what_was_asked_for() {
        for (location, leads_to) in [
            ("/b", "/b"),
            ("c", "/a/c"),
            ("../c?x=1&y=2", "/c?x=1&y=2"),
            ("../../../c", "/c"),
            ("?z", "/a/b?z"),
            ("#part", "/a/b?q=1"),
            ("", "/a/b?q=1"),
            ("//127.0.0.1:8080/c", "/c"),
            ("http://127.0.0.1:8080", "/"),
            ("HTTP://127.0.0.1:8080/C#part", "/C"),
            ("/a b\"<\u{e9}>?{}\u{e9}", "/a%20b%22%3C%C3%A9%3E?{}%C3%A9"),
            ("  /c  ", "/c"),
            ("\\\\127.0.0.1:8080\\c", "/c"),
        ] {
            let found = target(&root(), "/a/b?q=1", location.as_bytes());
            assert_eq!(found.as_deref(), Ok(leads_to), "{location}");
        }
        // Two slashes at the beginning of what was asked for are no other host.
        assert_eq!(target(&root(), "//a/b", b"c").as_deref(), Ok("//a/c"));
        assert_eq!(
            target(&Url::parse("https://a.example/").unwrap(), "/", b"https://A.example:443/x").as_deref(),
            Ok("/x")
        );
    }

    #[test]
    fn what_leads_elsewhere_is_refused_in_one_line_without_its_path() {
        let long = format!("http://{}.example/secret", "x".repeat(200));
        for location in [
            "https://127.0.0.1:8080/secret",
            "http://127.0.0.1/secret",
            "http://127.0.0.2:8080/secret",
            "//127.0.0.1:81/secret",
            "http:///other:8080/secret",
            "javascript:secret",
            "file:///secret",
            "http://me:secret@127.0.0.1:8080/",
            "http://me@127.0.0.1:8080/secret",
            "http://127.0.0.1:99999/secret",
            "/a\r\nX-Evil: secret",
            "/a\tsecret",
            "/a\u{0}secret",
            "/a\u{85}secret",
            &long,
        ] {
            let why = target(&root(), "/a", location.as_bytes()).expect_err(location);
            let is_line = !why.contains(char::is_control) && why.chars().count() < 150;
            assert!(is_line && !why.contains("/secret") && !why.contains("me:"), "{location}: {why}");
        }
        assert!(target(&root(), "/a", b"/\xff").unwrap_err().contains("character"));
        assert!(target(&root(), "/a", &[b'a'; MOST_LOCATION_BYTES + 1]).unwrap_err().contains("8193 bytes"));
    }

    #[test]
    fn what_follows_has_the_lines_that_were_sent() {
        let head = b"POST /a HTTP/1.1\r\nHost: h\r\ncontent-Type: x/y\r\nX: y\r\n";
        let cookies = b"Cookie: mine=1\r\n";
        let sent = [&head[..], cookies, b"Content-Length: 2\r\n\r\n\nb"].concat();
        let mut last = LastRequest::default();
        last.keep(&sent, Marks { cookies: head.len(), rest: head.len() + cookies.len() });
        let (jar, mut out) = (CookieJar::default(), Vec::new());
        last.follow(302, "/b?c", &jar, Timestamp::ZERO, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), "GET /b?c HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n");
        let marks = last.follow(308, "/b?c", &jar, Timestamp::ZERO, &mut out);
        let whole = "POST /b?c HTTP/1.1\r\nHost: h\r\ncontent-Type: x/y\r\nX: y\r\nContent-Length: 2\r\n\r\n\nb";
        assert_eq!(String::from_utf8_lossy(&out), whole);
        // A hop may follow a hop.
        last.keep(&out.clone(), marks);
        last.follow(307, "/b?c", &jar, Timestamp::ZERO, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), whole);
    }

    proptest! {
        #[test]
        fn any_location_is_refused_or_can_stand_in_a_request(
            text in prop_oneof![".{0,40}", "[/?#.:@\\\\a%\\[\\]]{0,12}", "http://127.0.0.1:8080[/?#.:@a]{0,9}"],
            asked in "/[a/.%?=]{0,9}",
        ) {
            if let Ok(found) = target(&root(), &asked, text.as_bytes()) {
                prop_assert!(found.starts_with('/') && found.bytes().all(|byte| byte.is_ascii_graphic()), "{found:?}");
                // It leads to itself.
                prop_assert_eq!(target(&root(), &asked, format!("http://127.0.0.1:8080{found}").as_bytes()), Ok(found));
            }
        }
    }
}
