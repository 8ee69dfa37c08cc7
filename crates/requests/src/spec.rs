use truetail_engine::Method;

use crate::Location;
use crate::encoder::BodyEncoder;

/// One target as it was written. Only its method has been checked, and its placeholders are not filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetSpec {
    /// Location of its text, for error messages.
    pub location: Location,
    /// Its method.
    pub method: Method,
    /// Its URL.
    pub url: String,
    /// `Name: value` lines.
    pub headers: Vec<String>,
    /// Names of default headers that are not sent.
    pub left_out: Vec<String>,
    /// Its body.
    pub body: Vec<u8>,
    /// Encoder of its body, which is JSON then; `None`: the body is sent as it is.
    pub encoder: Option<BodyEncoder>,
    /// Its weight, at least 1. Its share of the arrivals is its weight divided by the sum of all weights.
    pub weight: u32,
}

impl TargetSpec {
    /// Creates a plain GET of `url`.
    pub fn new(location: Location, url: &str) -> TargetSpec {
        TargetSpec {
            location,
            method: Method::Get,
            url: url.to_owned(),
            headers: Vec::new(),
            left_out: Vec::new(),
            body: Vec::new(),
            encoder: None,
            weight: 1,
        }
    }

    /// Returns true for a call of gRPC, written as `GRPC URL`.
    pub fn is_call(&self) -> bool {
        self.method.as_str() == "GRPC"
    }

    /// Adds the `headers` whose names the target does not set itself.
    pub fn with_defaults(mut self, headers: &[String]) -> TargetSpec {
        let defaults = headers.iter().filter(|header| !self.gives(name_of(header))).cloned().collect::<Vec<_>>();
        self.headers.extend(defaults);
        self
    }

    /// Returns true if the content type says that the body is JSON, or if it is encoded from JSON.
    pub(crate) fn has_json_body(&self) -> bool {
        let is_json = |header: &String| {
            let (name, value) = header.split_once(':').unwrap_or((header, ""));
            let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            let is_content_type = name.trim().eq_ignore_ascii_case("content-type");
            is_content_type && (media_type == "application/json" || media_type.ends_with("+json"))
        };
        self.encoder.is_some() || self.headers.iter().any(is_json)
    }

    /// Returns a URL of the target for people.
    pub(crate) fn shown(&self, url: &str) -> String {
        self.encoder.as_ref().map_or_else(|| url.to_owned(), |encoder| encoder.shown(url))
    }

    /// Returns true if the target sets a header of that name, or deliberately leaves it out.
    pub(crate) fn gives(&self, name: &str) -> bool {
        let mut given =
            self.headers.iter().map(|header| name_of(header)).chain(self.left_out.iter().map(String::as_str));
        given.any(|given| given.eq_ignore_ascii_case(name))
    }
}

fn name_of(header: &str) -> &str {
    header.split(':').next().unwrap_or_default().trim()
}
