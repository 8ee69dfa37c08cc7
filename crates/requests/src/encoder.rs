use std::fmt;
use std::sync::Arc;

type Encode = dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync;

/// Encoder of the bodies of a target, used before the run on each body whose placeholders are filled in.
#[derive(Clone)]
pub struct BodyEncoder {
    encode: Arc<Encode>,
    http_scheme: &'static str,
    scheme: &'static str,
}

impl BodyEncoder {
    /// Creates an encoder. `encode` returns the bytes to send, or the problem with the body as one line. For people,
    /// the URLs of its requests have `scheme` in place of `http_scheme`.
    pub fn new(
        http_scheme: &'static str,
        scheme: &'static str,
        encode: impl Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync + 'static,
    ) -> BodyEncoder {
        BodyEncoder { encode: Arc::new(encode), http_scheme, scheme }
    }

    pub(crate) fn encode(&self, body: &[u8]) -> Result<Vec<u8>, String> {
        (self.encode)(body)
    }

    /// Returns the URL for people.
    pub(crate) fn shown(&self, url: &str) -> String {
        url.strip_prefix(self.http_scheme).map_or_else(|| url.to_owned(), |rest| format!("{}{rest}", self.scheme))
    }
}

impl PartialEq for BodyEncoder {
    fn eq(&self, other: &BodyEncoder) -> bool {
        Arc::ptr_eq(&self.encode, &other.encode)
    }
}

impl Eq for BodyEncoder {}

impl fmt::Debug for BodyEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BodyEncoder({})", self.scheme)
    }
}
