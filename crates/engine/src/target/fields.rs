//! The header fields of HTTP/2, read from the bytes of a request in HTTP/1.1.

/// A name in lower case and its value.
pub(crate) type Field<'a> = (String, &'a [u8]);

/// The fields of a request, and where its body begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fields<'a> {
    /// Every field in the order of sending: pseudo-headers first.
    pub(crate) all: Vec<Field<'a>>,
    /// Index of the first byte of the body in the bytes of HTTP/1.1.
    pub(crate) body: usize,
}

/// Headers about the connection, which HTTP/2 does not allow (RFC 9113, section 8.2.2).
const CONNECTION_HEADERS: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

impl<'a> Fields<'a> {
    /// Reads a whole request. `Host` becomes `:authority`. A header that only asks to keep the connection is left out,
    /// because HTTP/2 keeps it anyway.
    ///
    /// # Errors
    /// The line of a header that HTTP/2 does not allow, as it was written.
    pub(crate) fn of(request: &'a [u8], scheme: &str) -> Result<Fields<'a>, String> {
        let scheme: &'static [u8] = if scheme == "https" { b"https" } else { b"http" };
        let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(request.len());
        let mut lines =
            request[..end].split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let mut words = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut all = vec![(":method".to_owned(), method), (":scheme".to_owned(), scheme), (":path".to_owned(), path)];
        for line in lines {
            let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
            let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
            let value = line.get(colon + 1..).unwrap_or_default().trim_ascii();
            match name.as_str() {
                "host" => all.insert(3, (":authority".to_owned(), value)),
                "connection" | "keep-alive" | "proxy-connection" if keeps_alive(&name, value) => {}
                "te" if value.eq_ignore_ascii_case(b"trailers") => all.push((name, value)),
                "te" => return Err(String::from_utf8_lossy(line).into_owned()),
                other if CONNECTION_HEADERS.contains(&other) => return Err(String::from_utf8_lossy(line).into_owned()),
                _ => all.push((name, value)),
            }
        }
        Ok(Fields { all, body: (end + 4).min(request.len()) })
    }
}

/// The header only asks to keep the connection.
fn keeps_alive(name: &str, value: &[u8]) -> bool {
    name == "keep-alive" || value.eq_ignore_ascii_case(b"keep-alive")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(request: &str) -> Result<Vec<String>, String> {
        let fields = Fields::of(request.as_bytes(), "https")?;
        Ok(fields.all.iter().map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value))).collect())
    }

    #[test]
    fn fields_of_a_request() {
        let request =
            "POST /a?b HTTP/1.1\r\nHost: a.test\r\nUser-Agent: t\r\nConnection: Keep-Alive\r\nX: a:b\r\n\r\nbody";
        let wanted = [":method=POST", ":scheme=https", ":path=/a?b", ":authority=a.test", "user-agent=t", "x=a:b"];
        assert_eq!(fields(request).unwrap(), wanted);
        assert_eq!(&request.as_bytes()[Fields::of(request.as_bytes(), "http").unwrap().body..], b"body");
    }

    #[test]
    fn a_header_that_is_not_allowed_is_named() {
        for header in ["Connection: close", "Transfer-Encoding: chunked", "Upgrade: h2c", "TE: gzip"] {
            assert_eq!(fields(&format!("GET / HTTP/1.1\r\n{header}\r\n\r\n")).unwrap_err(), header);
        }
        assert!(fields("GET / HTTP/1.1\r\nTE: trailers\r\n\r\n").unwrap().contains(&"te=trailers".to_owned()));
    }
}
