//! The header fields of a request in HTTP/2.

use super::request_parts::RequestView;

/// A name in lower case and its value.
pub(crate) type Field<'a> = (String, &'a [u8]);

/// Every field of a request in the order of sending: pseudo-headers first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fields<'a>(pub(crate) Vec<Field<'a>>);

/// Headers about the connection, which HTTP/2 does not allow (RFC 9113, section 8.2.2).
const CONNECTION_HEADERS: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// Treatment in HTTP/2 of a header of HTTP/1.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InHttp2 {
    /// The header is sent, with its name in lower case.
    Sent,
    /// The header is `Host` and becomes `:authority`.
    Authority,
    /// The header only asks to keep the connection, which HTTP/2 does anyway.
    LeftOut,
    Refused,
}

impl InHttp2 {
    /// Returns the treatment of a header with this name, in any case.
    pub(crate) fn for_header(name: &[u8], value: &[u8]) -> InHttp2 {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if is("host") => InHttp2::Authority,
            () if is("te") && !value.eq_ignore_ascii_case(b"trailers") => InHttp2::Refused,
            () if !CONNECTION_HEADERS.iter().any(|known| is(known)) => InHttp2::Sent,
            () if is("keep-alive") => InHttp2::LeftOut,
            () if is("connection") || is("proxy-connection") => match value.eq_ignore_ascii_case(b"keep-alive") {
                true => InHttp2::LeftOut,
                false => InHttp2::Refused,
            },
            () => InHttp2::Refused,
        }
    }
}

/// Returns true if an HTTP/2 request can have this header, or can omit it because it only asks to keep the connection.
pub fn is_allowed_in_http2(name: &[u8], value: &[u8]) -> bool {
    InHttp2::for_header(name, value.trim_ascii()) != InHttp2::Refused
}

/// Returns the lines of a head without their line ends.
pub(crate) fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

pub(crate) fn name_and_value(line: &[u8]) -> (&[u8], &[u8]) {
    let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
    (&line[..colon], line.get(colon + 1..).unwrap_or_default().trim_ascii())
}

impl<'a> Fields<'a> {
    /// Returns the fields of a request. `Host` becomes `:authority`. Headers that only ask to keep the connection are
    /// omitted, because HTTP/2 keeps it anyway.
    ///
    /// # Errors
    /// A header that HTTP/2 does not allow, as a line.
    pub(crate) fn of(request: RequestView<'a>, scheme: &str) -> Result<Fields<'a>, String> {
        let scheme: &'static [u8] = if scheme == "https" { b"https" } else { b"http" };
        let first = [(":method", request.method()), (":scheme", scheme), (":path", request.path())];
        let mut all: Vec<Field<'a>> = first.map(|(name, value)| (name.to_owned(), value)).into();
        for (name, value) in request.fields() {
            let value = value.trim_ascii();
            match InHttp2::for_header(name, value) {
                InHttp2::Sent => all.push((String::from_utf8_lossy(name).to_ascii_lowercase(), value)),
                InHttp2::Authority => all.insert(3, (":authority".to_owned(), value)),
                InHttp2::LeftOut => {}
                InHttp2::Refused => {
                    return Err(format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value)));
                }
            }
        }
        Ok(Fields(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::request_parts::RequestParts;

    fn fields(lines: &str) -> Result<Vec<String>, String> {
        let parts = RequestParts::of_text(&format!("POST /a?b HTTP/1.1\r\n{lines}\r\n\r\nbody"));
        let fields = Fields::of(parts.view(), "https")?;
        Ok(fields.0.iter().map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value))).collect())
    }

    #[test]
    fn fields_of_a_request() {
        assert!(is_allowed_in_http2(b"Te", b" trailers ") && is_allowed_in_http2(b"CONNECTION", b"Keep-Alive"));
        assert!(!is_allowed_in_http2(b"upgrade", b"h2c") && !is_allowed_in_http2(b"Proxy-Connection", b"close"));
        let lines = "User-Agent: t\r\nHost: a.test\r\nConnection: Keep-Alive\r\nX: a:b \t";
        let wanted = [":method=POST", ":scheme=https", ":path=/a?b", ":authority=a.test", "user-agent=t", "x=a:b"];
        assert_eq!(fields(lines).unwrap(), wanted);
    }

    #[test]
    fn a_header_that_is_not_allowed_is_named() {
        for header in ["Connection: close", "Transfer-Encoding: chunked", "Upgrade: h2c", "TE: gzip"] {
            assert_eq!(fields(header).unwrap_err(), header);
        }
        assert!(fields("TE: trailers").unwrap().contains(&"te=trailers".to_owned()));
    }
}
