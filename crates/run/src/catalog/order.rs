//! Order of a list.

use std::borrow::Borrow;
use std::cmp::{Ordering, Reverse};

use super::saved_run::SavedRun;

/// Order of a list. Runs without the value come last, and runs that are equal are in the order of their folders.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RunOrder {
    /// Newest first.
    #[default]
    Started,
    /// By name, or else URL; of one name, newest first.
    Name,
    /// Slowest median first.
    P50,
    /// Slowest p99 first.
    P99,
    /// Largest maximum first.
    Max,
    /// Most errors first.
    Errors,
    /// Most planned arrivals first.
    Planned,
}

impl RunOrder {
    /// All orders with their names on a command line.
    pub const NAMED: [(&'static str, RunOrder); 7] = [
        ("started", RunOrder::Started),
        ("name", RunOrder::Name),
        ("p50", RunOrder::P50),
        ("p99", RunOrder::P99),
        ("max", RunOrder::Max),
        ("errors", RunOrder::Errors),
        ("planned", RunOrder::Planned),
    ];

    /// Sorts the runs.
    pub fn sort<R: Borrow<SavedRun>>(self, runs: &mut [R]) {
        let compare = |a: &SavedRun, b: &SavedRun| self.compare(a, b).then_with(|| a.folder.cmp(&b.folder));
        runs.sort_by(|a, b| compare(a.borrow(), b.borrow()));
    }

    fn compare(self, a: &SavedRun, b: &SavedRun) -> Ordering {
        // Within `Reverse`, a missing value is the smallest, so that it comes last.
        let largest_first = |value: fn(&SavedRun) -> Option<u64>| Reverse(value(a)).cmp(&Reverse(value(b)));
        let newest_first = || largest_first(|run| run.started_at_unix_ns);
        match self {
            RunOrder::Started => newest_first(),
            RunOrder::Name => {
                let name = |run: &SavedRun| run.name.clone().or_else(|| run.url.clone());
                let unnamed_last = name(a).is_none().cmp(&name(b).is_none());
                unnamed_last.then_with(|| name(a).cmp(&name(b))).then_with(newest_first)
            }
            RunOrder::P50 => largest_first(|run| run.times.p50.value_ns),
            RunOrder::P99 => largest_first(|run| run.times.p99.value_ns),
            RunOrder::Max => largest_first(|run| run.times.max_ns),
            RunOrder::Errors => largest_first(|run| Some(run.errors)),
            RunOrder::Planned => largest_first(|run| Some(run.planned)),
        }
    }
}
