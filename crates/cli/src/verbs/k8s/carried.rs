//! Files that options name. Files on this machine are carried to the pods; the others must be in their image.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use truetail_cluster::{FILES_FOLDER, JobFile, MAX_FILE_BYTES};
use truetail_requests::{PromptFile, parse_targets};

use crate::error::{CliError, Result, runtime_error, usage_error};
use crate::resolve::load::TRACE;
use crate::resolve::{flow, input};

/// Options whose value may be a file.
const OF_FILES: [&str; 16] = [
    "targets",
    "data-from",
    "data-file",
    "ca",
    "cert",
    "key",
    "flow",
    "setup",
    "replay",
    "proto",
    "protoset",
    "hello",
    "subscribe",
    "llm-dialect",
    PROFILE,
    PROMPTS,
];
/// This option names a file only after [`TRACE`].
const PROFILE: &str = "profile";
/// This option names a file only after the name of a format.
const PROMPTS: &str = "prompts";

/// Words of a load, with the names that its files have in the pods, and these files.
#[derive(Debug, Default)]
pub(super) struct Carried {
    pub(super) words: Vec<OsString>,
    pub(super) files: Vec<JobFile>,
    /// Named files that are not on this machine.
    pub(super) elsewhere: Vec<String>,
    seen: BTreeSet<String>,
    /// Root of the files of flows on this machine. In the pods these files lie beside the flow.
    file_root: Option<PathBuf>,
}

impl Carried {
    /// Reads the files that these words name.
    ///
    /// # Errors
    /// If a file cannot be read or carried, or all files together are too large.
    pub(super) fn read(words: Vec<OsString>) -> Result<Carried> {
        let (words, file_root) = without_file_root(words);
        let mut carried = Carried { file_root, ..Carried::default() };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let Some((option, value)) = file_option(&word, || words.next()) else {
                carried.words.push(word);
                continue;
            };
            let there = match file_of(option, &value) {
                Some(named) => carried.named(option, &named.file)?.map(|there| named.joined(&there)),
                None => None,
            };
            carried.words.extend([OsString::from(format!("--{option}")), there.unwrap_or(value)]);
        }
        let bytes: usize = carried.files.iter().map(|file| file.bytes.len()).sum();
        if bytes > MAX_FILE_BYTES {
            let help = "put the large ones into the image, and name them by their place there, or compress a recording with gzip";
            return Err(usage_error(format!(
                "the files have {bytes} bytes, and a Secret holds {MAX_FILE_BYTES}; {help}"
            )));
        }
        Ok(carried)
    }

    /// Carries the file of an option and the files that it names. Returns its path in the pods; `None` if it is not
    /// here.
    fn named(&mut self, option: &'static str, file: &Path) -> Result<Option<OsString>> {
        if file.as_os_str() == "-" {
            return Err(usage_error(format!("--{option} -: pods have no standard input of yours; write it to a file")));
        }
        if option == "proto" {
            let help = "compile it with protoc --include_imports --descriptor_set_out=FILE, and give --protoset FILE";
            return Err(usage_error(format!("--proto: what it imports does not go to the pods; {help}")));
        }
        if !file.exists() {
            self.elsewhere.push(file.display().to_string());
            return Ok(None);
        }
        let bytes = input::bytes(file)?;
        let folder = self.folder(option);
        match option {
            "flow" | "setup" => {
                for inner in flow::files_of(file)? {
                    let below = below(&inner).ok_or_else(|| outside(file, &inner))?;
                    let bytes = flow::file_of_flow(file, self.file_root.as_deref(), &inner)?;
                    self.carry(format!("{folder}/{below}"), bytes);
                }
            }
            "targets" => {
                for inner in bodies_of(file, &bytes) {
                    // Bodies are named relative to the working folder.
                    let below = below(&inner).ok_or_else(|| outside(file, &inner))?;
                    self.carry(below, input::bytes(Path::new(&inner))?);
                }
            }
            _ => {}
        }
        Ok(Some(self.carry(format!("{folder}/{}", name(file)), bytes)))
    }

    /// Returns an unused folder in the pods for the next file of this option.
    fn folder(&self, option: &str) -> String {
        let is_taken = |folder: &String| self.files.iter().any(|file| file.path.starts_with(&format!("{folder}/")));
        (1..).map(|nth| format!(".{option}-{nth}")).find(|folder| !is_taken(folder)).unwrap_or_default()
    }

    fn carry(&mut self, path: String, bytes: Vec<u8>) -> OsString {
        let there = format!("{FILES_FOLDER}/{path}").into();
        if self.seen.insert(path.clone()) {
            self.files.push(JobFile { path, bytes });
        }
        there
    }
}

/// The value of an option: a file between two texts.
struct NamedFile {
    before: String,
    file: PathBuf,
    after: String,
}

impl NamedFile {
    fn joined(&self, file: &OsStr) -> OsString {
        let mut value = OsString::from(&self.before);
        value.push(file);
        value.push(&self.after);
        value
    }
}

/// Finds the file in the value of an option.
fn file_of(option: &str, value: &OsStr) -> Option<NamedFile> {
    let between = |before: &str, file: &str, after: &str| NamedFile {
        before: before.to_owned(),
        file: PathBuf::from(file),
        after: after.to_owned(),
    };
    match option {
        PROFILE => Some(between(TRACE, value.to_str()?.strip_prefix(TRACE)?, "")),
        PROMPTS => {
            let value = value.to_str()?;
            let file = PromptFile::named(value)?.ok()?.file;
            let (before, after) = value.split_once(&file)?;
            Some(between(before, &file, after))
        }
        _ => Some(NamedFile { before: String::new(), file: PathBuf::from(value), after: String::new() }),
    }
}

/// Parses a word that gives an option with a file. The value may be the next word.
fn file_option(word: &OsStr, next: impl FnOnce() -> Option<OsString>) -> Option<(&'static str, OsString)> {
    let text = word.to_str()?.strip_prefix("--")?;
    if let Some(option) = OF_FILES.into_iter().find(|option| *option == text) {
        return Some((option, next()?));
    }
    let (name, value) = text.split_once('=')?;
    let option = OF_FILES.into_iter().find(|option| *option == name)?;
    Some((option, value.into()))
}

/// Removes `--file-root` from the words, and returns the rest and its value.
fn without_file_root(words: Vec<OsString>) -> (Vec<OsString>, Option<PathBuf>) {
    let mut rest = Vec::new();
    let mut root = None;
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.to_str().and_then(|text| text.strip_prefix("--file-root")) {
            Some("") => root = words.next().map(PathBuf::from),
            Some(value) if value.starts_with('=') => root = Some(PathBuf::from(&value[1..])),
            _ => rest.push(word),
        }
    }
    (rest, root)
}

/// Returns the body files that targets name. Mistakes in the targets are ignored here: another check reports them.
fn bodies_of(file: &Path, bytes: &[u8]) -> Vec<String> {
    let named = RefCell::new(Vec::new());
    let remember = |path: &str| {
        named.borrow_mut().push(path.to_owned());
        Ok(Vec::new())
    };
    let _ = parse_targets(&String::from_utf8_lossy(bytes), &file.display().to_string(), &remember);
    named.into_inner()
}

/// Returns a path without `.` parts; `None` if it is empty or leads out of the folder.
fn below(path: &str) -> Option<String> {
    let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
    let parts: Option<PathBuf> = parts.map(|part| matches!(part, Component::Normal(_)).then_some(part)).collect();
    parts.filter(|path| !path.as_os_str().is_empty()).map(|path| path.display().to_string())
}

fn outside(file: &Path, inner: &str) -> CliError {
    let help = "pods get files from this folder and below it only";
    runtime_error(format!("{} names {inner}: {help}; copy it there", file.display()))
}

fn name(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
