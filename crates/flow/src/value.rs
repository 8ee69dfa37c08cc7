use std::borrow::Cow;

use serde_json::Value as Json;

/// A value of a session, which is captured, compared and put into requests.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
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

    /// Returns the text for use in a request. Lists, objects and bytes have no text.
    pub(crate) fn rendered(&self) -> Option<Cow<'_, str>> {
        match self {
            Value::Json(Json::String(text)) => Some(Cow::Borrowed(text)),
            Value::Json(json @ (Json::Null | Json::Bool(_) | Json::Number(_))) => Some(Cow::Owned(json.to_string())),
            Value::Json(Json::Array(_) | Json::Object(_)) | Value::Bytes(_) => None,
        }
    }

    /// Returns the text for `--variable` that gives the same value again, or `None` if the value has no text.
    pub(crate) fn as_variable(&self) -> Option<String> {
        let text = self.rendered()?.into_owned();
        Some(if self.as_str().is_some() { format!("\"{text}\"") } else { text })
    }

    /// Returns the approximate memory of the value, in bytes.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Value::Json(json) => weight(json),
            Value::Bytes(bytes) => bytes.len(),
        }
    }

    /// Returns the kind of the value for messages.
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
    /// Memory of a value without its content.
    const OWN: usize = 32;
    OWN + match json {
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        Json::String(text) => text.len(),
        Json::Array(list) => list.iter().map(weight).sum(),
        Json::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
    }
}
