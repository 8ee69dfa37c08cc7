//! The outline of a script: its imports, constants and functions.

use std::collections::{HashMap, HashSet};

use super::source::Code;
use super::value::Value;

/// The parts of a script that all its sessions share.
pub(super) struct Script<'a> {
    /// Names that the script gives to the module k6/http.
    pub(super) http: HashSet<&'a str>,
    /// Imported functions by their name in the script, with their own name: `check`, `sleep`, `randomIntBetween`.
    pub(super) imported: HashMap<&'a str, &'a str>,
    pub(super) functions: HashMap<&'a str, Code<'a>>,
    pub(super) default: Option<Code<'a>>,
    pub(super) options: Option<Code<'a>>,
    /// Statements that give names to values, in their order.
    pub(super) constants: Vec<Code<'a>>,
    /// Values of those names.
    pub(super) globals: HashMap<String, Value>,
    /// Statements with no counterpart, such as a custom metric.
    pub(super) unread: Vec<Code<'a>>,
}

impl<'a> Script<'a> {
    pub(super) fn read(program: Code<'a>) -> Self {
        let mut script = Script {
            http: HashSet::new(),
            imported: HashMap::new(),
            functions: HashMap::new(),
            default: None,
            options: None,
            constants: Vec::new(),
            globals: HashMap::new(),
            unread: Vec::new(),
        };
        for statement in program.children() {
            script.add(statement);
        }
        script
    }

    fn add(&mut self, statement: Code<'a>) {
        match statement.kind() {
            "import_statement" => self.import(statement),
            "export_statement" => match statement.field("declaration").or_else(|| statement.field("value")) {
                Some(declared) if statement.has_word("default") => self.default = Some(declared),
                Some(declared) => self.add(declared),
                None => self.unread.push(statement),
            },
            "function_declaration" | "generator_function_declaration" => {
                if let Some(name) = statement.field("name") {
                    self.functions.insert(name.text(), statement);
                }
            }
            "lexical_declaration" | "variable_declaration" => {
                for declared in statement.children() {
                    self.declare(declared);
                }
            }
            "expression_statement" if statement.text().contains("use strict") => {}
            _ => self.unread.push(statement),
        }
    }

    fn declare(&mut self, declared: Code<'a>) {
        let name = declared.field("name").map(Code::text);
        match (name, declared.field("value")) {
            (Some("options"), Some(options)) => self.options = Some(options),
            (Some(name), Some(value)) if matches!(value.kind(), "arrow_function" | "function_expression") => {
                self.functions.insert(name, value);
            }
            // A metric of the script's own changes nothing that is sent. Its use is marked.
            (_, Some(value)) if value.kind() == "new_expression" && is_metric(value) => {}
            _ => self.constants.push(declared),
        }
    }

    fn import(&mut self, statement: Code<'a>) {
        let source = statement.field("source").map_or("", Code::text).trim_matches(['"', '\'']);
        let is_utils = source.contains("k6-utils");
        if source != "k6/http" && source != "k6" && !is_utils {
            return;
        }
        let is_http = source == "k6/http";
        statement.each(&mut |code| match code.kind() {
            "import_clause" => {
                let direct = code.children().into_iter().filter(|child| child.kind() == "identifier");
                self.http.extend(direct.filter(|_| is_http).map(Code::text));
            }
            "namespace_import" if is_http => {
                self.http.extend(code.children().first().map(|name| name.text()));
            }
            "import_specifier" => {
                let name = code.field("name").map_or("", Code::text);
                let ours = code.field("alias").map_or(name, Code::text);
                if is_http && name == "default" {
                    self.http.insert(ours);
                } else {
                    self.imported.insert(ours, name);
                }
            }
            _ => {}
        });
    }

    /// Returns the names that a function gives another value. They keep it from one iteration to the next.
    pub(super) fn changed(&self) -> HashSet<&'a str> {
        let mut changed = HashSet::new();
        for function in self.functions.values().chain(&self.default) {
            changed.extend(assigned(*function));
            changed.extend(called_on(*function));
        }
        // What the other statements do with a name is not known.
        for statement in &self.unread {
            statement.each(&mut |part| {
                if part.kind() == "identifier" {
                    changed.insert(part.text());
                }
            });
        }
        changed
    }
}

fn is_metric(code: Code<'_>) -> bool {
    let class = code.field("constructor").map_or("", Code::text);
    ["Counter", "Gauge", "Rate", "Trend"].contains(&class)
}

/// Returns the variables that are assigned to somewhere in `code`, themselves or a member.
pub(super) fn assigned<'a>(code: Code<'a>) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    code.each(&mut |part| {
        let target = match part.kind() {
            "assignment_expression" | "augmented_assignment_expression" => part.field("left"),
            "update_expression" => part.field("argument"),
            _ => None,
        };
        names.extend(target.and_then(Code::root_name));
    });
    names
}

/// Returns the variables that `code` calls a method of. Such a call may change the variable, as `list.push(…)` does.
fn called_on<'a>(code: Code<'a>) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    code.each(&mut |part| {
        let function = if part.kind() == "call_expression" { part.field("function") } else { None };
        names.extend(function.filter(|function| function.kind() == "member_expression").and_then(Code::root_name));
    });
    names
}
