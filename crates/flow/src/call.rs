//! Steps that are gRPC calls.

use truetail_grpc::{CallMethod, GrpcUrl, answer_as_json, says_gzip};

use crate::evaluate::answer::STATUS_FIELD;
use crate::reading::PendingAnswer;
use crate::syntax::{Entry, Expected};
use crate::template::Template;

/// The call of a step.
#[derive(Clone, Debug)]
pub(crate) struct StepCall {
    pub(crate) url: GrpcUrl,
    /// Unknown until the schema is.
    pub(crate) method: Option<CallMethod>,
    /// The step has an expectation on the status of the call. Otherwise the call must succeed.
    pub(crate) expects_status: bool,
}

impl StepCall {
    /// Creates the call of an entry whose URL is this one.
    ///
    /// # Errors
    /// The URL names no method, or the entry has a part that calls do not have.
    pub(crate) fn new(entry: &Entry, url: &str) -> Result<StepCall, String> {
        let url = GrpcUrl::parse(url).map_err(|error| error.to_string())?;
        if entry.method != "POST" {
            return Err(format!("a call is a POST; write POST in place of {}", entry.method));
        }
        let parts = &entry.parts;
        let others = [
            ("[Query]", !parts.query.is_empty()),
            ("[Form]", parts.form.is_some()),
            ("[Multipart]", parts.multipart.is_some()),
        ];
        if let Some((section, _)) = others.iter().find(|(_, given)| *given) {
            return Err(format!("a call has one message and no {section}; write the message as JSON"));
        }
        if entry.options.location {
            return Err("a call follows no redirects; leave location out".to_owned());
        }
        if entry.options.version.is_some_and(|version| version != "2") {
            return Err("gRPC needs HTTP/2; leave http1.1 out".to_owned());
        }
        if entry.options.is_stream {
            return Err("a call of a step is answered with one message; take '# truetail: stream' out".to_owned());
        }
        let expects_status = entry.response.as_ref().is_some_and(expects_status);
        Ok(StepCall { url, method: None, expects_status })
    }

    /// Returns the origin in HTTP.
    pub(crate) fn http_origin(&self) -> &str {
        &self.url.http_origin
    }

    /// Returns the path, which names the method.
    pub(crate) fn path(&self) -> String {
        format!("/{}/{}", self.url.service, self.url.method)
    }

    /// Returns the message of an answer in JSON; `None` if it cannot be decoded.
    pub(crate) fn message(&self, answer: &PendingAnswer) -> Option<String> {
        answer_as_json(self.method.as_ref()?, &answer.body, says_gzip(&answer.fields))
    }
}

fn expects_status(expected: &Expected) -> bool {
    let is_status = |name: &Template| name.constant().is_some_and(|name| name.eq_ignore_ascii_case(STATUS_FIELD));
    expected.headers.iter().any(|(_, (name, _))| is_status(name))
        || expected.asserts.iter().any(|assert| assert.look.query.is_call_status())
}
