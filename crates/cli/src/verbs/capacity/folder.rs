//! Folder of a search or a sweep.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use truetail_study::capacity::{Journal, Question};
use truetail_study::journal::{self, JournalError, StudyQuestion};
use truetail_study::sweep::{SweepJournal, SweepQuestion};

use super::question::Asked;
use crate::error::{CliError, Result, runtime_error};
use crate::output_folder::{PARENT, file_name};

/// A study with a folder: its words, and the file that holds its result.
trait StudyFolder: StudyQuestion {
    /// Name of the study, and of its folder.
    const NAME: &'static str;
    const FOLDER: &'static str;
    /// File of its result.
    const RESULT: &'static str;

    /// Returns true if it has its answer, so that it cannot be continued.
    fn has_ended(result: &Value) -> bool;

    /// Describes its question.
    fn described(&self) -> String;

    /// Returns the parts that make two questions different studies.
    fn identity(&self) -> Self;
}

impl StudyFolder for Question {
    const NAME: &'static str = "search";
    const FOLDER: &'static str = "capacity";
    const RESULT: &'static str = "capacity.json";

    fn has_ended(result: &Value) -> bool {
        result["state"].as_str().is_some_and(|state| state != "out_of_time")
    }

    fn described(&self) -> String {
        format!("{} for '{}'", self.objectives.join(" and "), self.target)
    }

    fn identity(&self) -> Question {
        self.without_length()
    }
}

impl StudyFolder for SweepQuestion {
    const NAME: &'static str = "sweep";
    const FOLDER: &'static str = "sweep";
    const RESULT: &'static str = "sweep.json";

    fn has_ended(result: &Value) -> bool {
        let by = &result["ended_by"];
        result["steps"].is_array() && !by.as_str().is_some_and(|by| ["user", "service_gone", "error"].contains(&by))
    }

    fn described(&self) -> String {
        let rates: Vec<String> = self.rates.iter().map(f64::to_string).collect();
        format!("{}/s for '{}'", rates.join(","), self.target)
    }

    fn identity(&self) -> SweepQuestion {
        self.clone()
    }
}

/// Opens the folder of a search, and continues an interrupted search of the same question.
///
/// # Errors
/// If the folder holds anything else or a search that has its answer, or cannot be written.
pub(super) fn open(out: Option<PathBuf>, asked: &Asked) -> Result<Journal> {
    open_study(out, &asked.server, &asked.question)
}

/// Opens the folder of a sweep, and continues an interrupted sweep of the same question.
///
/// # Errors
/// As [`open()`].
pub(super) fn open_sweep(out: Option<PathBuf>, asked: &Asked, question: &SweepQuestion) -> Result<SweepJournal> {
    open_study(out, &asked.server, question)
}

fn open_study<Q: StudyFolder, R: Serialize + DeserializeOwned>(
    out: Option<PathBuf>,
    server: &str,
    question: &Q,
) -> Result<journal::Journal<Q, R>> {
    let name = Q::NAME;
    let folder = match out {
        Some(folder) if is_foreign::<Q>(&folder) => {
            return Err(runtime_error(format!(
                "{} holds something else than a {name}; choose a new or empty folder with --out",
                folder.display()
            )));
        }
        Some(folder) => folder,
        None => free(server, question),
    };
    if has_ended::<Q>(&folder) {
        return Err(runtime_error(format!(
            "{} holds a {name} that has its answer; choose another folder with --out, or remove this one",
            folder.display()
        )));
    }
    journal::Journal::open(&folder, question).map_err(|error| refused(&folder, &error))
}

/// Returns the default folder of the question: that of its interrupted study, or a new one.
fn free<Q: StudyFolder>(server: &str, question: &Q) -> PathBuf {
    let question = serde_json::to_string(&question.identity()).unwrap_or_default();
    let name = file_name(&format!("{}-{server}-{:08x}", Q::FOLDER, hash(&question)));
    let numbered = |number: u32| match number {
        1 => Path::new(PARENT).join(&name),
        number => Path::new(PARENT).join(format!("{name}-{number}")),
    };
    (1..).map(numbered).find(|folder| !has_ended::<Q>(folder)).expect("folders do not run out")
}

/// Returns true if the folder is not empty and holds no study of this kind.
fn is_foreign<Q: StudyFolder>(folder: &Path) -> bool {
    let holds_something = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    holds_something && !folder.join(Q::FILE).is_file()
}

/// Returns true if the study in the folder has its answer, so that it cannot be continued.
fn has_ended<Q: StudyFolder>(folder: &Path) -> bool {
    let text = truetail_run::input::text(&folder.join(Q::RESULT)).unwrap_or_default();
    let result: Value = serde_json::from_str(&text).unwrap_or_default();
    Q::has_ended(&result)
}

fn refused<Q: StudyFolder>(folder: &Path, error: &JournalError<Q>) -> CliError {
    let folder = folder.display();
    let name = Q::NAME;
    runtime_error(match error {
        JournalError::AnotherQuestion(other) => format!(
            "{folder} holds the {name} of another question: {}; choose another folder with --out",
            other.described()
        ),
        JournalError::Busy => {
            format!("another truetail is at the {name} in {folder}; wait for it, or choose another folder with --out")
        }
        JournalError::Damaged { line, problem } => {
            format!("{folder}/{}:{line} cannot be read: {problem}; choose another folder with --out", Q::FILE)
        }
        JournalError::Io(error) => format!("cannot use {folder}: {error}; choose another folder with --out"),
    })
}

/// FNV-1a hash, 32 bits.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
