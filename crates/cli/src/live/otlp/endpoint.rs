//! Receiver of metrics.

use std::env;

use percent_encoding::percent_decode_str;
use truetail_requests::redacted_url;
use ureq::http::Uri;

use crate::error::{Result, usage_error};

/// Headers of each request, in the syntax of OpenTelemetry's own exporters: `name=value,name=value`, percent-encoded.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// Path of metrics below the URL of a receiver.
const PATH: &str = "/v1/metrics";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OtlpEndpoint {
    /// URL that receives the metrics.
    pub url: String,
    /// URL without secrets, for messages.
    pub shown: String,
    /// Headers of each request, such as credentials.
    pub headers: Vec<(String, String)>,
}

impl OtlpEndpoint {
    /// Parses a receiver from a URL, with or without the path of metrics.
    ///
    /// # Errors
    /// If `given` is no HTTP URL, or the headers in the environment are not valid.
    pub(crate) fn parse(given: &str) -> Result<OtlpEndpoint> {
        let wrong = || {
            usage_error(format!(
                "--otlp '{}' is no http:// or https:// URL; write one such as http://127.0.0.1:4318",
                redacted_url(given)
            ))
        };
        let uri: Uri = given.parse().map_err(|_| wrong())?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none_or(str::is_empty) {
            return Err(wrong());
        }
        let path = if matches!(uri.path(), "" | "/") { PATH } else { "" };
        let url = format!("{}{path}", given.trim_end_matches('/'));
        let headers = headers(&env::var(HEADERS).unwrap_or_default())?;
        let shown = redacted_url(&url);
        Ok(OtlpEndpoint { url, shown, headers })
    }
}

fn headers(text: &str) -> Result<Vec<(String, String)>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let header = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        Some((name.trim().to_owned(), value.into_owned()))
    };
    // Header values are secrets, so the message does not quote them.
    let wrong = || usage_error(format!("${HEADERS} is no list of name=value, separated by commas"));
    parts.map(|part| header(part).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_metrics_is_added_where_there_is_none() {
        for (given, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/metrics"),
            ("https://example.org/otlp/v1/metrics", "https://example.org/otlp/v1/metrics"),
        ] {
            assert_eq!(OtlpEndpoint::parse(given).unwrap().url, url);
        }
        for given in ["", "127.0.0.1:4318", "ftp://x/", "http://"] {
            assert!(OtlpEndpoint::parse(given).is_err(), "{given}");
        }
    }

    #[test]
    fn headers_are_decoded() {
        let found = headers("Authorization=Basic%20abc==, x = y").unwrap();
        assert_eq!(found, [("Authorization".into(), "Basic abc==".into()), ("x".into(), "y".into())]);
        assert!(headers("Authorization").is_err());
    }
}
