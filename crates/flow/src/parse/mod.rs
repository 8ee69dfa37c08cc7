//! From the text of a Hurl file to a [`FlowFile`]. What Hurl has and truetail has not is refused, with its line and its name:
//! nothing is left out in silence.
//!
//! | file | what it reads |
//! |---|---|
//! | `cursor` | characters and lines |
//! | `text` | texts with templates, in each of Hurl's ways of writing them |
//! | `entry` | a request and its sections |
//! | `options` | `[Options]`, and our own comments |
//! | `expected` | what is expected of an answer |
//! | `look` | queries and filters |
//! | `predicate` | predicates and what they compare with |
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
pub(crate) use options::typed;

use crate::error::FlowError;
use crate::scope::VariableId;
use crate::syntax::{Body, Entry, Field, FlowFile};
use cursor::Cursor;

/// Most bytes of a file.
pub const MAX_FLOW_BYTES: usize = 4 << 20;
/// Most requests of a file.
const MAX_ENTRIES: usize = 1000;

type Result<T> = std::result::Result<T, FlowError>;

/// What a parser has read so far, beside its place.
#[derive(Debug)]
struct Parser<'a> {
    at: Cursor<'a>,
    names: Vec<String>,
    /// The number of each variable.
    variables: HashMap<String, VariableId>,
    /// Comments that say something to us or to Hurl, since they were last taken: line and text.
    remarks: Vec<(usize, &'a str)>,
    /// How many templates this place is inside of: a filter may hold a text with a template.
    depth: usize,
}

/// What stands in `{{…}}` and is no variable.
const FUNCTIONS: [&str; 3] = ["newUuid", "newDate", "getEnv"];
/// What our own comments begin with.
const REMARK: &str = "truetail:";
/// What Hurl's own comments hold, which change the cookies of a session.
const COOKIE_REMARKS: [&str; 2] = ["@cookie_storage_set:", "@cookie_storage_clear"];

/// Reads a file.
pub(crate) fn parse(text: &str) -> Result<FlowFile> {
    if text.len() > MAX_FLOW_BYTES {
        return Err(FlowError::new(1, format!("the file is larger than {} MiB, the limit", MAX_FLOW_BYTES >> 20)));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser =
        Parser { at: Cursor::new(text), names: Vec::new(), variables: HashMap::new(), remarks: Vec::new(), depth: 0 };
    let (mut entries, mut weight) = (Vec::new(), None);
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

/// The names of the variables of a flow, those that it sets itself too.
///
/// # Errors
/// What is wrong with it, or not supported, and in which line.
pub fn variables_of(text: &str) -> Result<Vec<String>> {
    parse(text).map(|file| file.names)
}

/// The files that a flow names, as it names them.
///
/// # Errors
/// What is wrong with its text.
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
    /// Goes past empty lines and comments, to the first character of a line that says something.
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

    /// The number of a variable.
    fn variable(&mut self, name: &str) -> VariableId {
        if let Some(known) = self.variables.get(name) {
            return *known;
        }
        self.names.push(name.to_owned());
        self.variables.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}
