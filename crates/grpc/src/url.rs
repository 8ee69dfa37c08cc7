use percent_encoding::percent_decode_str;

/// Address of a method: `grpc://HOST:PORT/package.Service/Method`, or `grpcs://` over TLS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrpcUrl {
    /// Scheme, host and port as HTTP has them: `http://HOST:PORT`.
    pub http_origin: String,
    /// Full name of the service, with its package.
    pub service: String,
    /// Name of the method.
    pub method: String,
}

/// Reason why a text is not the address of a method.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{}': {problem}", url.escape_debug())]
pub struct GrpcUrlError {
    url: String,
    problem: &'static str,
}

const FORM: &str = "write grpc://HOST:PORT/package.Service/Method";

impl GrpcUrl {
    /// Returns true if the text begins with the scheme of gRPC, with TLS or without.
    pub fn is_meant(text: &str) -> bool {
        text.trim().split_once("://").is_some_and(|(scheme, _)| http_scheme(scheme).is_some())
    }

    /// Reads the address of a method.
    ///
    /// # Errors
    /// See [`GrpcUrlError`].
    pub fn parse(text: &str) -> Result<GrpcUrl, GrpcUrlError> {
        let (http_origin, path) = GrpcUrl::split(text)?;
        let error = |problem| GrpcUrlError { url: shown(text), problem };
        let (service, method) = path
            .split_once('/')
            .ok_or_else(|| error("no method is named; write /package.Service/Method after the port"))?;
        let decoded = |part: &str| percent_decode_str(part).decode_utf8().map(|part| part.into_owned());
        let [service, method] = [decoded(service), decoded(method.trim_end_matches('/'))]
            .map(|name| name.ok().filter(|name| is_name(name)));
        match (service, method) {
            (Some(service), Some(method)) if !method.contains('.') => Ok(GrpcUrl { http_origin, service, method }),
            _ => Err(error("after the port come the names of the service and of the method: /package.Service/Method")),
        }
    }

    /// Returns the origin in HTTP of a text, and what follows it. A text without a scheme is taken as without TLS.
    ///
    /// # Errors
    /// See [`GrpcUrlError`].
    pub fn split(text: &str) -> Result<(String, String), GrpcUrlError> {
        let error = |problem| GrpcUrlError { url: shown(text), problem };
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("grpc", text));
        let scheme = http_scheme(scheme).ok_or_else(|| error(FORM))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.contains('@') {
            return Err(error("truetail does not log in to gRPC; send -H 'authorization: …'"));
        }
        if path.contains(['?', '#']) {
            return Err(error("a method has no query; give the message with --data"));
        }
        if scheme == "http" && port_of(authority).is_none() {
            return Err(error("it has no port"));
        }
        Ok((format!("{scheme}://{authority}"), path.to_owned()))
    }

    /// Returns the URL of the call in HTTP.
    pub fn http_url(&self) -> String {
        format!("{}/{}/{}", self.http_origin, self.service, self.method)
    }
}

fn http_scheme(scheme: &str) -> Option<&'static str> {
    match scheme.to_ascii_lowercase().as_str() {
        "grpc" => Some("http"),
        "grpcs" => Some("https"),
        _ => None,
    }
}

/// Returns the port after the host, which may be an IPv6 address in brackets.
fn port_of(authority: &str) -> Option<&str> {
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    after_host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.is_empty())
}

fn is_name(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut bytes = word.bytes();
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    name.split('.').all(is_word)
}

/// Returns the text without a password.
fn shown(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_method() {
        for (text, http) in [
            (
                "grpc://127.0.0.1:50051/helloworld.Greeter/SayHello",
                "http://127.0.0.1:50051/helloworld.Greeter/SayHello",
            ),
            ("GRPCS://a.test/p.S/M/", "https://a.test/p.S/M"),
            ("grpc://[::1]:1/S/M", "http://[::1]:1/S/M"),
        ] {
            assert!(GrpcUrl::is_meant(text));
            assert_eq!(GrpcUrl::parse(text).unwrap().http_url(), http);
        }
        assert!(!GrpcUrl::is_meant("http://a/") && !GrpcUrl::is_meant("checkout"));
        for (text, why) in [
            ("grpc://a/p.S/M", "no port"),
            ("grpc://a:1", "no method is named"),
            ("grpc://a:1/p.S", "no method is named"),
            ("grpc://a:1/p.S/", "names of the service"),
            ("grpc://a:1/p.S/M/x", "names of the service"),
            ("grpc://a:1/p S/M", "names of the service"),
            ("grpc://a:1/p.S/M?x=1", "no query"),
            ("grpc://u:secret@a:1/p.S/M", "log in"),
            ("http://a:1/p.S/M", "write grpc://"),
        ] {
            let error = GrpcUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{text}: {error}");
        }
    }
}
