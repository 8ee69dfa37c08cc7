//! Calls: those of k6's own modules, of its helpers, and of the script's functions.

use super::session::Session;
use super::source::Code;
use super::value::Value;
use crate::ways::load::text::{Made, Of, Part, duration, path_step, seconds};

impl<'a> Session<'a, '_> {
    /// Reads a call. One that is not known is not read, and neither are its arguments.
    pub(super) fn call(&mut self, code: Code<'a>) -> Value {
        let (Some(function), Some(arguments)) = (code.field("function"), code.field("arguments")) else {
            return Value::Unknown(None);
        };
        if arguments.kind() == "template_string" {
            let is_url = function.field("property").is_some_and(|name| name.text() == "url") && self.is_http(function);
            return if is_url { self.evaluate(arguments) } else { Value::Unknown(None) };
        }
        let arguments = arguments.children();
        match function.kind() {
            "identifier" => self.call_name(function.text(), &arguments),
            "member_expression" => self.call_member(code, function, &arguments),
            _ => Value::Unknown(None),
        }
    }

    fn is_http(&self, function: Code<'a>) -> bool {
        function.field("object").is_some_and(|object| self.script.http.contains(object.text()))
    }

    fn call_name(&mut self, name: &str, arguments: &[Code<'a>]) -> Value {
        if let Some(function) = self.script.functions.get(name).copied() {
            let values = arguments.iter().map(|argument| self.evaluate(*argument)).collect();
            return self.function(function, values, false);
        }
        match (self.script.imported.get(name).copied(), arguments) {
            (Some("sleep"), [time]) => self.sleep(*time),
            (Some("group"), [name, function]) => {
                let name = self.evaluate(*name).literal().unwrap_or_else(|| "group".to_owned());
                self.groups.push(name);
                let value = self.function(*function, Vec::new(), true);
                self.groups.pop();
                value
            }
            (Some("check"), [answer, checks, ..]) => self.check(*answer, *checks),
            (Some("randomIntBetween"), [low, high]) => {
                let bounds = (self.evaluate(*low).number(), self.evaluate(*high).number());
                let (Some(low), Some(high)) = bounds else { return Value::Unknown(None) };
                self.drawn(low, high)
            }
            (Some("uuidv4"), _) => Value::Text(vec![Part::Made(self.made("newUuid"))]),
            (Some("randomItem"), [list]) => match self.evaluate(*list) {
                Value::List(values) => self.choice(&values),
                _ => Value::Unknown(None),
            },
            (None, [value]) if name == "String" => {
                let value = self.evaluate(*value);
                if matches!(value, Value::Unknown(None)) { value } else { Value::Text(self.parts(&value)) }
            }
            _ => Value::Unknown(None),
        }
    }

    fn call_member(&mut self, call: Code<'a>, function: Code<'a>, arguments: &[Code<'a>]) -> Value {
        let (Some(object), Some(method)) = (function.field("object"), function.field("property")) else {
            return Value::Unknown(None);
        };
        if self.is_http(function) {
            return self.http(call, method.text(), arguments);
        }
        match (object.text(), method.text(), arguments) {
            ("JSON", "stringify", [value, ..]) => match self.evaluate(*value) {
                Value::Unknown(None) => Value::Unknown(None),
                value => Value::Json(Box::new(value)),
            },
            ("JSON", "parse", [text]) => match self.evaluate(*text) {
                Value::Answer(step, Of::Body) => Value::Answer(step, Of::Member(String::new())),
                Value::Json(value) => *value,
                _ => Value::Unknown(None),
            },
            ("Math", "random", []) => Value::Uniform(0.0, 1.0),
            ("Math", "floor", [value]) => match self.evaluate(*value) {
                Value::Uniform(low, high) if high.fract() == 0.0 => self.drawn(low, high - 1.0),
                Value::Number(number) => Value::Number(number.floor()),
                _ => Value::Unknown(None),
            },
            ("Date", "now", []) => Value::Drawn(self.made("now")),
            (_, "json", arguments) => self.json_of(object, arguments),
            (_, "toString", []) => {
                let value = self.evaluate(object);
                if matches!(value, Value::Unknown(None)) { value } else { Value::Text(self.parts(&value)) }
            }
            _ => Value::Unknown(None),
        }
    }

    /// Reads `answer.json()` and `answer.json('a.b.0')`.
    fn json_of(&mut self, object: Code<'a>, arguments: &[Code<'a>]) -> Value {
        let Value::Answer(step, Of::Whole) = self.evaluate(object) else { return Value::Unknown(None) };
        let path = match arguments {
            [] => Some(String::new()),
            [path] => self.evaluate(*path).literal().and_then(|path| {
                let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
                is_plain.then(|| path.split('.').map(path_step).collect::<Option<String>>()).flatten()
            }),
            _ => None,
        };
        path.map_or(Value::Unknown(None), |path| Value::Answer(step, Of::Member(path)))
    }

    fn sleep(&mut self, time: Code<'a>) -> Value {
        let value = self.evaluate(time);
        let is_first = self.delay.is_none();
        let delay = match value {
            Value::Number(seconds) if seconds >= 0.0 => Some(duration(seconds)),
            Value::Uniform(low, high) if low >= 0.0 => Some(format!("uniform {}..{}", duration(low), duration(high))),
            Value::Drawn(Made { expression: made, .. }) => {
                made.strip_prefix("randomInt ").and_then(|bounds| bounds.split_once(' ')).map(|(low, high)| {
                    self.remark("changed: this pause is not only of whole seconds".to_owned());
                    format!("uniform {low}s..{high}s")
                })
            }
            _ => None,
        };
        match delay {
            Some(delay) if is_first => {
                self.delay = Some(delay);
                Value::Undefined
            }
            // Two pauses in a row add up only if both are constant.
            Some(delay) => match (self.delay.as_deref().and_then(seconds), seconds(&delay)) {
                (Some(before), Some(more)) => {
                    self.delay = Some(duration(before + more));
                    Value::Undefined
                }
                _ => Value::Unknown(None),
            },
            None => Value::Unknown(None),
        }
    }

    /// Returns a whole number that the flow draws.
    fn drawn(&mut self, low: f64, high: f64) -> Value {
        let is_whole = |number: f64| number.fract() == 0.0 && number.abs() < 1e15;
        match is_whole(low) && is_whole(high) && low <= high {
            true => Value::Drawn(self.made(&format!("randomInt {low} {high}"))),
            false => Value::Unknown(None),
        }
    }

    /// Returns one of these texts, which the flow chooses.
    fn choice(&mut self, values: &[Value]) -> Value {
        let words: Option<Vec<String>> = values.iter().map(Value::literal).collect();
        let is_word =
            |word: &String| !word.is_empty() && word.chars().all(|c| c.is_ascii_graphic() && !"{}\"'\\#`".contains(c));
        match words {
            Some(words) if !words.is_empty() && words.iter().all(is_word) => {
                Value::Text(vec![Part::Made(self.made(&format!("randomChoice {}", words.join(" "))))])
            }
            _ => Value::Unknown(None),
        }
    }
}
