use std::borrow::Cow;

use super::left_out::Cause;

/// A request as servers log it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asked {
    /// The method, such as `GET`.
    pub method: String,
    /// Path and query as they were sent. Bytes that a request line cannot hold are percent-encoded.
    pub target: String,
    /// The host in lower case, if the log has it.
    pub host: Option<String>,
}

/// Methods that usually have no body.
const WITHOUT_BODY: [&str; 4] = ["GET", "HEAD", "OPTIONS", "DELETE"];
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

impl Asked {
    /// Reads a request line such as `GET / HTTP/1.1`. Fails if it cannot be sent again.
    pub(super) fn from_line(line: &[u8], host: &[u8]) -> Result<Asked, Cause> {
        let line = std::str::from_utf8(line).map_err(|_| Cause::Request)?;
        let mut words = line.split(' ');
        let method = words.next().unwrap_or_default();
        let target = words.next().ok_or(Cause::Request)?;
        match (words.next(), words.next()) {
            (Some(version), None) if version.starts_with("HTTP/") => Asked::from_parts(method, target, host),
            _ => Err(Cause::Request),
        }
    }

    /// Makes a request of method and target. Fails if it cannot be sent again.
    pub(super) fn from_parts(method: &str, target: &str, host: &[u8]) -> Result<Asked, Cause> {
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(Cause::Request);
        }
        let (own_host, path) = match target.split_once("://") {
            // Clients send the whole URL to a proxy.
            Some(("http" | "https", rest)) => rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())),
            _ => ("", target),
        };
        let path = if path.is_empty() { "/" } else { path };
        if !path.starts_with('/') {
            return Err(if WITHOUT_BODY.contains(&method) { Cause::Request } else { Cause::Method });
        }
        if !WITHOUT_BODY.contains(&method) && !WITH_BODY.contains(&method) {
            return Err(Cause::Method);
        }
        let host = if own_host.is_empty() { host_of(host) } else { host_of(own_host.as_bytes()) };
        Ok(Asked { method: method.to_owned(), target: encoded(path.as_bytes()), host })
    }

    /// Refuses a request whose body is not known.
    pub(super) fn check_body(&self, may_be_empty: bool) -> Result<(), Cause> {
        if may_be_empty || !WITH_BODY.contains(&self.method.as_str()) { Ok(()) } else { Err(Cause::Body) }
    }
}

/// Returns a host as it is sent, or `None` for `-` and invalid hosts.
fn host_of(host: &[u8]) -> Option<String> {
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(byte);
    let there = host.iter().any(u8::is_ascii_alphanumeric) && host.iter().all(is_host);
    there.then(|| String::from_utf8_lossy(host).to_ascii_lowercase())
}

/// Encodes a path and a query for a request line.
fn encoded(path: &[u8]) -> String {
    path.iter().fold(String::with_capacity(path.len()), |mut text, byte| {
        if byte.is_ascii_graphic() && *byte != b'#' {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
        text
    })
}

/// Removes the escapes of servers' logs: `\"`, `\\` and `\x0a`. Bytes escaped as `\x` are percent-encoded at once;
/// [`encoded`] encodes other bytes if they are in a target.
pub(super) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let hex = after.get(1..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let hex = hex.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match (first, after.first(), hex) {
            (b'\\', Some(b'x'), Some(digits)) => {
                plain.extend_from_slice(b"%");
                plain.extend_from_slice(digits.to_ascii_uppercase().as_bytes());
                rest = &after[3..];
            }
            (b'\\', Some(b'"' | b'\\'), _) => {
                plain.push(after[0]);
                rest = &after[1..];
            }
            _ => plain.push(*first),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(line: &str) -> Result<String, Cause> {
        Asked::from_line(&unescaped(line.as_bytes()), b"-")
            .map(|asked| format!("{} {} {}", asked.method, asked.target, asked.host.unwrap_or_default()))
    }

    #[test]
    fn request_lines_as_servers_log_them() {
        for (line, wanted) in [
            ("GET /a?b=c,d HTTP/1.1", "GET /a?b=c,d "),
            (r#"GET /\x22x\xC3\xA4 HTTP/1.1"#, "GET /%22x%C3%A4 "),
            (r#"GET /a\"b\\c HTTP/2.0"#, r#"GET /a"b\c "#),
            ("GET /ä#b HTTP/1.1", "GET /%C3%A4%23b "),
            ("GET http://Shop.test:81/x?y HTTP/1.1", "GET /x?y shop.test:81"),
            ("GET https://shop.test HTTP/1.1", "GET / shop.test"),
            ("POST / HTTP/1.1", "POST / "),
        ] {
            assert_eq!(shown(line).as_deref(), Ok(wanted), "{line}");
        }
        for (line, cause) in [
            ("-", Cause::Request),
            ("", Cause::Request),
            (r"\x16\x03\x01", Cause::Request),
            ("GET /", Cause::Request),
            ("GET /a b HTTP/1.1", Cause::Request),
            ("get / HTTP/1.1", Cause::Request),
            ("OPTIONS * HTTP/1.1", Cause::Request),
            ("CONNECT a:443 HTTP/1.1", Cause::Method),
            ("PROPFIND / HTTP/1.1", Cause::Method),
        ] {
            assert_eq!(shown(line), Err(cause), "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_target_can_be_sent(line in prop::collection::vec(any::<u8>(), 0..40)) {
            let line = [b"GET /", &line[..], b" HTTP/1.1"].concat();
            if let Ok(asked) = Asked::from_line(&unescaped(&line), b"") {
                prop_assert!(asked.target.bytes().all(|byte| byte.is_ascii_graphic()));
            }
        }
    }
}
