//! The question of a search, and its journal: a line for each probe.

use serde::{Deserialize, Serialize};
use truetail_analysis::capacity::SearchLimits;
use truetail_model::time::Nanos;

use super::probe::ProbeRecord;
use crate::journal::{self, StudyQuestion};

const SCHEMA: &str = "truetail.capacity-journal/1";

/// The question of a search. Searches with the same question are the same search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Question {
    /// The schema of the journal.
    schema: String,
    /// The objectives.
    pub objectives: Vec<String>,
    /// The subject of the probes: the URL, headers and so on, without secrets.
    pub target: String,
    /// A hash of the requests as they are sent, including secrets and the contents of files.
    #[serde(default)]
    requests: String,
    /// Rates, resolution, confidence, and the length of probes.
    pub limits: SearchLimits,
}

impl Question {
    /// Asks for the capacity of `target`, which gets `requests`.
    pub fn new(objectives: Vec<String>, target: String, requests: String, limits: SearchLimits) -> Question {
        Question { schema: SCHEMA.to_owned(), objectives, target, requests, limits }
    }

    /// Returns the hash of the requests.
    pub fn requests(&self) -> &str {
        &self.requests
    }

    /// Returns the question without the length of its probes, because a search may continue with another time limit.
    pub fn without_length(&self) -> Question {
        Question { limits: SearchLimits { full_length: Nanos::ZERO, ..self.limits }, ..self.clone() }
    }
}

/// Its probes keep the length that they had at its beginning.
impl StudyQuestion for Question {
    const FILE: &'static str = "probes.jsonl";

    fn continues(&self, other: &Question) -> bool {
        self.without_length() == other.without_length()
    }
}

/// The journal of a search.
pub type Journal = journal::Journal<Question, ProbeRecord>;

/// Reason why the journal of a search cannot be used.
pub type JournalError = journal::JournalError<Question>;

#[cfg(test)]
mod unit {
    use super::*;

    fn question(seconds: u64, target: &str) -> Question {
        let limits = SearchLimits {
            min_rate: 1.0,
            max_rate: 1_000.0,
            first_rate: 100.0,
            resolution: 0.05,
            confidence: 0.95,
            full_length: Nanos::from_secs(seconds),
            allowed: 0.01,
        };
        Question::new(vec!["p99 < 50ms".to_owned()], target.to_owned(), "hash".to_owned(), limits)
    }

    #[test]
    fn more_time_goes_on_with_the_same_search() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(Journal::open(folder.path(), &question(2, "a")).expect("a new search"));
        let again = Journal::open(folder.path(), &question(60, "a")).expect("the same search");
        assert_eq!(again.asked().limits.full_length, Nanos::from_secs(2));
        drop(again);
        let other = Journal::open(folder.path(), &question(2, "b"));
        assert!(matches!(other, Err(JournalError::AnotherQuestion(_))), "{other:?}");
    }

    #[test]
    fn other_requests_are_another_search() {
        let folder = tempfile::tempdir().expect("a folder");
        let one = question(2, "a");
        drop(Journal::open(folder.path(), &one).expect("a new search"));
        let other = Journal::open(folder.path(), &Question { requests: "other".to_owned(), ..one });
        assert!(matches!(other, Err(JournalError::AnotherQuestion(_))), "{other:?}");
    }

    #[test]
    fn two_searches_do_not_share_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = Journal::open(folder.path(), &question(2, "a")).expect("a new search");
        let second = Journal::open(folder.path(), &question(2, "a"));
        assert!(matches!(second, Err(JournalError::Busy)), "{second:?}");
        drop(first);
        assert!(Journal::open(folder.path(), &question(2, "a")).is_ok(), "the lock ends with the search");
    }
}
