//! A URL to which paths are appended.

use url::{Position, Url};

use super::credentials::without_credentials;
use super::error::TargetError;
use super::request::parse_url;

/// Start of the URLs of requests: scheme, authority and the beginning of a path. Text appended to it is always part of
/// the path and cannot name another host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BaseUrl {
    root: String,
    /// The path, without a slash at its end.
    path: String,
}

impl BaseUrl {
    /// Reads `http://HOST[:PORT][/PATH]`.
    ///
    /// # Errors
    /// [`TargetError::Url`] for an invalid URL and for one with a query or a fragment; [`TargetError::Scheme`].
    pub fn parse(text: &str) -> Result<BaseUrl, TargetError> {
        parse_url(&without_credentials(text))?;
        let error = |problem: String| TargetError::Url { url: without_credentials(text).into_owned(), problem };
        let url = Url::parse(text).map_err(|problem| error(problem.to_string()))?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(error("a path follows it, so it can have neither a query nor a fragment".to_owned()));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        Ok(BaseUrl { root: url[..Position::BeforePath].to_owned(), path })
    }

    /// Returns the URL of a path and query, as written. `None`: `target` does not begin with a slash, or has a
    /// character that URLs skip.
    pub fn join(&self, target: &str) -> Option<String> {
        let is_path = target.starts_with('/') && !target.contains(char::is_control);
        is_path.then(|| format!("{self}{target}"))
    }
}

impl std::fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.root, self.path)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_comes_behind_a_path() {
        for (base, target, url) in [
            ("http://a", "/x?y", Some("http://a/x?y")),
            ("http://A:80/", "/x", Some("http://a/x")),
            ("https://a:8443/v1/", "/x/{id}", Some("https://a:8443/v1/x/{id}")),
            ("http://a\\v1", "/x", Some("http://a/v1/x")),
            ("http://u:p@a", "/x", Some("http://u:p@a/x")),
            ("http://a", "//b/x", Some("http://a//b/x")),
            ("http://a", "@b/x", None),
            ("http://a", ".b/x", None),
            ("http://a", ":81/x", None),
            ("http://a", "\\b/x", None),
            ("http://a", "", None),
            ("http://a", "/\t/b", None),
        ] {
            assert_eq!(BaseUrl::parse(base).unwrap().join(target).as_deref(), url, "{base} {target}");
        }
    }

    #[test]
    fn what_is_no_base_is_refused() {
        for (text, why) in [
            ("http://a?x=", "neither a query"),
            ("http://a/#", "nor a fragment"),
            ("http://", "not a URL"),
            ("a/b", "no scheme"),
            ("ftp://a", "unknown scheme"),
        ] {
            let error = BaseUrl::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_path_changes_where_a_request_goes(
            target in prop_oneof!["[/@:.\\\\?#a%\t]{0,12}", "/.{0,20}", ".{0,20}"],
            base in prop_oneof![Just("http://a.test"), Just("http://a.test:81/v1"), Just("https://u@a.test/")],
        ) {
            if let Some(joined) = BaseUrl::parse(base).unwrap().join(&target) {
                let joined = Url::parse(&joined).unwrap();
                let base = Url::parse(base).unwrap();
                prop_assert_eq!(&joined[..Position::BeforePath], &base[..Position::BeforePath]);
            }
        }
    }
}
