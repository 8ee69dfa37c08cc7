//! Requests of a file that are not sent.

use std::collections::BTreeMap;
use std::fmt;

/// Numbers of requests that are not sent, by reason.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct LeftOut(BTreeMap<&'static str, Reason>);

#[derive(Clone, Copy, PartialEq, Debug)]
struct Reason {
    count: u64,
    /// Place of the first one: its line, or its number in a list.
    first: u64,
    is_line: bool,
}

impl LeftOut {
    /// Counts one in this line.
    pub(super) fn in_line(&mut self, reason: &'static str, line: u64) {
        self.add(reason, line, true);
    }

    /// Counts one with this number in a list, from 1.
    pub(super) fn in_list(&mut self, reason: &'static str, number: u64) {
        self.add(reason, number, false);
    }

    fn add(&mut self, reason: &'static str, first: u64, is_line: bool) {
        self.0.entry(reason).or_insert(Reason { count: 0, first, is_line }).count += 1;
    }
}

/// Empty if nothing is left out.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (reason, Reason { count, first, is_line })) in self.0.iter().enumerate() {
            let comma = if nth > 0 { ", " } else { "" };
            let place = if *is_line { "line" } else { "item" };
            write!(f, "{comma}{count} {reason} (the first is {place} {first})")?;
        }
        Ok(())
    }
}
