//! A function of the script as a session: its statements one after the other.

use std::collections::{BTreeSet, HashMap};

use super::script::{Script, assigned};
use super::source::Code;
use super::value::Value;
use crate::ways::load::step::Step;
use crate::ways::load::text::{Made, Of, plain_name};

/// Limit on the requests of a session.
const MAX_STEPS: usize = 1000;
/// Limit on functions that call each other, and on the depth of an expression.
const MAX_DEPTH: usize = 60;
/// Limit on the statements and expressions that are read.
const MAX_READS: usize = 100_000;
/// Limit on the characters of a line of the script in a comment.
const MAX_LINE_CHARS: usize = 100;

/// A session as far as it is read.
pub(super) struct Session<'a, 's> {
    pub(super) script: &'s Script<'a>,
    /// Names of each function that is being read, the innermost last.
    frames: Vec<Frame>,
    pub(super) steps: Vec<Step>,
    /// The pause before the next request.
    pub(super) delay: Option<String>,
    /// Comments for the next request.
    waiting: Vec<String>,
    /// Number of parts that are not read.
    pub(super) marked: usize,
    pub(super) groups: Vec<String>,
    /// Variables that have to be given, with the value they have otherwise.
    pub(super) variables: Variables,
    pub(super) depth: usize,
    /// Number of parts that were read, and of values that the flow makes.
    reads: usize,
    /// Constants of the script that a function may have changed.
    lost: BTreeSet<String>,
    /// Names in the script of parts of answers, by step.
    pub(super) hints: Vec<(usize, Of, String)>,
}

/// Names of a function that is being read.
#[derive(Default)]
struct Frame {
    names: HashMap<String, Value>,
    /// True for a function inside another function. It sees the names around it.
    is_inner: bool,
}

/// Variables of a session that it does not capture.
#[derive(Default)]
pub(super) struct Variables {
    pub(super) needed: BTreeSet<String>,
    pub(super) given: HashMap<String, String>,
}

impl<'a, 's> Session<'a, 's> {
    pub(super) fn new(script: &'s Script<'a>) -> Self {
        Session {
            script,
            frames: vec![Frame::default()],
            steps: Vec::new(),
            delay: None,
            waiting: Vec::new(),
            marked: 0,
            groups: Vec::new(),
            variables: Variables::default(),
            depth: 0,
            reads: 0,
            lost: BTreeSet::new(),
            hints: Vec::new(),
        }
    }

    /// Returns the names that have a value in the outermost frame.
    pub(super) fn bound(&mut self) -> HashMap<String, Value> {
        self.frames.first_mut().map(|frame| std::mem::take(&mut frame.names)).unwrap_or_default()
    }

    /// Returns comments after the last request.
    pub(super) fn end(&mut self) -> Vec<String> {
        std::mem::take(&mut self.waiting)
    }

    /// Returns true, and counts, if one more part may be read.
    pub(super) fn may_read(&mut self) -> bool {
        self.reads += 1;
        self.depth < MAX_DEPTH && self.reads < MAX_READS
    }

    /// Returns a value that the flow makes, for one evaluation.
    pub(super) fn made(&mut self, expression: &str) -> Made {
        self.reads += 1;
        Made { expression: expression.to_owned(), id: self.reads }
    }

    /// Returns the value of a name.
    pub(super) fn lookup(&self, name: &str) -> Value {
        let local = self.frames[self.first_seen()..].iter().rev().find_map(|frame| frame.names.get(name));
        let global = || self.script.globals.get(name).filter(|_| !self.lost.contains(name));
        let known = local.or_else(global);
        known.cloned().unwrap_or_else(|| Value::Unknown(Some(plain_name(name))))
    }

    /// Returns the index of the outermost frame whose names are seen.
    fn first_seen(&self) -> usize {
        self.frames.iter().rposition(|frame| !frame.is_inner).unwrap_or(0)
    }

    /// Returns the names of the innermost frame that has this one, if any that is seen has.
    fn frame_of(&mut self, name: &str) -> Option<&mut HashMap<String, Value>> {
        let first = self.first_seen();
        self.frames[first..].iter_mut().rev().map(|frame| &mut frame.names).find(|names| names.contains_key(name))
    }

    /// Remembers the name of a part of an answer, for the case that it is captured.
    pub(super) fn suggest(&mut self, name: &str, value: &Value) {
        if let Value::Answer(step, of) = value {
            self.hints.push((*step, of.clone(), plain_name(name)));
        }
    }

    pub(super) fn bind(&mut self, name: &str, value: Value) {
        self.suggest(name, &value);
        self.frames.last_mut().expect("the session has a frame").names.insert(name.to_owned(), value);
    }

    /// Gives a name that exists another value.
    pub(super) fn assign(&mut self, name: &str, value: Value) {
        self.suggest(name, &value);
        match self.frame_of(name) {
            Some(names) => {
                names.insert(name.to_owned(), value);
            }
            None => self.bind(name, value),
        }
    }

    /// Notes that a statement is not read.
    pub(super) fn mark(&mut self, code: Code<'_>) {
        let requests = self.requests_in(code);
        let inside = match requests {
            0 => String::new(),
            1 => " (with a request)".to_owned(),
            count => format!(" (with {count} requests)"),
        };
        self.mark_text(code, &inside);
        self.forget(code);
    }

    pub(super) fn mark_text(&mut self, code: Code<'_>, more: &str) {
        self.marked += 1;
        let first = code.text().lines().next().unwrap_or_default();
        let shown: String = first.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_LINE_CHARS).collect();
        self.waiting.push(format!("not read: line {}: {}{more}", code.line(), shown.trim()));
    }

    /// Notes, at the request that it is about, that a check is not read.
    pub(super) fn mark_check(&mut self, check: Code<'_>, step: usize) {
        self.mark_text(check, "");
        let mark = self.waiting.pop();
        self.steps[step].marks.extend(mark);
    }

    pub(super) fn remark(&mut self, text: String) {
        self.waiting.push(text);
    }

    fn requests_in(&self, code: Code<'_>) -> usize {
        let mut requests = 0;
        code.each(&mut |part| {
            let function = if part.kind() == "call_expression" { part.field("function") } else { None };
            let object = function.and_then(|function| function.field("object"));
            requests += usize::from(object.is_some_and(|object| self.script.http.contains(object.text())));
        });
        requests
    }

    /// Forgets the values that unread `code` may change: the variables that it assigns to, and the objects in it.
    pub(super) fn forget(&mut self, code: Code<'_>) {
        let mut names: BTreeSet<&str> = assigned(code).into_iter().collect();
        if !code.text().starts_with("console.") {
            code.each(&mut |part| {
                if matches!(part.kind(), "identifier" | "shorthand_property_identifier")
                    && self.lookup(part.text()).is_object()
                {
                    names.insert(part.text());
                }
            });
        }
        for name in names {
            let value = self.lookup(name);
            if value.is_object() {
                self.lose(&value);
            }
            self.assign(name, Value::Unknown(Some(plain_name(name))));
        }
    }

    /// Gives up all values with this object in them, because it was changed under one of its names.
    fn lose(&mut self, changed: &Value) {
        for (name, value) in self.frames.iter_mut().flat_map(|frame| &mut frame.names) {
            if value.contains(changed) {
                *value = Value::Unknown(Some(plain_name(name)));
            }
        }
        let globals = self.script.globals.iter().filter(|(_, value)| value.contains(changed));
        self.lost.extend(globals.map(|(name, _)| name.clone()));
    }

    /// Reads the body of a function. Returns the value that it returns.
    pub(super) fn function(&mut self, function: Code<'a>, arguments: Vec<Value>, is_inner: bool) -> Value {
        let parameters = match (function.field("parameter"), function.field("parameters")) {
            (Some(only), _) => vec![only],
            (None, Some(all)) => all.children(),
            (None, None) => Vec::new(),
        };
        self.frames.push(Frame { names: HashMap::new(), is_inner });
        let mut arguments = arguments.into_iter();
        for parameter in parameters {
            let value = arguments.next();
            match parameter.kind() {
                "identifier" => {
                    let name = parameter.text();
                    self.bind(name, value.unwrap_or_else(|| Value::Unknown(Some(plain_name(name)))));
                }
                "assignment_pattern" => {
                    let name = parameter.field("left").map_or("", Code::text);
                    let default = parameter.field("right");
                    let value = match (value, default) {
                        (Some(value), _) => value,
                        (None, Some(default)) => self.evaluate(default),
                        (None, None) => Value::Undefined,
                    };
                    self.bind(name, value);
                }
                _ => self.bind_pattern(parameter, value.unwrap_or(Value::Undefined)),
            }
        }
        let value = match function.field("body") {
            Some(body) if body.kind() == "statement_block" => self.statements(body).unwrap_or(Value::Undefined),
            Some(expression) => self.evaluate(expression),
            None => Value::Undefined,
        };
        self.frames.pop();
        value
    }

    /// Calls `read` while a parameter of a small function has this value.
    pub(super) fn with<T>(&mut self, parameter: Option<&str>, value: &Value, read: impl FnOnce(&mut Self) -> T) -> T {
        self.frames.push(Frame { names: HashMap::new(), is_inner: true });
        if let Some(name) = parameter {
            self.bind(name, value.clone());
        }
        let result = read(self);
        self.frames.pop();
        result
    }

    fn statements(&mut self, block: Code<'a>) -> Option<Value> {
        for statement in block.children() {
            if !self.may_read() || self.steps.len() >= MAX_STEPS {
                self.mark(statement);
                return None;
            }
            match statement.kind() {
                "return_statement" => {
                    return statement.children().first().map(|value| self.evaluate(*value));
                }
                "statement_block" => {
                    // `const` and `let` end with their block, and `var` does not.
                    let is_scope = statement.children().iter().all(|inner| inner.kind() != "variable_declaration");
                    if is_scope {
                        self.frames.push(Frame { names: HashMap::new(), is_inner: true });
                    }
                    let returned = self.statements(statement);
                    if is_scope {
                        self.frames.pop();
                    }
                    if returned.is_some() {
                        return returned;
                    }
                }
                _ => self.statement(statement),
            }
        }
        None
    }

    pub(super) fn statement(&mut self, statement: Code<'a>) {
        match statement.kind() {
            "lexical_declaration" | "variable_declaration" => {
                for declared in statement.children() {
                    self.declare(declared);
                }
            }
            "expression_statement" => {
                let Some(expression) = statement.children().first().copied() else { return };
                if expression.kind() == "assignment_expression" {
                    self.assignment(expression);
                } else if !expression.text().starts_with("console.") && self.evaluate(expression).is_unknown() {
                    self.mark(statement);
                }
            }
            "empty_statement" => {}
            _ => self.mark(statement),
        }
    }

    pub(super) fn declare(&mut self, declared: Code<'a>) {
        let Some(name) = declared.field("name") else { return };
        let Some(expression) = declared.field("value") else {
            self.bind(name.text(), Value::Undefined);
            return;
        };
        let is_function = matches!(expression.kind(), "arrow_function" | "function_expression");
        let value = self.evaluate(expression);
        if matches!(value, Value::Unknown(_)) {
            if !is_function {
                self.mark(declared);
            }
            self.forget_names(name);
            return;
        }
        match name.kind() {
            "identifier" => self.bind(name.text(), value),
            _ => self.bind_pattern(name, value),
        }
    }

    fn forget_names(&mut self, pattern: Code<'a>) {
        let mut names = Vec::new();
        pattern.each(&mut |part| {
            if matches!(part.kind(), "identifier" | "shorthand_property_identifier_pattern") {
                names.push(part.text());
            }
        });
        for name in names {
            self.bind(name, Value::Unknown(Some(plain_name(name))));
        }
    }

    /// Gives names to the parts of a list or of an object: `const [a, b] = …`, `const { a, b } = …`.
    fn bind_pattern(&mut self, pattern: Code<'a>, value: Value) {
        self.forget_names(pattern);
        match (pattern.kind(), value) {
            ("array_pattern", Value::List(values)) => {
                for (name, value) in pattern.children().into_iter().zip(values) {
                    if name.kind() == "identifier" {
                        self.bind(name.text(), value);
                    }
                }
            }
            ("object_pattern", Value::Map(members)) => {
                for name in pattern.children() {
                    let member = members.iter().find(|(key, _)| key == name.text());
                    if let (Some((_, value)), "shorthand_property_identifier_pattern") = (member, name.kind()) {
                        self.bind(name.text(), value.clone());
                    }
                }
            }
            _ => {}
        }
    }

    fn assignment(&mut self, expression: Code<'a>) {
        let (Some(target), Some(value)) = (expression.field("left"), expression.field("right")) else { return };
        let value = self.evaluate(value);
        let is_known = !matches!(value, Value::Unknown(_));
        if target.kind() == "identifier" && is_known {
            self.assign(target.text(), value);
        } else if !(is_known && self.assign_member(target, value)) {
            self.mark(expression);
        }
    }

    /// Changes a member of an object, such as `params.headers.Accept`. Returns false if the object is not known.
    fn assign_member(&mut self, target: Code<'a>, value: Value) -> bool {
        let mut keys = Vec::new();
        let mut at = target;
        while let Some(object) = at.field("object") {
            let key = match (at.field("property"), at.field("index")) {
                (Some(property), _) => Some(property.text().to_owned()),
                (None, Some(index)) => self.evaluate(index).literal(),
                (None, None) => None,
            };
            let Some(key) = key else { return false };
            keys.push(key);
            at = object;
        }
        let Some(names) = self.frame_of(at.text()) else { return false };
        let mut place = names.get_mut(at.text()).expect("it was just found");
        let mut before = Value::Undefined;
        for key in keys.iter().rev() {
            before = place.clone();
            let Value::Map(members) = place else { return false };
            let index = members.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
                members.push((key.clone(), Value::Undefined));
                members.len() - 1
            });
            place = &mut members[index].1;
        }
        *place = value;
        self.lose(&before);
        true
    }

    /// Adds a request, with the comments and the pause that came before it. Returns its number.
    pub(super) fn add(&mut self, mut step: Step) -> usize {
        step.marks.append(&mut self.waiting);
        step.delay = self.delay.take();
        let taken = self.steps.iter().filter(|other| base_name(&other.name) == step.name).count();
        if taken > 0 {
            step.name = format!("{} ({})", step.name, taken + 1);
        }
        self.steps.push(step);
        self.steps.len() - 1
    }
}

fn base_name(name: &str) -> &str {
    name.split(" (").next().unwrap_or(name)
}
