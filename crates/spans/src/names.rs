//! Names of spans, each kept once, and numbers of services.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::span::Span;

/// Name of all spans that share a place.
pub(crate) const OTHERS: &str = "other spans";
/// Number of this name.
pub(crate) const OTHER: u32 = 0;
/// Limit on the names that are told apart, and the longest service and span in letters.
const MOST: usize = 4_096;
const LONGEST: usize = 40;

/// Number of all services beyond the limit, which is that on the names.
pub(crate) const OTHER_SERVICE: u16 = 0;

/// Names of spans by number.
#[derive(Debug)]
pub(crate) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Numbers of services by the hash of their whole names.
    services: HashMap<u64, u16>,
    hasher: RandomState,
}

impl Names {
    pub(crate) fn new() -> Names {
        Names {
            names: vec![OTHERS.to_owned()],
            numbers: HashMap::new(),
            services: HashMap::new(),
            hasher: RandomState::new(),
        }
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

    /// Returns the number of a span's service. Services beyond the limit are [`OTHER_SERVICE`].
    pub(crate) fn service_of(&mut self, span: &Span<'_>) -> u16 {
        let hash = self.hasher.hash_one(&*span.service);
        if let Some(number) = self.services.get(&hash) {
            return *number;
        }
        let next = u16::try_from(self.services.len() + 1).ok().filter(|next| usize::from(*next) <= MOST);
        next.map_or(OTHER_SERVICE, |next| *self.services.entry(hash).or_insert(next))
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
