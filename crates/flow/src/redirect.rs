//! Redirects: the target of one, and the request that follows it.

use truetail_engine::RequestParts;
use truetail_model::time::Timestamp;
use url::{Position, Url};

use crate::cookies::CookieJar;
use crate::evaluate::answer::Answer;
use crate::origins::{FlowOrigin, Origins};
use crate::request::{Marks, put_jar};

/// Limit on the length of a `Location`: 8 KiB.
const MAX_LOCATION_BYTES: usize = 8 << 10;
/// Limit on the characters of an origin in a message.
const MAX_SHOWN: usize = 80;

/// Returns the `Location` of a redirect. As in Hurl, a redirect has a status from 300 to 399 and a `Location`.
pub(crate) fn location<'a>(answer: &Answer<'a>) -> Option<&'a [u8]> {
    if !(300..400).contains(&answer.status) {
        return None;
    }
    answer.fields.all("location").next()
}

/// Header fields that are not sent to another origin. The session's cookies are selected anew for each request.
const CREDENTIAL_HEADERS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// Target of a redirect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hop {
    pub(crate) origin: u32,
    /// Path and query.
    pub(crate) target: String,
}

/// Resolves a redirect of a request for `target` at the origin `from`.
///
/// # Errors
/// The redirect is invalid, or leads to an origin that the flow does not name. Such origins get no request.
pub(crate) fn hop(origins: &Origins, from: u32, target: &str, location: &[u8]) -> Result<Hop, String> {
    if location.len() > MAX_LOCATION_BYTES {
        return Err(format!("the Location has {} bytes, and the limit is {MAX_LOCATION_BYTES}", location.len()));
    }
    let text = std::str::from_utf8(location).ok().filter(|text| !text.contains(char::is_control));
    let text = text.ok_or("the Location has a character that no URL has")?;
    // Parsed as a whole, because a target may begin with two slashes.
    let current = Url::parse(&format!("{}{target}", &origins.get(from).root[..Position::AfterPort]));
    let url = current.and_then(|current| current.join(text)).map_err(|error| format!("the Location: {error}"))?;
    let Some(origin) = origins.index_of(&url) else {
        let shown = origin_for_people(&url);
        return Err(format!("the redirect leads to {shown}, an origin that no request names"));
    };
    if url.username() != "" || url.password().is_some() {
        return Err("the Location has a user or a password".to_owned());
    }
    Ok(Hop { origin, target: url[Position::BeforePath..Position::AfterQuery].to_owned() })
}

/// Returns the origin without path and query, which may be secret.
fn origin_for_people(url: &Url) -> String {
    let text = match url.host_str() {
        Some(host) => {
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            format!("{}://{host}{port}", url.scheme())
        }
        None => format!("a URL of {}:", url.scheme()),
    };
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Parameters of the request that follows a redirect.
#[derive(Debug)]
pub(crate) struct FollowUp<'a> {
    /// The status of the redirect.
    pub(crate) status: u16,
    pub(crate) origin: &'a FlowOrigin,
    /// The origin differs from that of the previous request.
    pub(crate) is_elsewhere: bool,
    /// Credentials such as `Authorization` are sent to another origin too.
    pub(crate) keeps_authorization: bool,
    /// Path and query.
    pub(crate) target: &'a str,
}

/// The last request of a session, kept if a redirect may follow it. Later requests reuse its memory.
#[derive(Clone, Default, Debug)]
pub(crate) struct LastRequest {
    request: RequestParts,
    marks: Marks,
}

impl LastRequest {
    /// Keeps a request.
    pub(crate) fn keep(&mut self, request: &RequestParts, marks: Marks) {
        self.request.clone_from(request);
        self.marks = marks;
    }

    /// Writes the request that follows a redirect, with the same header fields and the cookies of the jar. Method and
    /// body stay, unless the status is 301, 302 or 303. With these the request is a GET without a body; a HEAD stays a
    /// HEAD. Another origin does not get the fields that were only for the first origin.
    pub(crate) fn follow(&self, next: &FollowUp<'_>, jar: &CookieJar, now: Timestamp, out: &mut RequestParts) -> Marks {
        let last = self.request.view();
        let keeps_all = !(301..=303).contains(&next.status);
        out.begin(if keeps_all || last.method() == b"HEAD" { last.method() } else { b"GET" });
        out.buffer().extend_from_slice(next.target.as_bytes());
        out.end_path();
        let fields = last.fields().take(self.marks.cookies);
        for (name, value) in fields.filter(|(name, _)| keeps_all || !is_about_the_body(name)) {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            match next.is_elsewhere {
                true if is("host") => out.field(b"Host", next.origin.host_field().as_bytes()),
                true if CREDENTIAL_HEADERS.iter().any(|name| is(name)) && !next.keeps_authorization => {}
                _ => out.field(name, value),
            }
        }
        let cookies = out.field_count();
        put_jar(jar, &next.origin.site, next.target, now, out);
        let rest = out.field_count();
        if keeps_all {
            last.fields().skip(self.marks.rest).for_each(|(name, value)| out.field(name, value));
        }
        out.end_head(if keeps_all { last.body() } else { b"" });
        Marks { cookies, rest }
    }
}

/// Returns true for a field that describes the body (RFC 9110, section 15.4).
fn is_about_the_body(name: &[u8]) -> bool {
    name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"content-"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use truetail_engine::{Method, Request};

    use super::*;

    fn origins() -> Origins {
        origins_for(&["http://127.0.0.1:8080/", "https://b.example/"])
    }

    fn origins_for(urls: &[&str]) -> Origins {
        let mut origins = Origins::default();
        for url in urls {
            let request = Request::new(Method::Get, url, &[], Vec::new()).unwrap();
            origins.add(FlowOrigin::new(request.origin(), request.url().clone()));
        }
        origins
    }

    fn request(method: &str, fields: &[(&str, &str)], body: &str) -> RequestParts {
        let mut parts = RequestParts::default();
        parts.begin(method.as_bytes());
        parts.buffer().extend_from_slice(b"/a");
        parts.end_path();
        fields.iter().for_each(|(name, value)| parts.field(name.as_bytes(), value.as_bytes()));
        parts.end_head(body.as_bytes());
        parts
    }

    fn text(request: &RequestParts) -> String {
        String::from_utf8_lossy(request.view().http1_bytes()).into_owned()
    }

    /// Resolves a redirect that stays at the first origin.
    fn target(target: &str, location: &[u8]) -> Result<String, String> {
        hop(&origins(), 0, target, location).map(|hop| {
            assert_eq!(hop.origin, 0);
            hop.target
        })
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
            let found = target("/a/b?q=1", location.as_bytes());
            assert_eq!(found.as_deref(), Ok(leads_to), "{location}");
        }
        // Two slashes at the start of a target do not name another host.
        assert_eq!(target("//a/b", b"c").as_deref(), Ok("//a/c"));
    }

    #[test]
    fn it_may_lead_to_another_origin_of_the_flow() {
        let to = |origin, target: &str| Ok(Hop { origin, target: target.to_owned() });
        assert_eq!(hop(&origins(), 0, "/a", b"https://B.example:443/x?y"), to(1, "/x?y"));
        assert_eq!(hop(&origins(), 1, "/x/y", b"z"), to(1, "/x/z"));
        assert_eq!(hop(&origins(), 1, "/x", b"http://127.0.0.1:8080"), to(0, "/"));
        assert!(hop(&origins(), 1, "/x", b"//127.0.0.1:8080/").unwrap_err().contains("https://127.0.0.1:8080"));
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
            let why = target("/a", location.as_bytes()).expect_err(location);
            let is_line = !why.contains(char::is_control) && why.chars().count() < 160;
            assert!(is_line && !why.contains("/secret") && !why.contains("me:"), "{location}: {why}");
        }
        assert!(target("/a", b"/\xff").unwrap_err().contains("character"));
        assert!(target("/a", &[b'a'; MAX_LOCATION_BYTES + 1]).unwrap_err().contains("8193 bytes"));
    }

    #[test]
    fn what_follows_has_the_lines_that_were_sent() {
        let sent = request(
            "POST",
            &[("Host", "h"), ("content-Type", "x/y"), ("X", "y"), ("Cookie", "mine=1"), ("Content-Length", "2")],
            "\nb",
        );
        let mut last = LastRequest::default();
        last.keep(&sent, Marks { cookies: 3, rest: 4 });
        let jar = CookieJar::default();
        let mut out = RequestParts::default();
        let origins = origins();
        let next = |status| {
            let is_elsewhere = false;
            let keeps_authorization = false;
            FollowUp { status, origin: origins.get(0), is_elsewhere, keeps_authorization, target: "/b?c" }
        };
        last.follow(&next(302), &jar, Timestamp::ZERO, &mut out);
        assert_eq!(text(&out), "GET /b?c HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n");
        let marks = last.follow(&next(308), &jar, Timestamp::ZERO, &mut out);
        let whole = "POST /b?c HTTP/1.1\r\nHost: h\r\ncontent-Type: x/y\r\nX: y\r\nContent-Length: 2\r\n\r\n\nb";
        assert_eq!(text(&out), whole);
        // A hop may follow a hop.
        last.keep(&out.clone(), marks);
        last.follow(&next(307), &jar, Timestamp::ZERO, &mut out);
        assert_eq!(text(&out), whole);
    }

    #[test]
    fn another_origin_is_not_told_what_was_for_the_first_one() {
        let fields =
            [("host", "127.0.0.1:8080"), ("X", "y"), ("AUTHORIZATION", "Basic secret"), ("cookie", "written=secret")];
        let mut last = LastRequest::default();
        last.keep(&request("GET", &fields, ""), Marks { cookies: 4, rest: 4 });
        let mut jar = CookieJar::default();
        let mut out = RequestParts::default();
        let origins = origins();
        jar.set(b"first=1", &origins.get(0).site, "/", Timestamp::ZERO);
        jar.set(b"second=2", &origins.get(1).site, "/", Timestamp::ZERO);
        let mut follow = |nth: u32, is_elsewhere, keeps_authorization| {
            let next =
                FollowUp { status: 302, origin: origins.get(nth), is_elsewhere, keeps_authorization, target: "/b" };
            last.follow(&next, &jar, Timestamp::ZERO, &mut out);
            text(&out)
        };
        assert_eq!(follow(1, true, false), "GET /b HTTP/1.1\r\nHost: b.example\r\nX: y\r\nCookie: second=2\r\n\r\n");
        assert!(follow(1, true, true).contains("AUTHORIZATION: Basic secret\r\ncookie: written=secret\r\n"));
        let same = follow(0, false, false);
        assert!(same.contains("host: 127.0.0.1:8080\r\nX: y\r\nAUTHORIZATION") && same.contains("first=1"), "{same}");
    }

    proptest! {
        #[test]
        fn any_location_is_refused_or_can_stand_in_a_request(
            text in prop_oneof![".{0,40}", "[/?#.:@\\\\a%\\[\\]]{0,12}", "http://127.0.0.1:8080[/?#.:@a]{0,9}"],
            asked in "/[a/.%?=]{0,9}",
        ) {
            if let Ok(found) = target(&asked, text.as_bytes()) {
                prop_assert!(found.starts_with('/') && found.bytes().all(|byte| byte.is_ascii_graphic()), "{found:?}");
                // The target resolves to itself.
                prop_assert_eq!(target(&asked, format!("http://127.0.0.1:8080{found}").as_bytes()), Ok(found));
            }
        }
    }
}
