//! Folder of a search.

use std::path::{Path, PathBuf};

use truetail_study::capacity::{Journal, JournalError};

use super::question::Asked;
use crate::error::{CliError, Result, runtime_error};
use crate::output_folder::{PARENT, file_name};

/// Opens the folder of a search, and continues an interrupted search of the same question.
///
/// # Errors
/// If the folder holds anything else or a search that has its answer, or cannot be written.
pub(super) fn open(out: Option<PathBuf>, asked: &Asked) -> Result<Journal> {
    let folder = match out {
        Some(folder) if is_foreign(&folder) => {
            return Err(runtime_error(format!(
                "{} holds something else than a search; choose a new or empty folder with --out",
                folder.display()
            )));
        }
        Some(folder) => folder,
        None => free(asked),
    };
    if has_ended(&folder) {
        return Err(runtime_error(format!(
            "{} holds a search that has its answer; choose another folder with --out, or remove this one",
            folder.display()
        )));
    }
    Journal::open(&folder, &asked.question).map_err(|error| refused(&folder, &error))
}

/// Returns the default folder of the question: that of its interrupted search, or a new one.
fn free(asked: &Asked) -> PathBuf {
    let question = serde_json::to_string(&asked.question.without_length()).unwrap_or_default();
    let name = file_name(&format!("capacity-{}-{:08x}", asked.server, hash(&question)));
    let numbered = |number: u32| match number {
        1 => Path::new(PARENT).join(&name),
        number => Path::new(PARENT).join(format!("{name}-{number}")),
    };
    (1..).map(numbered).find(|folder| !has_ended(folder)).expect("folders do not run out")
}

/// Returns true if the folder is not empty and holds no search.
fn is_foreign(folder: &Path) -> bool {
    let holds_something = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    holds_something && !Journal::is_in(folder)
}

/// Returns true if the search in the folder has its answer, so that it cannot be continued.
fn has_ended(folder: &Path) -> bool {
    let text = truetail_run::input::text(&folder.join("capacity.json")).unwrap_or_default();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    result["state"].as_str().is_some_and(|state| state != "out_of_time")
}

fn refused(folder: &Path, error: &JournalError) -> CliError {
    let folder = folder.display();
    runtime_error(match error {
        JournalError::AnotherQuestion(other) => format!(
            "{folder} holds the search of another question: {} for '{}'; choose another folder with --out",
            other.objectives.join(" and "),
            other.target
        ),
        JournalError::Busy => {
            format!("another truetail is at the search in {folder}; wait for it, or choose another folder with --out")
        }
        JournalError::Damaged { line, problem } => {
            format!("{folder}/probes.jsonl:{line} cannot be read: {problem}; choose another folder with --out")
        }
        JournalError::Io(error) => format!("cannot use {folder}: {error}; choose another folder with --out"),
    })
}

/// FNV-1a hash, 32 bits.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
