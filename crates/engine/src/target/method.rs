//! HTTP methods.

use std::str::FromStr;

use super::error::TargetError;

/// An HTTP method. A method has its own variant only if it changes how an answer is read.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Method {
    #[default]
    /// GET.
    Get,
    /// HEAD: the answer has no body, even if its head announces one.
    Head,
    /// Any other method, in upper case.
    Other(String),
}

impl Method {
    /// Returns the name as it is sent.
    pub fn as_str(&self) -> &str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Other(name) => name,
        }
    }
}

impl FromStr for Method {
    type Err = TargetError;

    /// Reads a token (RFC 9110, section 9.1) and converts it to upper case. Refuses CONNECT, which requests a tunnel.
    fn from_str(text: &str) -> Result<Method, TargetError> {
        let name = text.trim().to_ascii_uppercase();
        match name.as_str() {
            "GET" => Ok(Method::Get),
            "HEAD" => Ok(Method::Head),
            token if is_token(token) && token != "CONNECT" => Ok(Method::Other(name)),
            _ => Err(TargetError::Method(text.to_owned())),
        }
    }
}

/// Returns true for a token (RFC 9110, section 5.6.2), which methods and header names must be.
pub(crate) fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}
