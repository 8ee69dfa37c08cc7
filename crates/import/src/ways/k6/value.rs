//! Values that are known without running the script.

use crate::ways::load::text::{Made, Of, Part, number_text, plain_name};

/// A value in the script.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Text(Vec<Part>),
    Number(f64),
    Bool(bool),
    Null,
    Undefined,
    List(Vec<Value>),
    /// An object, in the order of its members.
    Map(Vec<(String, Value)>),
    /// A text that `JSON.stringify` makes of a value.
    Json(Box<Value>),
    /// A random number between two bounds.
    Uniform(f64, f64),
    /// A number that the flow makes, such as `randomInt 1 6`.
    Drawn(Made),
    /// A part of the answer of a step.
    Answer(usize, Of),
    /// The variables of the environment.
    Environment,
    /// It depends on what only a run knows. The name stands for it in the flow, if there is one.
    Unknown(Option<String>),
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Value::Text(vec![Part::Literal(text.into())])
    }

    pub(super) fn variable(name: &str) -> Self {
        Value::Text(vec![Part::Variable(plain_name(name))])
    }

    /// Returns true if a part of it is made anew by each evaluation.
    pub(super) fn is_made(&self) -> bool {
        match self {
            Value::Drawn(_) | Value::Uniform(..) => true,
            Value::Text(parts) => parts.iter().any(|part| matches!(part, Part::Made(_))),
            Value::List(values) => values.iter().any(Value::is_made),
            Value::Map(members) => members.iter().any(|(_, value)| value.is_made()),
            Value::Json(inner) => inner.is_made(),
            _ => false,
        }
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Value::Unknown(_))
    }

    /// Returns a number, if JavaScript writes it with the same digits.
    pub(super) fn from_number(number: f64) -> Self {
        let size = number.abs();
        let is_plain = number == 0.0 || (1e-6..1e21).contains(&size);
        if is_plain { Value::Number(number + 0.0) } else { Value::Unknown(None) }
    }

    /// Returns true for an object or a list, which can be changed under another name.
    pub(super) fn is_object(&self) -> bool {
        matches!(self, Value::Map(_) | Value::List(_))
    }

    /// Returns true if it is `part`, or an object or list with it inside.
    pub(super) fn contains(&self, part: &Value) -> bool {
        self == part
            || match self {
                Value::Map(members) => members.iter().any(|(_, value)| value.contains(part)),
                Value::List(values) => values.iter().any(|value| value.contains(part)),
                _ => false,
            }
    }

    /// Returns a text without variables.
    pub(super) fn literal(&self) -> Option<String> {
        match self {
            Value::Text(parts) => parts.iter().map(Part::literal).collect(),
            Value::Number(number) => Some(number_text(*number)),
            Value::Bool(truth) => Some(truth.to_string()),
            Value::Undefined => Some("undefined".to_owned()),
            _ => None,
        }
    }

    /// Returns the value as a number. A text such as `"10"` is one too.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(_) => self.literal()?.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    /// Returns a member of an object.
    pub(super) fn member(&self, name: &str) -> Option<&Value> {
        let Value::Map(members) = self else { return None };
        members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}
