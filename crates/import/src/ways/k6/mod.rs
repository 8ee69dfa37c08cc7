//! A script of k6 as flows with a truetail.toml: read without running it.
//!
//! | file | content |
//! |---|---|
//! | `source` | the script as a tree |
//! | `script` | imports, constants and functions |
//! | `options` | scenarios and thresholds |
//! | `session` | a function as a session, statement by statement |
//! | `evaluate` | expressions with a value that no run is needed for |
//! | `call` | calls of functions |
//! | `http` | requests with their parameters |
//! | `check` | checks as asserts |
//! | `texts` | values as texts of a request |
//! | `value` | values |

mod call;
mod check;
mod evaluate;
mod http;
mod options;
mod script;
mod session;
mod source;
mod texts;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use crate::ImportError;
use crate::ways::load::entry::{Common, Entry};
use crate::ways::load::text::{Part, plain_name, unused};
use crate::ways::load::{self, Converted, LoadFiles};
use crate::ways::shown;
use crate::whole::file::place_of;

use options::Scenario;
use script::Script;
use session::Session;
use source::Code;
use value::Value;

/// Makes flows and a truetail.toml from a script of k6 called `name`.
///
/// # Errors
/// [`ImportError`], if it is not JavaScript, or none of its requests can be read.
pub fn load_of_k6(bytes: &[u8], name: &str) -> Result<LoadFiles, ImportError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let wrong = |problem: &str| ImportError::content(place_of(bytes, 0), problem.to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not text in UTF-8"))?;
    let tree = source::parse(text)?;
    let mut script = Script::read(Code::whole(&tree, text));
    if script.default.is_none() && script.functions.is_empty() {
        return Err(wrong("it is no script of k6: it has no function"));
    }
    let start = Start::read(&mut script);
    let stem = plain_name(name.split('.').next().unwrap_or_default());
    let options = options::read(start.options.as_ref(), &stem);
    let mut setup = Session::new(&script);
    let data = match script.functions.get("setup").copied() {
        None => Value::Undefined,
        Some(function) => {
            let returned = setup.function(function, Vec::new(), false);
            setup.frozen(returned)
        }
    };
    let mut setup = setup.finish();
    setup.given.extend(start.given);
    let mut entries = Vec::new();
    for scenario in options.scenarios {
        entries.push(entry(&script, scenario, &stem, &data, &setup.given));
    }
    let remarks = [start.marks, options.remarks].concat();
    let has_setup = !setup.steps.is_empty();
    entries.iter_mut().for_each(|entry| entry.has_setup = has_setup);
    let common = Common { slo: options.slo, shared: options.shared };
    let converted = Converted {
        name: shown(name),
        marked: remarks.len(),
        remarks,
        setup: (!setup.steps.is_empty()).then_some(setup),
        entries,
        common,
        max_redirects: options.max_redirects,
    };
    converted.files()
}

fn entry(script: &Script<'_>, scenario: Scenario, stem: &str, data: &Value, given: &BTreeMap<String, String>) -> Entry {
    let exec = scenario.exec.as_deref().unwrap_or("default");
    let function = if exec == "default" { script.default } else { script.functions.get(exec).copied() };
    let named = function.filter(|function| function.kind() == "identifier");
    let function = named.map_or(function, |named| script.functions.get(named.text()).copied());
    let mut session = Session::new(script);
    if let Some(function) = function {
        session.function(function, vec![data.clone()], false);
    }
    let mut session = session.finish();
    let mut from_setup = BTreeSet::new();
    variables_of(data, &mut from_setup);
    session.needed.retain(|name| !from_setup.contains(name.as_str()));
    session.given.extend(given.clone());
    session.given.extend(scenario.variables);
    // A function may have the name of the script, and `setup` is the flow before the load.
    let file = match exec {
        "default" => unused(stem.to_owned(), |name| name == "setup" || script.functions.contains_key(name)),
        exec => unused(plain_name(exec), |name| name == "setup"),
    };
    Entry { name: scenario.name, file: file + ".hurl", session, load: scenario.load, has_setup: false }
}

/// Results of reading what comes before the first iteration.
struct Start {
    options: Option<Value>,
    given: BTreeMap<String, String>,
    marks: Vec<String>,
}

impl Start {
    /// Gives the script the values of its constants.
    fn read(script: &mut Script<'_>) -> Self {
        let changed = script.changed();
        let mut given = BTreeMap::new();
        let mut marks = Vec::new();
        for declared in script.constants.clone() {
            let mut session = Session::new(script);
            session.declare(declared);
            let names = session.bound();
            let read = session.finish();
            given.extend(read.given);
            marks.extend(read.comments);
            for (name, value) in names {
                // A value that is made before the first iteration is the same in all of them.
                if value.is_made() {
                    marks.push(format!("not read: line {}: the value of {name} is made once", declared.line()));
                } else if !changed.contains(name.as_str()) {
                    script.globals.insert(name, value);
                }
            }
        }
        let mut session = Session::new(script);
        let options = script.options.map(|options| session.evaluate(options));
        for statement in script.unread.clone() {
            session.mark(statement);
        }
        if let Some(function) = script.functions.get("teardown") {
            session.mark(*function);
        }
        let read = session.finish();
        given.extend(read.given);
        marks.extend(read.comments);
        Start { options, given, marks }
    }
}

impl Session<'_, '_> {
    /// Returns what was read, as a session of a load.
    fn finish(mut self) -> load::Session {
        let comments = self.end();
        let captured = self.steps.iter().flat_map(|step| &step.checks.captures).map(|(name, _)| name.clone());
        let captured: BTreeSet<String> = captured.collect();
        let needed = self.variables.needed.into_iter().filter(|name| !captured.contains(name)).collect();
        let given = self.variables.given.into_iter().collect();
        load::Session { steps: self.steps, pause: self.delay, comments, marked: self.marked, needed, given }.settled()
    }

    /// Returns a value of `setup` as sessions see it: parts of answers are variables.
    fn frozen(&mut self, value: Value) -> Value {
        match value {
            Value::Map(members) => {
                let frozen = members.into_iter().map(|(name, value)| {
                    self.suggest(&name, &value);
                    let value =
                        if value.is_made() { Value::Unknown(Some(plain_name(&name))) } else { self.frozen(value) };
                    (name, value)
                });
                Value::Map(frozen.collect())
            }
            Value::List(values) => Value::List(values.into_iter().map(|value| self.frozen(value)).collect()),
            value @ Value::Answer(..) => Value::Text(self.parts(&value)),
            value => value,
        }
    }
}

fn variables_of<'v>(value: &'v Value, names: &mut BTreeSet<&'v str>) {
    match value {
        Value::Map(members) => members.iter().for_each(|(_, value)| variables_of(value, names)),
        Value::List(values) => values.iter().for_each(|value| variables_of(value, names)),
        Value::Text(parts) => names.extend(parts.iter().filter_map(|part| match part {
            Part::Variable(name) => Some(name.as_str()),
            Part::Literal(_) | Part::Made(_) => None,
        })),
        _ => {}
    }
}
