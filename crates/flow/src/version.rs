use truetail_engine::{HttpVersion, is_allowed_in_http2};

use crate::error::FlowError;
use crate::flow::Flow;
use crate::step::{Step, StepProtocol};

impl Flow {
    /// Returns the flow over this version of HTTP. The default is HTTP/1.1. Calls use HTTP/2 in any case.
    ///
    /// # Errors
    /// A line requires another version, or has a header that HTTP/2 does not allow.
    pub fn over(mut self, version: HttpVersion) -> Result<Flow, FlowError> {
        let version = if self.makes_calls() { HttpVersion::Http2 } else { version };
        self.is_http2 = version == HttpVersion::Http2;
        self.steps.iter().try_for_each(|step| step.check_version(version))?;
        if self.is_http2 {
            // The first request may get a forbidden header from a value.
            self.check_first_request()?;
        }
        Ok(self)
    }
}

impl Step {
    fn required_version(&self) -> Option<&'static str> {
        if let StepProtocol::Http(version) = self.protocol { version } else { None }
    }

    fn check_version(&self, version: HttpVersion) -> Result<(), FlowError> {
        let expected = self.expected.as_ref().and_then(|expected| Some((expected.line, expected.version?)));
        let asked = self.required_version().map(|version| (self.line, version));
        let other = |(_, wanted): &(usize, &str)| (*wanted == "2") != (version == HttpVersion::Http2);
        if let Some((line, wanted)) = [asked, expected].into_iter().flatten().find(other) {
            let help = match version {
                HttpVersion::Http1 => "use --http2 for the whole run",
                HttpVersion::Http2 if self.call().is_some() => "gRPC needs it; write HTTP without a version",
                HttpVersion::Http2 => "leave --http2 out",
            };
            return Err(FlowError::new(line, format!("HTTP/{wanted} is asked for here, not {version}; {help}")));
        }
        match self.request.fixed.0.iter().find(|(name, value)| !is_allowed_in_http2(name, value)) {
            Some((name, _)) if version == HttpVersion::Http2 => {
                let name = String::from_utf8_lossy(name);
                let help = "leave it out: it is about the connection";
                Err(FlowError::new(self.line, format!("the header {name} cannot be sent in HTTP/2; {help}")))
            }
            _ => Ok(()),
        }
    }
}
