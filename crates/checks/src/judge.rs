//! The judgement of an answer by a check, and its reason.

use serde_json::Value;

use crate::answer::{Answer, NoBody};
use crate::check::{Check, Path, Subject};
use crate::conditions::{JsonTest, TextTest};
use crate::json_path::TooManySteps;

/// Maximum length of a quote from an answer, in characters.
const LONGEST_QUOTE: usize = 200;
/// Maximum number of values that a reason quotes.
const MAX_QUOTED: usize = 20;

/// Reason why an answer fails a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The value differs from what was expected.
    Differs,
    /// There is nothing to compare: no status, no such header, or nothing at the path.
    Missing,
    /// The value cannot be compared like this: a text with a number, or several values with one.
    CannotCompare,
    /// The body is longer than checks read.
    BodyTooLong,
    /// The body is compressed.
    BodyCompressed,
    /// The body is not JSON.
    NotJson,
    /// The path may take too many steps on this body.
    TooManySteps,
}

impl From<NoBody> for Failure {
    fn from(no_body: NoBody) -> Failure {
        match no_body {
            NoBody::TooLong => Failure::BodyTooLong,
            NoBody::Compressed => Failure::BodyCompressed,
        }
    }
}

impl Check {
    /// Judges an answer.
    ///
    /// # Errors
    /// The reason why the answer fails.
    pub fn judge(&self, answer: &Answer<'_>) -> Result<(), Failure> {
        match &self.subject {
            Subject::Status(test) => self.decide(test.holds(answer.status.ok_or(Failure::Missing)?)),
            Subject::Header(name, None) => self.exists(answer.fields.all(name).next().is_some()),
            Subject::Header(name, Some(test)) => self.judge_header(name, test, answer),
            Subject::GrpcStatus(status) => self.decide(answer.call.ok_or(Failure::Missing)? == *status),
            Subject::Body(test) => self.decide(test.holds(answer.body()?)),
            Subject::Json(path, test) => {
                let json = answer.json(answer.body()?).map_err(|_| Failure::NotJson)?;
                self.judge_json(path, test, json)
            }
        }
    }

    /// Passes if the test holds, or with `not`, if it does not hold.
    fn decide(&self, holds: bool) -> Result<(), Failure> {
        if holds != self.negated { Ok(()) } else { Err(Failure::Differs) }
    }

    fn exists(&self, is_there: bool) -> Result<(), Failure> {
        match (is_there, self.negated) {
            (true, false) | (false, true) => Ok(()),
            (false, false) => Err(Failure::Missing),
            (true, true) => Err(Failure::Differs),
        }
    }

    /// If a header occurs several times, one matching value is enough.
    fn judge_header(&self, name: &str, test: &TextTest, answer: &Answer<'_>) -> Result<(), Failure> {
        if answer.fields.all(name).next().is_none() {
            return Err(Failure::Missing);
        }
        self.decide(answer.fields.all(name).any(|value| test.holds(value)))
    }

    fn judge_json(&self, path: &Path, test: &JsonTest, json: &Value) -> Result<(), Failure> {
        let found = path.parsed.query(json).map_err(|TooManySteps| Failure::TooManySteps)?;
        let holds = match (test, &found[..]) {
            (JsonTest::Exists, _) => return self.exists(!found.is_empty()),
            (_, []) => return Err(Failure::Missing),
            (_, [value]) => test.holds(value),
            (_, values) => test.holds_for_all(values),
        };
        self.decide(holds.ok_or(Failure::CannotCompare)?)
    }

    /// Explains in words why an answer fails. `failure` is the error of [`Check::judge`].
    pub fn explain(&self, failure: Failure, answer: &Answer<'_>) -> String {
        match failure {
            Failure::BodyTooLong => "the body is longer than 1 MiB, and checks read no longer ones".to_owned(),
            Failure::BodyCompressed => {
                let coding = answer.content_encoding().map(String::from_utf8_lossy).unwrap_or_default();
                format!("the body is compressed (content-encoding: {coding}), and checks read it as it was sent")
            }
            Failure::NotJson => {
                let problem = answer.body().ok().and_then(|body| answer.json(body).err());
                format!("the body is not JSON: {}", problem.unwrap_or_default())
            }
            Failure::TooManySteps => TooManySteps.to_string(),
            Failure::Missing => match &self.subject {
                Subject::Header(name, _) => format!("there is no header {name}"),
                Subject::GrpcStatus(_) => "it is no answer to a gRPC call".to_owned(),
                Subject::Status(_) => "it has no status".to_owned(),
                Subject::Body(_) | Subject::Json(..) => "there is nothing at this path".to_owned(),
            },
            Failure::Differs => format!("it is {}", self.quote_answer(answer)),
            Failure::CannotCompare => {
                format!("it is {}, which cannot be compared like this", self.quote_answer(answer))
            }
        }
    }

    /// Returns the value that the check read.
    fn quote_answer(&self, answer: &Answer<'_>) -> String {
        match &self.subject {
            Subject::Status(_) => answer.status.map_or_else(String::new, |status| status.to_string()),
            Subject::GrpcStatus(_) => answer.call.map_or_else(String::new, |call| call.name().to_owned()),
            Subject::Header(name, _) => {
                let values: Vec<_> = answer.fields.all(name).map(String::from_utf8_lossy).collect();
                clipped(&values.join(", "))
            }
            Subject::Body(_) => match answer.body() {
                Ok([]) => "empty".to_owned(),
                Ok(body) => clipped(&String::from_utf8_lossy(&body[..body.len().min(LONGEST_QUOTE * 4)])),
                Err(_) => String::new(),
            },
            Subject::Json(path, _) => {
                let json = answer.body().ok().and_then(|body| answer.json(body).ok());
                let found = json.and_then(|json| path.parsed.query(json).ok()).unwrap_or_default();
                // Each value has at least one character, and one of them may be the whole body.
                let texts: Vec<_> = found.iter().take(MAX_QUOTED).map(|value| clipped(&value.to_string())).collect();
                clipped(&texts.join(", "))
            }
        }
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
