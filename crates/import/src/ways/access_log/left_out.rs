//! Lines that become no arrival.

use std::collections::BTreeMap;

/// Why a line becomes no arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cause {
    /// It is no line of an access log.
    Line,
    /// It is longer than any line may be.
    TooLong,
    /// Its request is none, such as what a scanner sent.
    Request,
    /// Its method cannot be sent again.
    Method,
    /// Its request had a body, which is not in the log.
    Body,
    /// It is of another host than the one that was asked for.
    Host,
    /// It is of another time than was asked for.
    Time,
}

impl Cause {
    /// What such lines are, for people.
    fn text(self) -> &'static str {
        match self {
            Cause::Line => "not understood",
            Cause::TooLong => "longer than 1 MiB",
            Cause::Request => "without a request that can be sent",
            Cause::Method => "with another method than GET, HEAD, OPTIONS, DELETE, POST, PUT and PATCH",
            Cause::Body => "POST, PUT or PATCH, whose bodies are not in the log (--empty-bodies sends them without)",
            Cause::Host => "of another host",
            Cause::Time => "of another time",
        }
    }
}

/// How many lines became no arrival, by cause, and the first of each.
#[derive(Clone, Default, Debug)]
pub(super) struct LeftOut(BTreeMap<Cause, (u64, u64)>);

impl LeftOut {
    pub(super) fn count(&mut self, cause: Cause, line: u64) {
        self.0.entry(cause).or_insert((0, line)).0 += 1;
    }

    pub(super) fn total(&self) -> u64 {
        self.0.values().map(|(count, _)| count).sum()
    }

    /// `2 not understood (first in line 7), 1 of another time (line 9)`.
    pub(super) fn text(&self) -> String {
        let one = |(cause, (count, line)): (&Cause, &(u64, u64))| {
            let first = if *count > 1 { "first in line" } else { "line" };
            format!("{count} {} ({first} {line})", cause.text())
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}
