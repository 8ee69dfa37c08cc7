//! Values as texts of a request, with variables for what only the run knows.

use super::session::Session;
use super::value::Value;
use crate::ways::load::text::{Of, Part, joined, plain_name, unused};

impl Session<'_, '_> {
    /// Returns the variable that holds a part of the answer of a step. The step captures it.
    pub(super) fn capture(&mut self, step: usize, of: &Of) -> String {
        let captures = &self.steps[step].checks.captures;
        if let Some((name, _)) = captures.iter().find(|(_, known)| known == of) {
            return name.clone();
        }
        let hint = self.hints.iter().rev().find(|(at, known, _)| *at == step && known == of);
        let wanted = hint.map_or_else(|| capture_name(of), |(_, _, name)| name.clone());
        let name = unused(wanted, |name| {
            self.steps.iter().flat_map(|step| &step.checks.captures).any(|(taken, _)| taken == name)
                || self.variables.needed.contains(name)
        });
        self.steps[step].checks.captures.push((name.clone(), of.clone()));
        name
    }

    /// Returns a text for a value, with a variable in place of what only the run knows.
    pub(super) fn parts(&mut self, value: &Value) -> Vec<Part> {
        match value {
            Value::Text(parts) => {
                let variables = parts.iter().filter_map(|part| match part {
                    Part::Variable(name) => Some(name.clone()),
                    Part::Literal(_) | Part::Made(_) => None,
                });
                self.variables.needed.extend(variables);
                parts.clone()
            }
            Value::Drawn(made) => vec![Part::Made(made.clone())],
            Value::Answer(step, of @ (Of::Status | Of::Header(_) | Of::Member(_) | Of::Body | Of::Cookie(_))) => {
                vec![Part::Variable(self.capture(*step, of))]
            }
            Value::Json(inner) => {
                let mut parts = Vec::new();
                self.json(inner, &mut parts);
                joined(parts)
            }
            Value::Null => vec![Part::Literal("null".to_owned())],
            Value::Unknown(Some(name)) => {
                self.variables.needed.insert(name.clone());
                vec![Part::Variable(name.clone())]
            }
            value => match value.literal() {
                Some(text) => vec![Part::Literal(text)],
                None => {
                    self.marked += 1;
                    self.remark("not read: a value of the next request, {{value}}".to_owned());
                    self.variables.needed.insert("value".to_owned());
                    vec![Part::Variable("value".to_owned())]
                }
            },
        }
    }

    fn json(&mut self, value: &Value, out: &mut Vec<Part>) {
        let literal = |out: &mut Vec<Part>, text: &str| out.push(Part::Literal(text.to_owned()));
        match value {
            Value::List(values) => {
                literal(out, "[");
                for (index, value) in values.iter().enumerate() {
                    literal(out, if index > 0 { "," } else { "" });
                    self.json(value, out);
                }
                literal(out, "]");
            }
            Value::Map(members) => {
                literal(out, "{");
                let given = members.iter().filter(|(_, value)| *value != Value::Undefined);
                for (index, (key, value)) in given.enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    out.push(Part::Literal(format!("{comma}{}:", quoted(key))));
                    self.json(value, out);
                }
                literal(out, "}");
            }
            Value::Undefined => literal(out, "null"),
            Value::Number(_) | Value::Bool(_) | Value::Null | Value::Drawn(_) | Value::Answer(_, Of::Status) => {
                out.extend(self.parts(value));
            }
            value => {
                literal(out, "\"");
                for part in self.parts(value) {
                    match part {
                        Part::Literal(text) => {
                            let quoted = quoted(&text);
                            literal(out, &quoted[1..quoted.len() - 1]);
                        }
                        part => out.push(part),
                    }
                }
                literal(out, "\"");
                if matches!(value, Value::Answer(_, Of::Member(_)) | Value::Unknown(_)) {
                    self.marked += 1;
                    self.remark(
                        "not read: whether a value in this body is a text or a number: it is sent as a text".to_owned(),
                    );
                }
            }
        }
    }
}

/// Returns a text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn capture_name(of: &Of) -> String {
    match of {
        Of::Header(name) | Of::Cookie(name) => plain_name(&name.to_ascii_lowercase()),
        Of::Member(path) => {
            let last = path
                .rsplit(['.', '['])
                .map(|part| part.trim_matches(['\'', ']']))
                .find(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()));
            plain_name(last.unwrap_or("value"))
        }
        Of::Status => "status".to_owned(),
        _ => "body".to_owned(),
    }
}
