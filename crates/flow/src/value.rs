//! What is captured, compared and put into requests.

use std::borrow::Cow;

use serde_json::Value as Json;

/// A value of a session.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    /// As JSON has it.
    Json(Json),
    /// Bytes that need not be text.
    Bytes(Vec<u8>),
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Value {
        Value::Json(Json::String(text.into()))
    }

    pub(crate) fn integer(number: i64) -> Value {
        Value::Json(Json::from(number))
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Value::Json(Json::String(text)) => Some(text),
            Value::Json(_) | Value::Bytes(_) => None,
        }
    }

    pub(crate) fn as_list(&self) -> Option<&[Json]> {
        match self {
            Value::Json(Json::Array(list)) => Some(list),
            Value::Json(_) | Value::Bytes(_) => None,
        }
    }

    /// As it is put into a request. Lists, objects and bytes have no such text.
    pub(crate) fn rendered(&self) -> Option<Cow<'_, str>> {
        match self {
            Value::Json(Json::String(text)) => Some(Cow::Borrowed(text)),
            Value::Json(json @ (Json::Null | Json::Bool(_) | Json::Number(_))) => Some(Cow::Owned(json.to_string())),
            Value::Json(Json::Array(_) | Json::Object(_)) | Value::Bytes(_) => None,
        }
    }

    /// As `--variable` takes it, so that it is what it was; `None` where it has no text.
    pub(crate) fn as_variable(&self) -> Option<String> {
        let text = self.rendered()?.into_owned();
        Some(if self.as_str().is_some() { format!("\"{text}\"") } else { text })
    }

    /// Its size in memory, about: so much a session keeps of it.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Value::Json(json) => weight(json),
            Value::Bytes(bytes) => bytes.len(),
        }
    }

    /// What it is, for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Json(Json::Null) => "null",
            Value::Json(Json::Bool(_)) => "a boolean",
            Value::Json(Json::Number(_)) => "a number",
            Value::Json(Json::String(_)) => "a text",
            Value::Json(Json::Array(_)) => "a list",
            Value::Json(Json::Object(_)) => "an object",
            Value::Bytes(_) => "bytes",
        }
    }
}

fn weight(json: &Json) -> usize {
    /// What a value takes beside its content.
    const OWN: usize = 32;
    OWN + match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        Json::String(text) => text.len(),
        Json::Array(list) => list.iter().map(weight).sum(),
        Json::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
    }
}
