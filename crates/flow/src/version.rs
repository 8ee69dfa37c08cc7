//! The version of HTTP that a flow is run over.

use truetail_engine::{HttpVersion, is_allowed_in_http2};

use crate::error::FlowError;
use crate::flow::Flow;
use crate::step::Step;

impl Flow {
    /// The same flow over this version of HTTP. Without this it is HTTP/1.1.
    ///
    /// # Errors
    /// The line that asks for another version, or has a header that HTTP/2 does not allow.
    pub fn over(mut self, version: HttpVersion) -> Result<Flow, FlowError> {
        self.is_http2 = version == HttpVersion::Http2;
        self.steps.iter().try_for_each(|step| step.check_version(version))?;
        if self.is_http2 {
            // A value of the first request may be a header that is not allowed.
            self.try_first()?;
        }
        Ok(self)
    }
}

impl Step {
    fn check_version(&self, version: HttpVersion) -> Result<(), FlowError> {
        let expected = self.expected.as_ref().and_then(|expected| Some((expected.line, expected.version?)));
        let asked = self.version.map(|version| (self.line, version));
        let other = |(_, wanted): &(usize, &str)| (*wanted == "2") != (version == HttpVersion::Http2);
        if let Some((line, wanted)) = [asked, expected].into_iter().flatten().find(other) {
            let help = match version {
                HttpVersion::Http1 => "use --http2 for the whole run",
                HttpVersion::Http2 => "leave --http2 out",
            };
            return Err(FlowError::new(line, format!("HTTP/{wanted} is asked for here, not {version}; {help}")));
        }
        match self.request.fixed_lines().find(|(name, value)| !is_allowed_in_http2(name, value)) {
            Some((name, _)) if version == HttpVersion::Http2 => {
                let name = String::from_utf8_lossy(name);
                let help = "leave it out: it is about the connection";
                Err(FlowError::new(self.line, format!("the header {name} cannot be sent in HTTP/2; {help}")))
            }
            _ => Ok(()),
        }
    }
}
