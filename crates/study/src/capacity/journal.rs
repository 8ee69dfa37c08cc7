//! The folder of a search: the question, then one line per probe. An interrupted search continues from there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use truetail_analysis::capacity::SearchLimits;
use truetail_model::time::Nanos;
use truetail_run::input;

use super::probe::ProbeRecord;

const FILE: &str = "probes.jsonl";
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

    /// Returns the question without the length of its probes, because a search may continue with another time limit.
    pub fn without_length(&self) -> Question {
        Question { limits: SearchLimits { full_length: Nanos::ZERO, ..self.limits }, ..self.clone() }
    }
}

/// The journal of a search, open for more probes.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    file: File,
    limits: SearchLimits,
    records: Vec<ProbeRecord>,
}

/// Reason why a journal cannot be used.
#[derive(Debug)]
pub enum JournalError {
    /// The folder holds the search of another question.
    AnotherQuestion(Box<Question>),
    /// Another process runs the same search.
    Busy,
    /// A line before the last one is damaged.
    Damaged {
        /// Number of the line, counted from 1.
        line: usize,
        /// The problem of the line.
        problem: String,
    },
    /// The journal cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> JournalError {
        JournalError::Io(error)
    }
}

impl Journal {
    /// Opens the journal in `folder`, and creates both if they do not exist.
    ///
    /// # Errors
    /// If the journal belongs to another question, is in use, is damaged, or cannot be read or written.
    pub fn open(folder: &Path, question: &Question) -> Result<Journal, JournalError> {
        fs::create_dir_all(folder)?;
        let path = folder.join(FILE);
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path)?;
        // On a file system without locks, the journal is not locked.
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Err(JournalError::Busy);
        }
        let JournalContent { asked, records, whole_bytes } = read(&path, question)?;
        // A process that was killed while it wrote leaves half a line.
        file.set_len(whole_bytes)?;
        if whole_bytes == 0 {
            write_line(&mut file, question)?;
        }
        Ok(Journal { folder: folder.to_owned(), file, limits: asked.unwrap_or(question.limits), records })
    }

    /// Returns true if there is a journal in `folder`.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE).is_file()
    }

    /// Returns the probes of the search.
    pub fn records(&self) -> &[ProbeRecord] {
        &self.records
    }

    /// Returns the limits of the search. Its probes keep the length that they had at its beginning.
    pub fn limits(&self) -> SearchLimits {
        self.limits
    }

    /// Returns the folder of the journal.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a probe. The probe is on the disk when this returns.
    ///
    /// # Errors
    /// If the probe cannot be written.
    pub fn append(&mut self, record: ProbeRecord) -> io::Result<()> {
        write_line(&mut self.file, &record)?;
        self.records.push(record);
        Ok(())
    }
}

fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()
}

struct JournalContent {
    /// The limits of its search; `None` if it is empty.
    asked: Option<SearchLimits>,
    records: Vec<ProbeRecord>,
    /// Number of bytes in whole lines.
    whole_bytes: u64,
}

fn read(path: &Path, question: &Question) -> Result<JournalContent, JournalError> {
    let text = input::bytes(path)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut lines = text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).enumerate();
    let damaged =
        |line: usize, error: serde_json::Error| JournalError::Damaged { line: line + 1, problem: error.to_string() };
    let mut limits = None;
    if let Some((line, first)) = lines.next() {
        let asked: Question = serde_json::from_slice(first).map_err(|error| damaged(line, error))?;
        if asked.without_length() != question.without_length() {
            return Err(JournalError::AnotherQuestion(Box::new(asked)));
        }
        limits = Some(asked.limits);
    }
    let record = |(line, bytes): (usize, &[u8])| serde_json::from_slice(bytes).map_err(|error| damaged(line, error));
    let records = lines.map(record).collect::<Result<_, _>>()?;
    Ok(JournalContent { asked: limits, records, whole_bytes: whole as u64 })
}

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
        assert_eq!(again.limits().full_length, Nanos::from_secs(2));
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
