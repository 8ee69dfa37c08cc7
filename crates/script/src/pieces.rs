//! The requests in the text that a script returned.

use std::mem::MaybeUninit;

use httparse::Status;

/// Limit on the header fields of a request.
const MAX_FIELDS: usize = 100;

/// Longest head that is remembered. 0 switches this off.
const LONGEST: usize = 2048;

/// Finds the ends of requests. Requests of a script often differ only in their paths, and comparing bytes is cheaper
/// than parsing. So the head that was parsed last is remembered.
#[derive(Default, Debug)]
pub(crate) struct Splitter {
    head: Vec<u8>,
    /// Place of the path in the head, and of what follows it; equal before the first head.
    path: usize,
    after_path: usize,
    /// Length of the body that the head announces.
    body: usize,
}

impl Splitter {
    /// Returns the length of the first request in `bytes`.
    ///
    /// # Errors
    /// The bytes do not begin with a whole request of HTTP/1; the error says why.
    pub(crate) fn first_length(&mut self, bytes: &[u8]) -> Result<usize, String> {
        match self.like_the_last(bytes) {
            Some(length) => Ok(length),
            None => self.parsed(bytes),
        }
    }

    /// Returns the length of a whole request whose head differs from the last one only in its path.
    fn like_the_last(&self, bytes: &[u8]) -> Option<usize> {
        let rest = bytes.strip_prefix(&self.head[..self.path])?;
        let (path, rest) = rest.split_at(memchr::memchr(b' ', rest)?);
        let is_plain = path.iter().fold(true, |is_plain, byte| is_plain & byte.is_ascii_graphic());
        let known = &self.head[self.after_path..];
        let is_alike = is_plain && !path.is_empty() && !known.is_empty() && rest.starts_with(known);
        let head = bytes.len() - rest.len() + known.len();
        head.checked_add(self.body).filter(|whole| is_alike && *whole <= bytes.len())
    }

    fn parsed(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let Ends { head, body } = ends(bytes)?;
        if head <= LONGEST {
            let mut blanks = memchr::memchr_iter(b' ', &bytes[..head]);
            // A blank line may come before the request, and no blank.
            if let (Some(first), Some(second)) = (blanks.next(), blanks.next()) {
                (self.path, self.after_path, self.body) = (first + 1, second, body);
                self.head.clear();
                self.head.extend_from_slice(&bytes[..head]);
            }
        }
        Ok(head + body)
    }
}

/// Length of a request's head, and of its body.
struct Ends {
    head: usize,
    body: usize,
}

/// Returns the ends of the first request in `bytes`.
fn ends(bytes: &[u8]) -> Result<Ends, String> {
    let mut fields = [MaybeUninit::uninit(); MAX_FIELDS];
    let mut request = httparse::Request::new(&mut []);
    let head = match request.parse_with_uninit_headers(bytes, &mut fields) {
        Ok(Status::Complete(head)) => head,
        Ok(Status::Partial) => return Err("the empty line after the header is missing".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let body = body_length(request.headers)?;
    let whole = head.checked_add(body).filter(|whole| *whole <= bytes.len());
    let follow = bytes.len() - head;
    whole
        .map(|_| Ends { head, body })
        .ok_or_else(|| format!("its Content-Length is {body}, and only {follow} bytes follow its header"))
}

/// Returns the length of the body that the header announces.
fn body_length(fields: &[httparse::Header<'_>]) -> Result<usize, String> {
    let mut length = None;
    for field in fields {
        if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err("it has a Transfer-Encoding; send the body with a Content-Length".to_owned());
        }
        if field.name.eq_ignore_ascii_case("content-length") {
            let number = std::str::from_utf8(field.value).ok().and_then(|text| text.trim().parse().ok());
            let number: usize = number.ok_or("its Content-Length is no number")?;
            if length.replace(number).is_some_and(|other| other != number) {
                return Err("it has two lengths".to_owned());
            }
        }
    }
    Ok(length.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::Splitter;

    fn first_length(bytes: &[u8]) -> Result<usize, String> {
        Splitter::default().first_length(bytes)
    }

    #[test]
    fn several_requests_of_a_script_are_told_apart() {
        let first = b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
        let second = b"GET /b HTTP/1.1\r\nHost: h\r\n\r\n";
        let both = [&first[..], second].concat();
        assert_eq!(first_length(&both), Ok(first.len()));
        assert_eq!(first_length(&both[first.len()..]), Ok(second.len()));
    }

    #[test]
    fn text_of_a_script_that_is_no_request_is_refused() {
        for (text, why) in [
            ("", "empty line"),
            ("GET / HTTP/1.1\r\nHost: h\r\n", "empty line"),
            ("hello world\r\n\r\n", "invalid"),
            ("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc", "only 3 bytes follow"),
            ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "no number"),
            ("GET / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n", "only 0 bytes"),
            ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "two lengths"),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding"),
        ] {
            let error = first_length(text.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_request_like_the_last_one_is_recognised_and_any_other_is_parsed() {
        let first = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
        for other in [
            first,
            "POST /longer?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nxyzPOST /c",
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab",
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nabc",
            "POST /a\tb HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
            "POST /\u{e9} HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
            "POST  HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
            "POST /a b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
            "POST /a",
            "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
            "",
        ] {
            let mut splitter = Splitter::default();
            assert_eq!(splitter.first_length(first.as_bytes()), Ok(first.len()));
            assert_eq!(splitter.first_length(other.as_bytes()), first_length(other.as_bytes()), "{other:?}");
        }
    }
}
