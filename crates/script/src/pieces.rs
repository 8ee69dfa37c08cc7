//! The requests in the text that a script returned.

use std::mem::MaybeUninit;

use httparse::Status;

/// Limit on the header fields of a request.
const MAX_FIELDS: usize = 100;

/// Returns the length of the first request in `bytes`.
///
/// # Errors
/// The bytes do not begin with a whole request of HTTP/1; the error says why.
pub(crate) fn first_length(bytes: &[u8]) -> Result<usize, String> {
    let mut fields = [MaybeUninit::uninit(); MAX_FIELDS];
    let mut request = httparse::Request::new(&mut []);
    let head = match request.parse_with_uninit_headers(bytes, &mut fields) {
        Ok(Status::Complete(head)) => head,
        Ok(Status::Partial) => return Err("the empty line after the header is missing".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let body = body_length(request.headers)?;
    let whole = head.checked_add(body).filter(|whole| *whole <= bytes.len());
    whole
        .ok_or_else(|| format!("its Content-Length is {body}, and only {} bytes follow its header", bytes.len() - head))
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
    use super::first_length;

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
}
