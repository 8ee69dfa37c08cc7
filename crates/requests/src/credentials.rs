use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use truetail_engine::credentials_in;

use crate::placeholder::has_placeholder;
use crate::{InputError, TargetSpec};

/// Returns the header of basic authentication (RFC 7617) for `USER:PASSWORD`.
pub fn basic_authorization(credentials: impl AsRef<[u8]>) -> String {
    format!("Authorization: Basic {}", STANDARD.encode(credentials))
}

impl TargetSpec {
    /// Moves user name and password from the URL, which messages show, to an `Authorization` header, unless the target
    /// has one.
    ///
    /// # Errors
    /// The user name or the password holds a placeholder. Rows cannot fill it in, because the two are encoded together.
    pub fn with_url_credentials(mut self) -> Result<TargetSpec, InputError> {
        let url = self.url.trim();
        let Some(range) = credentials_in(url) else { return Ok(self) };
        let credentials = url[range.clone()].to_owned();
        self.url = format!("{}{}", &url[..range.start], &url[range.end + 1..]);
        if has_placeholder(&credentials) {
            let problem = "a placeholder cannot stand in user name or password; write the header with -H";
            return Err(self.location.invalid(problem));
        }
        // An encoded colon, %3A, is part of the name or the password.
        let (user, password) = credentials.split_once(':').unwrap_or((&credentials, ""));
        let decoded: Vec<u8> = percent_decode_str(user).chain([b':']).chain(percent_decode_str(password)).collect();
        Ok(self.with_defaults(&[basic_authorization(decoded)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;

    fn spec(url: &str) -> TargetSpec {
        TargetSpec::new(Location::at("f", 2), url)
    }

    #[test]
    fn credentials_leave_the_url_and_become_a_header() {
        for (url, rest, plain) in [
            ("http://u:p@a/b?c@d", "http://a/b?c@d", "u:p"),
            ("http://u@a/", "http://a/", "u:"),
            ("http://me%40x:p%3Aq%2f@a", "http://a", "me@x:p:q/"),
            (" http://u:p@q@a ", "http://a", "u:p@q"),
        ] {
            let moved = spec(url).with_url_credentials().unwrap();
            assert_eq!((moved.url.as_str(), &moved.headers[..]), (rest, &[basic_authorization(plain)][..]), "{url}");
        }
        assert_eq!(spec("http://a/@b").with_url_credentials().unwrap(), spec("http://a/@b"));
    }

    #[test]
    fn a_header_that_is_written_out_counts_before_them() {
        let own = TargetSpec { headers: vec!["authorization: x".to_owned()], ..spec("http://u:p@a/") };
        assert_eq!(own.with_url_credentials().unwrap().headers, ["authorization: x"]);
    }

    #[test]
    fn a_placeholder_in_them_is_refused_without_showing_them() {
        let error = spec("http://{{u}}:secret@a/").with_url_credentials().unwrap_err().to_string();
        assert!(error.starts_with("f:2: a placeholder") && !error.contains("secret"), "{error}");
    }
}
