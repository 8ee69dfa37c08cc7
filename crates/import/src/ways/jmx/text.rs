//! Texts of a plan with their variables and functions.

use std::collections::{BTreeMap, BTreeSet};

use crate::ways::load::text::{Made, Part, joined, plain_name};

/// Variables of a plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    /// Values by name.
    pub(super) given: BTreeMap<String, String>,
    /// Names that requests use.
    pub(super) needed: BTreeSet<String>,
    /// Number of values that the flow makes.
    values: usize,
    /// Functions that have no counterpart.
    pub(super) unread: Vec<String>,
}

impl Variables {
    /// Returns a text with placeholders for `${name}` and for the functions that a flow has too.
    pub(super) fn parts(&mut self, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(length) = end(&rest[start + 2..]) else { break };
            parts.push(Part::Literal(rest[..start].to_owned()));
            let name = &rest[start + 2..start + 2 + length];
            let part = self.placeholder(name);
            parts.push(part);
            rest = &rest[start + 2 + length + 1..];
        }
        parts.push(Part::Literal(rest.to_owned()));
        let parts = parts.into_iter().filter(|part| *part != Part::Literal(String::new())).collect();
        joined(parts)
    }

    /// Returns a text if the values of its variables are known before the run.
    pub(super) fn literal(&mut self, text: &str) -> Option<String> {
        let needed = self.needed.clone();
        let parts = self.parts(text);
        self.needed = needed;
        let known = parts.iter().map(|part| match part {
            Part::Literal(text) => Some(text.clone()),
            Part::Variable(name) => self.given.get(name).cloned(),
            Part::Made(_) => None,
        });
        known.collect()
    }

    /// Returns the number in a text.
    pub(super) fn number(&mut self, text: &str) -> Option<f64> {
        self.literal(text)?.trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn placeholder(&mut self, name: &str) -> Part {
        let Some(function) = name.strip_prefix("__") else { return self.variable(name) };
        let (function, arguments) = match function.split_once('(') {
            Some((function, rest)) => (function, rest.strip_suffix(')').unwrap_or(rest)),
            None => (function, ""),
        };
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let whole = |text: &str| text.parse::<i64>().ok();
        match (function, arguments.as_slice()) {
            ("UUID", _) => self.made("newUuid"),
            ("time", [""]) => self.made("now"),
            ("Random", [low, high, ..]) if whole(low).zip(whole(high)).is_some_and(|(low, high)| low <= high) => {
                self.made(&format!("randomInt {low} {high}"))
            }
            ("P" | "property", [name]) => self.variable(name),
            ("P" | "property", [name, rest @ ..]) => {
                self.given.entry(plain_name(name)).or_insert_with(|| rest.last().unwrap_or(&"").to_string());
                self.variable(name)
            }
            _ => {
                self.unread.push(format!("${{{name}}}"));
                self.variable(name)
            }
        }
    }

    /// JMeter calls a function anew for each use.
    fn made(&mut self, expression: &str) -> Part {
        self.values += 1;
        Part::Made(Made { expression: expression.to_owned(), id: self.values })
    }

    fn variable(&mut self, name: &str) -> Part {
        let name = plain_name(name);
        self.needed.insert(name.clone());
        Part::Variable(name)
    }
}

/// Returns the length of the text from after `${` to its `}`. The text may contain further `${…}`.
fn end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(index),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}
