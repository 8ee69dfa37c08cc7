use serde_json::Value as Json;
use truetail_stream::said_text;

use super::answer::{Answer, STATUS_FIELD};
use super::convert;
use crate::cookies::{SetCookie, unix_seconds};
use crate::scope::{Scope, VariableId};
use crate::template::{JsonPathPattern, NO_TEXT, RegexPattern, Template};
use crate::value::Value;

/// The part of an answer that is queried.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    Status,
    Version,
    Header(Template),
    Cookie(String, CookiePart),
    Body,
    Bytes,
    /// The text of a language model's streamed answer.
    Deltas,
    JsonPath(JsonPathPattern),
    Regex(RegexPattern),
    Variable(VariableId),
    Duration,
}

/// The queried part of a cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CookiePart {
    Value,
    MaxAge,
    Domain,
    Path,
    Secure,
    HttpOnly,
    SameSite,
    Expires,
}

impl CookiePart {
    pub(crate) fn named(name: &str) -> Option<CookiePart> {
        Some(match name.to_ascii_lowercase().as_str() {
            "value" => CookiePart::Value,
            "max-age" => CookiePart::MaxAge,
            "domain" => CookiePart::Domain,
            "path" => CookiePart::Path,
            "secure" => CookiePart::Secure,
            "httponly" => CookiePart::HttpOnly,
            "samesite" => CookiePart::SameSite,
            "expires" => CookiePart::Expires,
            _ => return None,
        })
    }
}

impl Query {
    /// Returns true if the query needs the body of the answer.
    pub(crate) fn needs_body(&self) -> bool {
        matches!(self, Query::Body | Query::Bytes | Query::Deltas | Query::JsonPath(_) | Query::Regex(_))
    }

    /// Returns true if the query is for the status of a gRPC call.
    pub(crate) fn is_call_status(&self) -> bool {
        let Query::Header(name) = self else { return false };
        name.constant().is_some_and(|name| name.eq_ignore_ascii_case(STATUS_FIELD))
    }

    /// Returns the queried value, or `Ok(None)` if the answer does not have it.
    pub(crate) fn ask(&self, answer: &Answer<'_>, scope: &mut Scope) -> Result<Option<Value>, String> {
        if self.needs_body() {
            answer.check_body()?;
        }
        Ok(match self {
            Query::Status => Some(Value::integer(i64::from(answer.status))),
            Query::Version => Some(Value::text(answer.version)),
            Query::Header(name) => {
                let name = name.render(scope).map_err(|_| NO_TEXT.to_owned())?;
                let mut values: Vec<String> = answer.header(&name).collect();
                match values.len() {
                    0 => None,
                    1 => values.pop().map(Value::text),
                    _ => Some(Value::Json(Json::from(values))),
                }
            }
            Query::Cookie(name, part) => cookie(answer, name, *part)?,
            Query::Body => Some(Value::text(answer.text()?.into_owned())),
            Query::Bytes => Some(Value::Bytes(answer.body.to_vec())),
            Query::Deltas => Some(Value::text(deltas(answer)?)),
            Query::JsonPath(path) => {
                let json = answer.json().ok_or("the body is not JSON")?;
                convert::find(&*path.get(scope)?, json)?
            }
            Query::Regex(regex) => {
                let text = answer.text()?;
                convert::first_group(&*regex.get(scope)?, &text)
            }
            Query::Variable(id) => scope.values[*id].clone(),
            Query::Duration => Some(Value::integer((answer.duration.0 / 1_000_000) as i64)),
        })
    }
}

fn deltas(answer: &Answer<'_>) -> Result<String, String> {
    let kind = answer.header("content-type").next().unwrap_or_default();
    let is_of = |names: &[&str]| names.iter().any(|name| kind.to_ascii_lowercase().contains(name));
    let is_lines = is_of(&["ndjson", "jsonl", "json-lines"]);
    if !is_lines && !is_of(&["text/event-stream"]) {
        return Err("the answer is no stream by its content type".to_owned());
    }
    said_text(answer.body, is_lines).map_err(|problem| format!("the answer has no text to join: {problem}"))
}

fn cookie(answer: &Answer<'_>, name: &str, part: CookiePart) -> Result<Option<Value>, String> {
    let mut all = answer.fields.all("set-cookie").filter_map(SetCookie::parse);
    let Some(set) = all.find(|cookie| cookie.name == name) else { return Ok(None) };
    let flag = |is_set: bool| is_set.then_some(Value::Json(Json::Bool(true)));
    Ok(match part {
        CookiePart::Value => Some(Value::text(set.value)),
        CookiePart::MaxAge => set.max_age.map(Value::integer),
        CookiePart::Domain => set.domain.map(Value::text),
        CookiePart::Path => set.path.map(Value::text),
        CookiePart::Secure => flag(set.secure),
        CookiePart::HttpOnly => flag(set.http_only),
        CookiePart::SameSite => set.same_site.map(Value::text),
        CookiePart::Expires if set.expires.is_some_and(|text| unix_seconds(text).is_none()) => {
            return Err("what the cookie has as Expires is no date".to_owned());
        }
        CookiePart::Expires => set.expires.map(Value::text),
    })
}
