//! The question of a sweep, and its journal: a line for each step.

use serde::{Deserialize, Serialize};
use truetail_analysis::sweep::SweepStep;

use crate::journal::{self, StudyQuestion};

const SCHEMA: &str = "truetail.sweep-journal/1";

/// The question of a sweep. Sweeps with the same question are the same sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweepQuestion {
    schema: String,
    /// The subject of the steps: the URL, headers and so on, without secrets.
    pub target: String,
    /// A hash of the requests as they are sent, including secrets and the contents of files.
    requests: String,
    /// The objectives of the service.
    pub objectives: Vec<String>,
    /// The rates, requests per second.
    pub rates: Vec<f64>,
    /// Length of each step, in nanoseconds.
    step_ns: u64,
    /// Whether rates above one that saturates the service are offered too.
    past_saturation: bool,
}

/// How a sweep goes over its rates.
#[derive(Clone, PartialEq, Debug)]
pub struct SweepCourse {
    /// The rates, requests per second.
    pub rates: Vec<f64>,
    /// Length of each step, in nanoseconds.
    pub step_ns: u64,
    /// Whether rates above one that saturates the service are offered too.
    pub past_saturation: bool,
}

impl SweepQuestion {
    /// Asks how `target` behaves at the rates of `course`; it gets `requests`.
    pub fn new(objectives: Vec<String>, target: String, requests: String, course: SweepCourse) -> SweepQuestion {
        let SweepCourse { rates, step_ns, past_saturation } = course;
        SweepQuestion { schema: SCHEMA.to_owned(), target, requests, objectives, rates, step_ns, past_saturation }
    }
}

impl StudyQuestion for SweepQuestion {
    const FILE: &'static str = "steps.jsonl";

    fn continues(&self, other: &SweepQuestion) -> bool {
        self == other
    }
}

/// A step, with what the next one must know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepRecord {
    /// Its figures.
    pub step: SweepStep,
    /// Rows with prompts that the sweep had used after it.
    pub rows_used: u64,
}

/// The journal of a sweep.
pub type SweepJournal = journal::Journal<SweepQuestion, StepRecord>;

#[cfg(test)]
mod unit {
    use super::*;
    use crate::journal::JournalError;

    fn question(step_ns: u64, past_saturation: bool) -> SweepQuestion {
        let course = SweepCourse { rates: vec![0.1, 33.3], step_ns, past_saturation };
        SweepQuestion::new(vec!["p99 < 50ms".to_owned()], "a".to_owned(), "hash".to_owned(), course)
    }

    #[test]
    fn only_the_same_sweep_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(SweepJournal::open(folder.path(), &question(2, false)).expect("a new sweep"));
        assert!(SweepJournal::open(folder.path(), &question(2, false)).is_ok(), "rates are read as they were written");
        for other in [question(3, false), question(2, true)] {
            let other = SweepJournal::open(folder.path(), &other);
            assert!(matches!(other, Err(JournalError::AnotherQuestion(_))), "{other:?}");
        }
    }

    #[test]
    fn half_a_line_is_no_step() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(SweepJournal::open(folder.path(), &question(2, false)).expect("a new sweep"));
        let path = folder.path().join(SweepQuestion::FILE);
        let whole = std::fs::read_to_string(&path).expect("a journal");
        std::fs::write(&path, format!("{whole}{{\"step\":{{")).expect("written");
        let journal = SweepJournal::open(folder.path(), &question(2, false)).expect("the same sweep");
        assert!(journal.records().is_empty());
        assert_eq!(std::fs::read_to_string(&path).expect("a journal"), whole);
    }
}
