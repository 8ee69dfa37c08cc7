//! Parser from the text of a Hurl file to a [`FlowFile`]. Unsupported features are errors with their line and name.
//!
//! | file | what it reads |
//! |---|---|
//! | `cursor` | characters and lines |
//! | `text` | texts with templates, in each of Hurl's notations |
//! | `entry` | a request and its sections |
//! | `options` | `[Options]`, and truetail's comments |
//! | `expected` | the expected answer |
//! | `look` | queries and filters |
//! | `predicate` | predicates and their operands |
//! | `body` | bodies |

mod body;
mod cursor;
mod entry;
mod expected;
mod look;
mod options;
mod predicate;
mod text;

use std::collections::HashMap;

pub(crate) use body::JSON;
pub use options::problem_of_delay;
pub(crate) use options::typed;

use crate::error::FlowError;
use crate::scope::VariableId;
use crate::syntax::{Body, Entry, Field, FlowFile};
use cursor::Cursor;

/// Limit on the bytes of a file.
pub const MAX_FLOW_BYTES: usize = 4 << 20;
/// Limit on the requests of a file.
const MAX_ENTRIES: usize = 1000;

type Result<T> = std::result::Result<T, FlowError>;

/// State of the parser.
#[derive(Debug)]
struct Parser<'a> {
    at: Cursor<'a>,
    names: Vec<String>,
    variables: HashMap<String, VariableId>,
    /// Comments for truetail or Hurl that are not yet assigned to a request: line and text.
    remarks: Vec<(usize, &'a str)>,
    /// Nesting depth of templates at this position. A filter may hold a text with a template.
    depth: usize,
}

/// Names of functions in `{{…}}`.
const FUNCTIONS: [&str; 5] = ["newUuid", "newDate", "randomInt", "randomChoice", "getEnv"];
/// Prefix of truetail's comments.
const REMARK: &str = "truetail:";
/// Parts of Hurl's comments that change the cookies of a session.
const COOKIE_REMARKS: [&str; 2] = ["@cookie_storage_set:", "@cookie_storage_clear"];

/// Parses a file.
pub(crate) fn parse(text: &str) -> Result<FlowFile> {
    if text.len() > MAX_FLOW_BYTES {
        return Err(FlowError::new(1, format!("the file is larger than {} MiB, the limit", MAX_FLOW_BYTES >> 20)));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser =
        Parser { at: Cursor::new(text), names: Vec::new(), variables: HashMap::new(), remarks: Vec::new(), depth: 0 };
    let mut entries = Vec::new();
    let mut weight = None;
    loop {
        parser.skip_blank();
        parser.take_weight(entries.is_empty(), &mut weight)?;
        if parser.at.is_at_end() {
            break;
        }
        if entries.len() == MAX_ENTRIES {
            return Err(parser.at.error(format!("there are more than {MAX_ENTRIES} requests, the limit")));
        }
        entries.push(parser.entry()?);
    }
    if let Some((line, remark)) = parser.remarks.iter().find(|(_, remark)| !is_about_cookies(remark)) {
        return Err(FlowError::new(*line, format!("'# {REMARK} {remark}' belongs to no request; write it before one")));
    }
    match entries.is_empty() {
        true => Err(FlowError::new(1, "there is no request; write one, such as GET http://127.0.0.1:8080/")),
        false => Ok(FlowFile { weight: weight.unwrap_or(1), entries, names: parser.names }),
    }
}

/// Returns the names of the variables of a flow, including the variables that it sets itself.
///
/// # Errors
/// The flow is invalid or uses an unsupported feature. The error has the line.
pub fn variables_of(text: &str) -> Result<Vec<String>> {
    parse(text).map(|file| file.names)
}

/// Returns the files that a flow names, in its notation.
///
/// # Errors
/// The text is invalid.
pub fn files_of(text: &str) -> Result<Vec<String>> {
    let of_body = |body: &Body| if let Body::File(path) = body { Some(path.clone()) } else { None };
    let of_field = |field: &Field| if let Field::File { path, .. } = field { Some(path.clone()) } else { None };
    let of_entry = |entry: &Entry| {
        let sent = entry.body.iter().filter_map(of_body);
        let fields = entry.parts.multipart.iter().flatten().filter_map(|(_, field)| of_field(field));
        let expected =
            entry.response.iter().filter_map(|answer| answer.body.as_ref()).filter_map(|body| of_body(&body.body));
        sent.chain(fields).chain(expected).collect::<Vec<_>>()
    };
    let mut files: Vec<String> = parse(text)?.entries.iter().flat_map(of_entry).collect();
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

fn is_about_cookies(comment: &str) -> bool {
    COOKIE_REMARKS.iter().any(|remark| comment.contains(remark))
}

impl<'a> Parser<'a> {
    /// Skips empty lines and comments.
    fn skip_blank(&mut self) {
        loop {
            self.at.take_while(|c| c.is_ascii_whitespace());
            if self.at.peek() != Some('#') {
                return;
            }
            let line = self.at.line();
            let comment = self.at.take_while(|c| c != '\n');
            let comment = comment[1..].trim();
            let ours = comment.strip_prefix(REMARK).map(str::trim);
            if let Some(remark) = ours.or(Some(comment).filter(|comment| is_about_cookies(comment))) {
                self.remarks.push((line, remark));
            }
        }
    }

    fn variable(&mut self, name: &str) -> VariableId {
        if let Some(known) = self.variables.get(name) {
            return *known;
        }
        self.names.push(name.to_owned());
        self.variables.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}
