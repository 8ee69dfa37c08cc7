//! Expressions, as far as their value is known without running the script.

use super::session::Session;
use super::source::Code;
use super::value::Value;
use crate::ways::load::text::{Of, Part, joined, path_step, plain_name};

/// Limit on the members of a list or an object.
const MAX_MEMBERS: usize = 10_000;

impl<'a> Session<'a, '_> {
    /// Returns the value of an expression. Requests in it become steps.
    pub(super) fn evaluate(&mut self, code: Code<'a>) -> Value {
        if !self.may_read() {
            return Value::Unknown(None);
        }
        self.depth += 1;
        let value = self.value_of(code);
        self.depth -= 1;
        if value.is_unknown() && matches!(code.kind(), "call_expression" | "new_expression") {
            self.forget(code);
        }
        value
    }

    fn value_of(&mut self, code: Code<'a>) -> Value {
        match code.kind() {
            "string" => text_of(code).map_or(Value::Unknown(None), Value::text),
            "template_string" => self.template(code),
            "number" => number(code.text()),
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "undefined" => Value::Undefined,
            "identifier" if code.text() == "__ENV" => Value::Environment,
            "identifier" => self.lookup(code.text()),
            "parenthesized_expression" | "await_expression" => {
                code.children().first().map_or(Value::Null, |inner| self.evaluate(*inner))
            }
            "member_expression" | "subscript_expression" => self.member(code),
            "object" => self.object(code),
            "array" => {
                let values = code.children().into_iter().take(MAX_MEMBERS).map(|value| self.evaluate(value));
                Value::List(values.collect())
            }
            "binary_expression" => self.binary(code),
            "unary_expression" => {
                let sign = if code.has_word("-") { -1.0 } else { return Value::Unknown(None) };
                let argument = code.field("argument").map(|argument| self.evaluate(argument));
                argument.and_then(|value| value.number()).map_or(Value::Unknown(None), |n| Value::from_number(sign * n))
            }
            "call_expression" => self.call(code),
            _ => Value::Unknown(None),
        }
    }

    fn template(&mut self, code: Code<'a>) -> Value {
        let mut parts = Vec::new();
        for piece in code.children() {
            match piece.kind() {
                "template_substitution" => {
                    let value = piece.children().first().map_or(Value::Null, |inner| self.evaluate(*inner));
                    if let Value::Unknown(None) | Value::Map(_) | Value::List(_) | Value::Uniform(..) = value {
                        return Value::Unknown(None);
                    }
                    parts.extend(self.parts(&value));
                }
                "escape_sequence" => match unescaped(piece.text()) {
                    Some(text) => parts.push(Part::Literal(text)),
                    None => return Value::Unknown(None),
                },
                _ => parts.push(Part::Literal(piece.text().to_owned())),
            }
        }
        Value::Text(joined(parts))
    }

    fn object(&mut self, code: Code<'a>) -> Value {
        let mut members: Vec<(String, Value)> = Vec::new();
        for pair in code.children().into_iter().take(MAX_MEMBERS) {
            let added = match pair.kind() {
                "pair" => {
                    let key = pair.field("key").and_then(|key| self.key(key));
                    let value = pair.field("value").map(|value| self.evaluate(value));
                    key.zip(value).map(|(key, value)| vec![self.named(pair, key, value)])
                }
                "shorthand_property_identifier" => Some(vec![(pair.text().to_owned(), self.lookup(pair.text()))]),
                "spread_element" => match pair.children().first().map(|inner| self.evaluate(*inner)) {
                    Some(Value::Map(spread)) => Some(spread),
                    _ => None,
                },
                _ => None,
            };
            let Some(added) = added else { return Value::Unknown(None) };
            for (key, value) in added {
                members.retain(|(known, _)| *known != key);
                members.push((key, value));
            }
        }
        Value::Map(members)
    }

    /// Gives a value that is not known the name of its member.
    fn named(&mut self, pair: Code<'a>, key: String, value: Value) -> (String, Value) {
        if value != Value::Unknown(None) || pair.field("value").is_some_and(is_function) {
            return (key, value);
        }
        self.mark_text(pair, "");
        let name = plain_name(&key);
        (key, Value::Unknown(Some(name)))
    }

    fn key(&mut self, key: Code<'a>) -> Option<String> {
        match key.kind() {
            "property_identifier" | "number" => Some(key.text().to_owned()),
            "string" => text_of(key),
            "computed_property_name" => self.evaluate(*key.children().first()?).literal(),
            _ => None,
        }
    }

    fn member(&mut self, code: Code<'a>) -> Value {
        let Some(object) = code.field("object") else { return Value::Unknown(None) };
        let key = match (code.field("property"), code.field("index")) {
            (Some(property), _) => Some(property.text().to_owned()),
            (None, Some(index)) => self.evaluate(index).literal(),
            (None, None) => None,
        };
        let value = self.evaluate(object);
        let Some(key) = key else { return Value::Unknown(None) };
        match value {
            Value::Environment => Value::variable(&key),
            Value::Map(members) => {
                let found = members.into_iter().find(|(known, _)| *known == key);
                found.map_or(Value::Undefined, |(_, value)| value)
            }
            Value::List(values) if key == "length" => Value::Number(values.len() as f64),
            Value::List(values) => {
                let index = key.parse::<usize>().ok();
                index.and_then(|index| values.into_iter().nth(index)).unwrap_or(Value::Unknown(None))
            }
            Value::Answer(step, of) => {
                answer_member(&of, &key).map_or(Value::Unknown(None), |of| Value::Answer(step, of))
            }
            Value::Unknown(Some(name)) => Value::Unknown(Some(plain_name(&format!("{name}_{key}")))),
            _ => Value::Unknown(None),
        }
    }

    fn binary(&mut self, code: Code<'a>) -> Value {
        let (Some(left), Some(right)) = (code.field("left"), code.field("right")) else { return Value::Unknown(None) };
        let operator = code.field("operator").map_or("", Code::text);
        if ["||", "??"].contains(&operator) {
            return self.or_default(left, right);
        }
        let left = self.evaluate(left);
        let right = self.evaluate(right);
        match (left, operator, right) {
            (Value::Number(a), "+", Value::Number(b)) => Value::from_number(a + b),
            (Value::Number(a), "-", Value::Number(b)) => Value::from_number(a - b),
            (Value::Number(a), "*", Value::Number(b)) => Value::from_number(a * b),
            (Value::Number(a), "/", Value::Number(b)) => Value::from_number(a / b),
            (Value::Uniform(low, high), "*", Value::Number(by))
            | (Value::Number(by), "*", Value::Uniform(low, high)) => Value::Uniform(low * by, high * by),
            (Value::Uniform(low, high), "+", Value::Number(by))
            | (Value::Number(by), "+", Value::Uniform(low, high)) => Value::Uniform(low + by, high + by),
            (left @ (Value::Text(_) | Value::Json(_)), "+", right)
            | (left, "+", right @ (Value::Text(_) | Value::Json(_))) => {
                if [&left, &right]
                    .iter()
                    .any(|value| matches!(value, Value::Unknown(None) | Value::Map(_) | Value::List(_)))
                {
                    return Value::Unknown(None);
                }
                let mut parts = self.parts(&left);
                parts.extend(self.parts(&right));
                Value::Text(joined(parts))
            }
            _ => Value::Unknown(None),
        }
    }

    /// Reads `__ENV.NAME || 'default'`.
    fn or_default(&mut self, left: Code<'a>, right: Code<'a>) -> Value {
        let given = self.evaluate(left);
        let default = self.evaluate(right);
        match (&given, default.literal()) {
            (Value::Text(parts), Some(default)) => {
                if let [Part::Variable(name)] = parts.as_slice() {
                    self.variables.given.insert(name.clone(), default);
                }
                given
            }
            _ => Value::Unknown(None),
        }
    }
}

fn is_function(code: Code<'_>) -> bool {
    matches!(code.kind(), "arrow_function" | "function_expression")
}

/// Returns the part of an answer that a member of it is, if there is one.
fn answer_member(of: &Of, key: &str) -> Option<Of> {
    match (of, key) {
        (Of::Whole, "status") => Some(Of::Status),
        (Of::Whole, "body") => Some(Of::Body),
        (Of::Whole, "headers") => Some(Of::Headers),
        (Of::Whole, "cookies") => Some(Of::Cookies),
        (Of::Cookies, name) => Some(Of::CookieList(name.to_owned())),
        // The first cookie of a name is `cookies.name[0]`, and its value `cookies.name[0].value`.
        (Of::CookieList(_), "0") => Some(of.clone()),
        (Of::CookieList(name), "value") => Some(Of::Cookie(name.clone())),
        (Of::Whole, "timings") => Some(Of::Timings),
        (Of::Timings, "duration") => Some(Of::Duration),
        (Of::Body, "length") => Some(Of::BodyLength),
        (Of::Headers, name) => {
            let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
            is_plain.then(|| Of::Header(name.to_owned()))
        }
        (Of::Member(path), key) if key != "length" => Some(Of::Member(path.clone() + &path_step(key)?)),
        _ => None,
    }
}

fn number(text: &str) -> Value {
    let plain = text.replace('_', "");
    let radix = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().map(f64::from);
    let number = match plain.get(..2) {
        Some("0x" | "0X") => radix(&plain[2..], 16),
        Some("0b" | "0B") => radix(&plain[2..], 2),
        Some("0o" | "0O") => radix(&plain[2..], 8),
        _ => plain.parse().ok(),
    };
    number.map_or(Value::Unknown(None), Value::from_number)
}

/// Returns the text of a string in quotes.
pub(super) fn text_of(code: Code<'_>) -> Option<String> {
    let mut text = String::new();
    for piece in code.children() {
        match piece.kind() {
            "escape_sequence" => text.push_str(&unescaped(piece.text())?),
            _ => text.push_str(piece.text()),
        }
    }
    Some(text)
}

/// Returns the text that an escape such as `\n` or `\u00e9` stands for.
fn unescaped(escape: &str) -> Option<String> {
    let rest = escape.strip_prefix('\\')?;
    let first = rest.chars().next()?;
    let code = match first {
        'n' => "\n",
        't' => "\t",
        'r' => "\r",
        'b' => "\u{8}",
        'f' => "\u{c}",
        'v' => "\u{b}",
        '0' if rest.len() == 1 => "\0",
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => "",
        'u' | 'x' => {
            let digits = rest[1..].trim_matches(['{', '}']);
            return u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).map(String::from);
        }
        '0'..='9' => return None,
        other => return Some(other.to_string()),
    };
    Some(code.to_owned())
}
