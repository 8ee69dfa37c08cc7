//! The folder of a study: the question, then a line for each result. An interrupted study continues from there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use truetail_run::input;

/// What a study asks. Studies with the same question are the same study.
pub trait StudyQuestion: Clone + Serialize + DeserializeOwned {
    /// Name of the journal in the folder of the study.
    const FILE: &'static str;

    /// Returns true if a study of `self` may continue one of `other`.
    fn continues(&self, other: &Self) -> bool;
}

/// The journal of a study, open for more results.
#[derive(Debug)]
pub struct Journal<Q, R> {
    folder: PathBuf,
    file: File,
    asked: Q,
    records: Vec<R>,
}

/// Reason why a journal cannot be used.
#[derive(Debug)]
pub enum JournalError<Q> {
    /// The folder holds the study of another question.
    AnotherQuestion(Box<Q>),
    /// Another process makes the same study.
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

impl<Q> From<io::Error> for JournalError<Q> {
    fn from(error: io::Error) -> JournalError<Q> {
        JournalError::Io(error)
    }
}

impl<Q: StudyQuestion, R: Serialize + DeserializeOwned> Journal<Q, R> {
    /// Opens the journal in `folder`, and creates both if they do not exist.
    ///
    /// # Errors
    /// If the journal belongs to another question, is in use, is damaged, or cannot be read or written.
    pub fn open(folder: &Path, question: &Q) -> Result<Journal<Q, R>, JournalError<Q>> {
        fs::create_dir_all(folder)?;
        let path = folder.join(Q::FILE);
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
        Ok(Journal { folder: folder.to_owned(), file, asked: asked.unwrap_or_else(|| question.clone()), records })
    }

    /// Returns true if there is a journal in `folder`.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(Q::FILE).is_file()
    }

    /// Returns the results of the study.
    pub fn records(&self) -> &[R] {
        &self.records
    }

    /// Returns the question as it was at the beginning of the study.
    pub fn asked(&self) -> &Q {
        &self.asked
    }

    /// Returns the folder of the journal.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a result. The result is on the disk when this returns.
    ///
    /// # Errors
    /// If the result cannot be written.
    pub fn append(&mut self, record: R) -> io::Result<()> {
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

struct JournalContent<Q, R> {
    /// The question of its study; `None` if it is empty.
    asked: Option<Q>,
    records: Vec<R>,
    /// Number of bytes in whole lines.
    whole_bytes: u64,
}

fn read<Q: StudyQuestion, R: DeserializeOwned>(
    path: &Path,
    question: &Q,
) -> Result<JournalContent<Q, R>, JournalError<Q>> {
    let text = input::bytes(path)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut lines = text[..whole].split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let damaged =
        |line: usize, error: serde_json::Error| JournalError::Damaged { line: line + 1, problem: error.to_string() };
    let mut asked = None;
    if let Some((line, first)) = lines.next() {
        let other: Q = serde_json::from_slice(first).map_err(|error| damaged(line, error))?;
        if !question.continues(&other) {
            return Err(JournalError::AnotherQuestion(Box::new(other)));
        }
        asked = Some(other);
    }
    let record = |(line, bytes): (usize, &[u8])| serde_json::from_slice(bytes).map_err(|error| damaged(line, error));
    let records = lines.map(record).collect::<Result<_, _>>()?;
    Ok(JournalContent { asked, records, whole_bytes: whole as u64 })
}
