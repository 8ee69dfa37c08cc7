//! The folder of a search: the question, then a line for each probe. A search that was interrupted, killed included, goes on
//! from there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use truetail_analysis::capacity::SearchLimits;

use super::probe::ProbeRecord;

/// The file in the folder.
const FILE: &str = "probes.jsonl";
/// The form of the file.
const SCHEMA: &str = "truetail.capacity-journal/1";

/// What a search asks. Searches with the same question are the same search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Question {
    /// The form of the journal.
    schema: String,
    /// The objectives.
    pub objectives: Vec<String>,
    /// What is probed, and how: the URL, headers and so on.
    pub target: String,
    /// Rates, resolution, confidence, and the length of probes.
    pub limits: SearchLimits,
}

impl Question {
    /// About the capacity of `target`.
    pub fn new(objectives: Vec<String>, target: String, limits: SearchLimits) -> Question {
        Question { schema: SCHEMA.to_owned(), objectives, target, limits }
    }
}

/// The journal of a search, open for more.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    file: File,
    records: Vec<ProbeRecord>,
}

/// Why a journal cannot be used.
#[derive(Debug)]
pub enum JournalError {
    /// The folder holds the search of another question.
    AnotherQuestion(Box<Question>),
    /// A line before the last one is damaged. Lines count from 1.
    Damaged {
        /// The line.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// It cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> JournalError {
        JournalError::Io(error)
    }
}

impl Journal {
    /// Opens the journal in `folder`, and makes both where they do not exist.
    ///
    /// # Errors
    /// If it belongs to another question, is damaged, or cannot be read or written.
    pub fn open(folder: &Path, question: &Question) -> Result<Journal, JournalError> {
        fs::create_dir_all(folder)?;
        let path = folder.join(FILE);
        let (records, whole_bytes) = if path.exists() { read(&path, question)? } else { (Vec::new(), 0) };
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path)?;
        // A process that was killed while it wrote leaves half a line.
        file.set_len(whole_bytes)?;
        if whole_bytes == 0 {
            write_line(&mut file, question)?;
        }
        Ok(Journal { folder: folder.to_owned(), file, records })
    }

    /// The question of the search in `folder`, if there is one that can be read.
    pub fn question(folder: &Path) -> Option<Question> {
        let mut line = String::new();
        BufReader::new(File::open(folder.join(FILE)).ok()?).read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// The probes so far.
    pub fn records(&self) -> &[ProbeRecord] {
        &self.records
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a probe down. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written.
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

/// The records, and how many bytes of the file are whole lines.
fn read(path: &Path, question: &Question) -> Result<(Vec<ProbeRecord>, u64), JournalError> {
    let text = fs::read(path)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut lines = text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).enumerate();
    let damaged =
        |line: usize, error: serde_json::Error| JournalError::Damaged { line: line + 1, problem: error.to_string() };
    if let Some((line, first)) = lines.next() {
        let asked: Question = serde_json::from_slice(first).map_err(|error| damaged(line, error))?;
        if asked != *question {
            return Err(JournalError::AnotherQuestion(Box::new(asked)));
        }
    }
    let record = |(line, bytes): (usize, &[u8])| serde_json::from_slice(bytes).map_err(|error| damaged(line, error));
    Ok((lines.map(record).collect::<Result<_, _>>()?, whole as u64))
}
