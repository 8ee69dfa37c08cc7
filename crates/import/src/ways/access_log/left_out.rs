use std::collections::BTreeMap;

/// Reason why a line is not an arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cause {
    /// It is not a line of an access log.
    Line,
    /// It exceeds the limit on length.
    TooLong,
    /// It has no valid request, such as text that a scanner sent.
    Request,
    /// Its method cannot be sent again.
    Method,
    /// Its request had a body, which is not in the log.
    Body,
    /// The user asked for another host.
    Host,
    /// The user asked for another time.
    Time,
}

impl Cause {
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

/// Number of lines that are not arrivals, by cause, with the first line of each.
#[derive(Clone, Default, Debug)]
pub(super) struct LeftOut(BTreeMap<Cause, (u64, u64)>);

impl LeftOut {
    pub(super) fn count(&mut self, cause: Cause, line: u64) {
        self.0.entry(cause).or_insert((0, line)).0 += 1;
    }

    pub(super) fn total(&self) -> u64 {
        self.0.values().map(|(count, _)| count).sum()
    }

    /// Returns `2 not understood (first in line 7), 1 of another time (line 9)`.
    pub(super) fn text(&self) -> String {
        let one = |(cause, (count, line)): (&Cause, &(u64, u64))| {
            let first = if *count > 1 { "first in line" } else { "line" };
            format!("{count} {} ({first} {line})", cause.text())
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}
