//! Names of spans, each kept once.

use std::collections::HashMap;

use crate::span::Span;

/// Name of all spans that share a place.
pub(crate) const OTHERS: &str = "other spans";
/// Number of this name.
pub(crate) const OTHER: u32 = 0;
/// Limit on the names that are told apart, and the longest service and span in letters.
const MOST: usize = 4_096;
const LONGEST: usize = 40;

/// Names of spans by number.
#[derive(Debug)]
pub(crate) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    pub(crate) fn new() -> Names {
        Names { names: vec![OTHERS.to_owned()], numbers: HashMap::new() }
    }

    /// Returns the number of a span's name, `service/span`. Names beyond the limit are [`OTHER`].
    pub(crate) fn number_of(&mut self, span: &Span<'_>) -> u32 {
        let name = format!("{}/{}", shortened(&span.service), shortened(&span.name));
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        if self.names.len() > MOST {
            return OTHER;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    pub(crate) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// Returns the text without control characters, and without what is beyond the limit.
fn shortened(text: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(LONGEST).map(visible).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.pop();
        short.push('…');
    }
    short
}
