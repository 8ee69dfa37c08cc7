//! Requests: the functions of k6/http with their parameters.

use super::session::Session;
use super::source::Code;
use super::value::Value;
use crate::ways::hurl;
use crate::ways::load::step::{Body, Checks, Step};
use crate::ways::load::text::{Of, Part, duration};
use crate::ways::shown;

/// Limit on the characters of a step's name.
const MAX_NAME_CHARS: usize = 60;

impl<'a> Session<'a, '_> {
    /// Reads a call of k6/http.
    pub(super) fn http(&mut self, call: Code<'a>, function: &str, arguments: &[Code<'a>]) -> Value {
        let values: Vec<Value> = match function {
            "batch" => return self.batch(call, arguments),
            "get" | "head" | "post" | "put" | "patch" | "del" | "options" | "request" => {
                arguments.iter().map(|argument| self.evaluate(*argument)).collect()
            }
            _ => return Value::Unknown(None),
        };
        let names: Vec<Option<String>> =
            arguments.iter().map(|argument| argument.root_name().map(str::to_owned)).collect();
        let named = values.into_iter().zip(names).map(|(value, name)| match (value, name) {
            (Value::Unknown(None), Some(name)) => Value::Unknown(Some(name)),
            (value, _) => value,
        });
        let mut values = named.collect::<Vec<_>>().into_iter();
        let method = match function {
            "request" => values.next().and_then(|method| method.literal()).unwrap_or_default(),
            "del" => "DELETE".to_owned(),
            name => name.to_ascii_uppercase(),
        };
        let url = values.next().unwrap_or(Value::Unknown(None));
        let body = if matches!(function, "get" | "head") { None } else { values.next() };
        let params = values.next();
        self.request(call, method, &url, body, params)
    }

    /// Reads `http.batch([…])`. Its requests follow each other in the session.
    fn batch(&mut self, call: Code<'a>, arguments: &[Code<'a>]) -> Value {
        let Some(list) = arguments.first().map(|list| self.evaluate(*list)) else { return Value::Unknown(None) };
        let (names, requests): (Vec<Option<String>>, Vec<Value>) = match list {
            Value::List(requests) => requests.into_iter().map(|request| (None, request)).unzip(),
            Value::Map(members) => members.into_iter().map(|(name, request)| (Some(name), request)).unzip(),
            _ => return Value::Unknown(None),
        };
        if requests.len() > 1 {
            self.remark(format!(
                "changed: k6 sends the next {} requests at once, and a session one after the other",
                requests.len()
            ));
        }
        let mut answers = Vec::new();
        for request in requests {
            let part = |index: usize, name: &str| match &request {
                Value::List(parts) => parts.get(index).cloned(),
                request => request.member(name).cloned(),
            };
            let answer = match &request {
                url @ Value::Text(_) => self.request(call, "GET".to_owned(), url, None, None),
                Value::List(_) | Value::Map(_) => {
                    let method = part(0, "method").and_then(|method| method.literal()).unwrap_or_default();
                    let url = part(1, "url").unwrap_or(Value::Unknown(None));
                    self.request(call, method.to_ascii_uppercase(), &url, part(2, "body"), part(3, "params"))
                }
                _ => Value::Unknown(None),
            };
            answers.push(answer);
        }
        match names.into_iter().collect::<Option<Vec<String>>>() {
            Some(names) => Value::Map(names.into_iter().zip(answers).collect()),
            None => Value::List(answers),
        }
    }

    fn request(
        &mut self,
        call: Code<'a>,
        method: String,
        url: &Value,
        body: Option<Value>,
        params: Option<Value>,
    ) -> Value {
        if matches!(url, Value::Unknown(None) | Value::Map(_) | Value::List(_) | Value::Null | Value::Undefined) {
            return Value::Unknown(None);
        }
        let mut step = Step {
            name: String::new(),
            method,
            url: self.parts(url),
            headers: Vec::new(),
            cookies: Vec::new(),
            body: Body::Nothing,
            timeout: None,
            redirects: None,
            variables: Vec::new(),
            delay: None,
            checks: Checks::default(),
            marks: Vec::new(),
        };
        if !step.can_be_sent() {
            return Value::Unknown(None);
        }
        let mut name = None;
        match params {
            None | Some(Value::Null | Value::Undefined) => {}
            Some(Value::Map(params)) => {
                for (key, value) in params {
                    if !self.param(&mut step, &mut name, &key, &value) {
                        self.mark_text(call, &format!(" (its parameter '{key}')"));
                    }
                }
            }
            Some(_) => self.mark_text(call, " (its parameters, headers among them)"),
        }
        self.body(call, &mut step, body);
        let url = step.written_url();
        let path = match url.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
            // A variable in front is the origin.
            None => {
                url.strip_prefix("{{").and_then(|rest| rest.split_once("}}")).map_or(url.as_str(), |(_, path)| path)
            }
        };
        let path = path.split('?').next().unwrap_or_default();
        let path = if path.is_empty() { "/" } else { path };
        let name = name.unwrap_or_else(|| format!("{} {path}", step.method));
        let path = self.groups.iter().cloned().chain([name]).collect::<Vec<_>>().join("/");
        step.name = hurl::step_name(&path, MAX_NAME_CHARS);
        Value::Answer(self.add(step), Of::Whole)
    }

    /// Reads a parameter of a request. Returns false if it has no counterpart.
    fn param(&mut self, step: &mut Step, name: &mut Option<String>, key: &str, value: &Value) -> bool {
        match (key, value) {
            ("headers" | "cookies", Value::Map(pairs)) => {
                for (name, value) in pairs {
                    let parts = self.parts(value);
                    if !can_be_sent(name, &parts) {
                        self.marked += 1;
                        step.marks.push(format!("not read: {key}: {}", shown(name)));
                        continue;
                    }
                    let list = if key == "headers" { &mut step.headers } else { &mut step.cookies };
                    list.push((name.clone(), parts));
                }
                true
            }
            ("tags", Value::Map(_)) => {
                *name = value.member("name").and_then(Value::literal);
                true
            }
            ("timeout", value) => {
                let text = match value {
                    Value::Number(ms) => Some(duration(ms / 1000.0)),
                    value => value.literal().filter(|text| text.ends_with('s') && !text.contains(['.', ' '])),
                };
                step.timeout.clone_from(&text);
                text.is_some()
            }
            ("redirects", Value::Number(redirects)) if *redirects >= 0.0 && redirects.fract() == 0.0 => {
                step.redirects = Some(*redirects as u64);
                true
            }
            ("responseType", _) => true,
            _ => false,
        }
    }

    fn body(&mut self, call: Code<'a>, step: &mut Step, body: Option<Value>) {
        step.body = match body {
            None | Some(Value::Null | Value::Undefined) => Body::Nothing,
            // An object is a form.
            Some(Value::Map(fields)) => {
                Body::Form(fields.iter().map(|(name, value)| (name.clone(), self.parts(value))).collect())
            }
            Some(Value::Unknown(None)) => {
                self.mark_text(call, " (its body)");
                self.variables.needed.insert("body".to_owned());
                Body::Text(vec![Part::Variable("body".to_owned())])
            }
            Some(body) => {
                let parts = self.parts(&body);
                if parts.iter().all(|part| *part == Part::Literal(String::new())) {
                    Body::Nothing
                } else {
                    Body::Text(parts)
                }
            }
        };
    }
}

/// Returns true for a header or cookie that a flow can have. Lengths and connections are the engine's.
fn can_be_sent(name: &str, value: &[Part]) -> bool {
    let is_ours = ["content-length", "transfer-encoding", "connection"].iter().any(|no| no.eq_ignore_ascii_case(name));
    let is_plain = |part: &Part| part.literal().is_none_or(|text| !text.contains(|c: char| c.is_control()));
    !is_ours && hurl::is_header_name(name) && value.iter().all(is_plain)
}
