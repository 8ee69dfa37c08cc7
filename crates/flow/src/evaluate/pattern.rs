//! JSONPaths and regular expressions.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};
use serde_json::Value as Json;
use serde_json_path::JsonPath;

use crate::template::{Scope, Template, VariableId};
use crate::value::Value;

/// Most bytes that a regular expression may take in memory.
const MOST_REGEX_BYTES: usize = 1 << 20;

/// Something that is made from a text.
pub(crate) trait Made: Sized {
    fn of(text: &str) -> Result<Self, String>;
}

/// Something that is made before the run, or each time from the variables of the session.
#[derive(Clone, Debug)]
pub(crate) enum Pattern<T> {
    Ready(Box<T>),
    EachTime(Template),
}

pub(crate) type JsonPathPattern = Pattern<JsonPath>;
pub(crate) type RegexPattern = Pattern<Regex>;

impl<T: Made + Clone> Pattern<T> {
    pub(crate) fn new(template: Template) -> Result<Pattern<T>, String> {
        match template.constant() {
            Some(text) => Ok(Pattern::Ready(Box::new(T::of(text)?))),
            None => Ok(Pattern::EachTime(template)),
        }
    }

    pub(crate) fn get(&self, scope: &mut Scope) -> Result<Cow<'_, T>, String> {
        match self {
            Pattern::Ready(made) => Ok(Cow::Borrowed(made)),
            Pattern::EachTime(template) => {
                let text = template.render(scope).map_err(|_| "a variable has no text".to_owned())?;
                Ok(Cow::Owned(T::of(&text)?))
            }
        }
    }

    pub(crate) fn variables(&self) -> Vec<VariableId> {
        match self {
            Pattern::Ready(_) => Vec::new(),
            Pattern::EachTime(template) => template.variables().collect(),
        }
    }
}

impl Made for JsonPath {
    fn of(text: &str) -> Result<JsonPath, String> {
        JsonPath::parse(text).map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
    }
}

impl Made for Regex {
    fn of(text: &str) -> Result<Regex, String> {
        let made = RegexBuilder::new(text).size_limit(MOST_REGEX_BYTES).build();
        made.map_err(|error| error.to_string().lines().last().unwrap_or_default().trim().to_owned())
    }
}

/// What a JSONPath finds, as Hurl has it: nothing, the one value, or a list of several.
pub(crate) fn find(path: &JsonPath, json: &Json) -> Option<Value> {
    let nodes = path.query(json).all();
    match &*nodes {
        [] => None,
        [only] => Some(Value::Json((*only).clone())),
        several => Some(Value::Json(Json::Array(several.iter().map(|node| (*node).clone()).collect()))),
    }
}

/// The first group of the first match, or the match where there is no group.
pub(crate) fn first_group(regex: &Regex, text: &str) -> Option<Value> {
    let captures = regex.captures(text)?;
    captures.get(1).or_else(|| captures.get(0)).map(|found| Value::text(found.as_str()))
}
