//! A collection as Postman writes it: schema v2.1, and v2.0 where it differs.

use serde::Deserialize;
use serde_json::Value;

/// The file.
#[derive(Deserialize)]
pub(super) struct Collection {
    pub(super) info: Info,
    #[serde(default)]
    pub(super) item: Vec<Item>,
    #[serde(default)]
    pub(super) variable: Vec<Pair>,
    pub(super) auth: Option<Value>,
    #[serde(default)]
    pub(super) event: Vec<Event>,
}

#[derive(Deserialize)]
pub(super) struct Info {
    pub(super) schema: String,
}

/// A folder, if it has items; otherwise a request.
#[derive(Deserialize)]
pub(super) struct Item {
    #[serde(default)]
    pub(super) name: String,
    pub(super) item: Option<Vec<Item>>,
    pub(super) request: Option<Request>,
    pub(super) auth: Option<Value>,
    #[serde(default)]
    pub(super) event: Vec<Event>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Request {
    Url(String),
    Whole(Box<WholeRequest>),
}

#[derive(Deserialize)]
pub(super) struct WholeRequest {
    pub(super) method: Option<String>,
    pub(super) url: Option<Url>,
    #[serde(default)]
    pub(super) header: Headers,
    pub(super) body: Option<Body>,
    pub(super) auth: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Url {
    Text(String),
    Parts {
        raw: String,
        #[serde(default)]
        variable: Vec<Pair>,
    },
}

/// Headers: pairs, or in older files lines.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Headers {
    Pairs(Vec<Pair>),
    Lines(String),
    Nothing(()),
}

impl Default for Headers {
    fn default() -> Headers {
        Headers::Nothing(())
    }
}

/// A key and its value: a header, a field of a form, or a variable.
#[derive(Clone, Deserialize)]
pub(super) struct Pair {
    #[serde(alias = "id", default)]
    pub(super) key: String,
    #[serde(default)]
    pub(super) value: Value,
    #[serde(default)]
    pub(super) disabled: bool,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) src: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Body {
    pub(super) mode: Option<String>,
    pub(super) raw: Option<String>,
    #[serde(default)]
    pub(super) urlencoded: Vec<Pair>,
    #[serde(default)]
    pub(super) formdata: Vec<Pair>,
    pub(super) graphql: Option<Value>,
    #[serde(default)]
    pub(super) options: Value,
    #[serde(default)]
    pub(super) disabled: bool,
}

/// A script that runs before a request, or after its answer.
#[derive(Deserialize)]
pub(super) struct Event {
    pub(super) listen: String,
    pub(super) script: Option<Script>,
}

#[derive(Deserialize)]
pub(super) struct Script {
    #[serde(default)]
    exec: Value,
}

impl Event {
    /// Returns the lines of the script.
    pub(super) fn lines(&self) -> Vec<String> {
        match self.script.as_ref().map(|script| &script.exec) {
            Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(text)) => text.lines().map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }
}

impl Pair {
    /// Returns the value as a text: a number or a truth value as it is written.
    pub(super) fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        }
    }
}
