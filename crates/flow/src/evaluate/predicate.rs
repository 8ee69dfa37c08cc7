use std::cmp::Ordering;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Value as Json;

use crate::scope::{Scope, VariableId};
use crate::template::{Expression, RegexPattern, Template};
use crate::value::Value;

/// A condition on a value.
#[derive(Clone, Debug)]
pub(crate) enum Predicate {
    Compare(Comparison, Operand),
    Matches(RegexPattern),
    Is(Kind),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Above,
    AtLeast,
    Below,
    AtMost,
    StartsWith,
    EndsWith,
    Contains,
}

/// The other side of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Value(Value),
    Text(Template),
    Expression(Expression),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Exists,
    Empty,
    Boolean,
    Collection,
    Float,
    Integer,
    Ipv4,
    Ipv6,
    List,
    Number,
    Object,
    Text,
    Uuid,
}

impl Operand {
    fn value(&self, scope: &mut Scope) -> Result<Value, String> {
        let unknown = |_| "a variable to compare with has no value".to_owned();
        match self {
            Operand::Value(value) => Ok(value.clone()),
            Operand::Text(template) => template.render(scope).map(Value::text).map_err(unknown),
            Operand::Expression(expression) => expression.value(scope).map_err(unknown),
        }
    }
}

impl Predicate {
    /// Returns true if the predicate holds. An absent value is an error, except for the predicate that it exists.
    pub(crate) fn holds(&self, value: Option<&Value>, scope: &mut Scope) -> Result<bool, String> {
        if let Predicate::Is(Kind::Exists) = self {
            return Ok(value.is_some());
        }
        let value = value.ok_or("there is no value")?;
        match self {
            Predicate::Is(kind) => kind.holds(value),
            Predicate::Matches(regex) => {
                let text = value.as_str().ok_or_else(|| format!("{} is found where a text is needed", value.kind()))?;
                Ok(regex.get(scope)?.is_match(text))
            }
            Predicate::Compare(comparison, operand) => comparison.holds(value, &operand.value(scope)?),
        }
    }

    /// Returns the variables that the predicate needs.
    pub(crate) fn variables(&self) -> Vec<VariableId> {
        match self {
            Predicate::Matches(regex) => regex.variables(),
            Predicate::Compare(_, Operand::Text(template)) => template.variables().collect(),
            Predicate::Compare(_, Operand::Expression(expression)) => expression.variables(),
            Predicate::Compare(_, Operand::Value(_)) | Predicate::Is(_) => Vec::new(),
        }
    }
}

impl Comparison {
    fn holds(self, value: &Value, other: &Value) -> Result<bool, String> {
        let cannot = || format!("{} cannot be compared with {} in this way", value.kind(), other.kind());
        let order = || order(value, other).ok_or_else(cannot);
        match self {
            Comparison::Equal => Ok(equal(value, other)),
            Comparison::NotEqual => Ok(!equal(value, other)),
            Comparison::Above => Ok(order()? == Ordering::Greater),
            Comparison::AtLeast => Ok(order()? != Ordering::Less),
            Comparison::Below => Ok(order()? == Ordering::Less),
            Comparison::AtMost => Ok(order()? != Ordering::Greater),
            Comparison::Contains => contains(value, other).ok_or_else(cannot),
            Comparison::StartsWith => ends(value, other, <[u8]>::starts_with).ok_or_else(cannot),
            Comparison::EndsWith => ends(value, other, <[u8]>::ends_with).ok_or_else(cannot),
        }
    }
}

fn equal(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Json(value), Value::Json(other)) => equal_json(value, other),
        (value, other) => value == other,
    }
}

/// Compares JSON values. Numbers are equal in any form, such as 5 and 5.0.
fn equal_json(value: &Json, other: &Json) -> bool {
    match (value, other) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_json(a, b)),
        (value, other) => value == other,
    }
}

fn order(value: &Value, other: &Value) -> Option<Ordering> {
    match (value, other) {
        (Value::Json(Json::Number(a)), Value::Json(Json::Number(b))) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        (Value::Json(Json::String(a)), Value::Json(Json::String(b))) => Some(a.cmp(b)),
        _ => None,
    }
}

fn contains(value: &Value, other: &Value) -> Option<bool> {
    match (value, other) {
        (Value::Json(Json::Array(list)), Value::Json(other)) => Some(list.iter().any(|item| equal_json(item, other))),
        (Value::Json(Json::String(text)), Value::Json(Json::String(part))) => Some(text.contains(part.as_str())),
        (Value::Bytes(bytes), Value::Bytes(part)) => {
            Some(part.is_empty() || bytes.windows(part.len()).any(|window| window == part))
        }
        _ => None,
    }
}

fn ends(value: &Value, other: &Value, has: fn(&[u8], &[u8]) -> bool) -> Option<bool> {
    match (value, other) {
        (Value::Json(Json::String(text)), Value::Json(Json::String(part))) => {
            Some(has(text.as_bytes(), part.as_bytes()))
        }
        (Value::Bytes(bytes), Value::Bytes(part)) => Some(has(bytes, part)),
        _ => None,
    }
}

impl Kind {
    fn holds(self, value: &Value) -> Result<bool, String> {
        let parses = |parse: fn(&str) -> bool| value.as_str().is_some_and(parse);
        let Value::Json(json) = value else {
            return match (self, value) {
                (Kind::Empty, Value::Bytes(bytes)) => Ok(bytes.is_empty()),
                _ => Ok(self == Kind::Exists),
            };
        };
        Ok(match self {
            Kind::Exists => true,
            Kind::Empty => match json {
                Json::String(text) => text.is_empty(),
                Json::Array(list) => list.is_empty(),
                Json::Object(object) => object.is_empty(),
                _ => return Err(format!("{} is neither empty nor full", value.kind())),
            },
            Kind::Boolean => json.is_boolean(),
            Kind::Collection => json.is_array() || json.is_object(),
            Kind::Float => json.is_f64(),
            Kind::Integer => json.is_i64() || json.is_u64(),
            Kind::List => json.is_array(),
            Kind::Number => json.is_number(),
            Kind::Object => json.is_object(),
            Kind::Text => json.is_string(),
            Kind::Ipv4 => parses(|text| text.parse::<Ipv4Addr>().is_ok()),
            Kind::Ipv6 => parses(|text| text.parse::<Ipv6Addr>().is_ok()),
            Kind::Uuid => parses(is_uuid),
        })
    }
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.iter().all(|group| group.chars().all(|c| c.is_ascii_hexdigit()))
}
