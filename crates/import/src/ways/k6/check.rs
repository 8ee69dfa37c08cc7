//! Checks of an answer, as asserts of a step.

use super::session::Session;
use super::source::Code;
use super::value::Value;
use crate::ways::hurl;
use crate::ways::load::step::query;
use crate::ways::load::text::{Of, number_text};

impl<'a> Session<'a, '_> {
    /// Reads `check(answer, { name: (r) => … })`. Conditions with no counterpart are marked.
    pub(super) fn check(&mut self, answer: Code<'a>, checks: Code<'a>) -> Value {
        let answer = self.evaluate(answer);
        let (Value::Answer(step, Of::Whole), "object") = (&answer, checks.kind()) else { return Value::Unknown(None) };
        for pair in checks.children() {
            let condition = pair.field("value").and_then(condition_of);
            let is_read = condition.is_some_and(|(parameter, condition)| {
                self.with(parameter, &answer, |session| session.condition(*step, condition))
            });
            if !is_read {
                self.mark_check(pair, *step);
            }
        }
        Value::Bool(true)
    }

    /// Reads conditions that are joined by `&&`. Returns false, and adds nothing, if one of them has no counterpart.
    fn condition(&mut self, step: usize, condition: Code<'a>) -> bool {
        let before = self.steps[step].checks.clone();
        let is_read = self.conjunction(step, condition);
        if !is_read {
            self.steps[step].checks = before;
        }
        is_read
    }

    fn conjunction(&mut self, step: usize, condition: Code<'a>) -> bool {
        if !self.may_read() {
            return false;
        }
        let left = condition.field("left");
        let right = condition.field("right");
        let operator = condition.field("operator").map_or("", Code::text);
        self.depth += 1;
        let is_read = match (condition.kind(), left, right) {
            ("parenthesized_expression", ..) => {
                condition.children().first().is_some_and(|inner| self.conjunction(step, *inner))
            }
            ("binary_expression", Some(left), Some(right)) if operator == "&&" => {
                self.conjunction(step, left) && self.conjunction(step, right)
            }
            ("binary_expression", Some(left), Some(right)) => {
                let left = self.evaluate(left);
                let right = self.evaluate(right);
                self.comparison(step, &left, operator, &right)
            }
            ("call_expression", ..) => self.contains(step, condition),
            _ => false,
        };
        self.depth -= 1;
        is_read
    }

    fn comparison(&mut self, step: usize, left: &Value, operator: &str, right: &Value) -> bool {
        let Value::Answer(at, of) = left else { return false };
        let is_strict = matches!(operator, "===" | "!==");
        let operator = match operator {
            "===" | "==" => "==",
            "!==" | "!=" => "!=",
            same @ ("<" | "<=" | ">" | ">=") => same,
            _ => return false,
        };
        let is_equality = matches!(operator, "==" | "!=");
        let checks = &mut self.steps[step].checks;
        let expected = match (of, right) {
            _ if *at != step => return false,
            (Of::Status, Value::Number(status)) if operator == "==" && checks.status.is_none() => {
                let is_status = (100.0..600.0).contains(status) && status.fract() == 0.0;
                checks.status = is_status.then_some(*status as u16);
                return is_status;
            }
            // A length is in UTF-16 units in k6, and in bytes here.
            (Of::BodyLength, Value::Number(0.0)) if matches!(operator, ">" | "!=") => "0".to_owned(),
            (Of::Status | Of::Duration, Value::Number(number)) => number_text(*number),
            // `==` makes numbers of texts, and an assert does not.
            (Of::Member(_), _) if is_equality && !is_strict => return false,
            (Of::Member(_), Value::Number(number)) => number_text(*number),
            (Of::Member(_), Value::Bool(truth)) if is_equality => truth.to_string(),
            (Of::Member(_) | Of::Header(_) | Of::Body, Value::Text(_)) if is_equality => match right.literal() {
                Some(text) => quoted(&text),
                None => return false,
            },
            (Of::Member(_) | Of::Header(_), Value::Undefined) if operator == "!=" => {
                checks.asserts.push(format!("{} exists", query(of)));
                return true;
            }
            _ => return false,
        };
        checks.asserts.push(format!("{} {operator} {expected}", query(of)));
        true
    }

    /// Reads `r.body.includes('…')`.
    fn contains(&mut self, step: usize, call: Code<'a>) -> bool {
        let function = call.field("function");
        let is_includes =
            function.and_then(|function| function.field("property")).is_some_and(|name| name.text() == "includes");
        let object = function.and_then(|function| function.field("object")).map(|object| self.evaluate(object));
        let arguments = call.field("arguments").map_or_else(Vec::new, Code::children);
        let (true, Some(Value::Answer(at, Of::Body)), [text]) = (is_includes, object, arguments.as_slice()) else {
            return false;
        };
        let Some(text) = self.evaluate(*text).literal().filter(|_| at == step) else { return false };
        self.steps[step].checks.asserts.push(format!("body contains {}", quoted(&text)));
        true
    }
}

/// Returns the parameter of a condition, and the expression that it returns.
fn condition_of(function: Code<'_>) -> Option<(Option<&str>, Code<'_>)> {
    let only = function.field("parameter");
    let first = function.field("parameters").and_then(|all| all.children().first().copied());
    let parameter = only.or(first).map(Code::text);
    let body = function.field("body")?;
    if body.kind() != "statement_block" {
        return Some((parameter, body));
    }
    match body.children().as_slice() {
        [only] if only.kind() == "return_statement" => only.children().first().map(|value| (parameter, *value)),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", hurl::string_part(text))
}
