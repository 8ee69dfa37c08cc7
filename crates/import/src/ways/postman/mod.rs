//! A collection of Postman as a flow: its requests in their order, as a Hurl file.
//!
//! | file | what is in it |
//! |---|---|
//! | `collection` | the collection as it is stored |
//! | `request` | a request in Hurl's notation |
//! | `script` | scripts, as far as they can be read without running them |
//! | `variables` | variables, and their names in the flow |

mod collection;
mod request;
mod script;
mod variables;

use std::collections::BTreeMap;

use serde_json::Value;
use truetail_requests::redacted_header;

use crate::ImportError;
use crate::ways::{counted, hurl, listed, shown};
use crate::whole::file::place_of;

use collection::{Collection, Event, Item};
use request::Cause;
use variables::Variables;

/// Limit on the requests of a flow.
const MAX_REQUESTS: usize = 1000;
/// Limit on the bytes of a step's name.
const MAX_NAME_BYTES: usize = 100;
/// Limit on the characters of a part of a step's name.
const MAX_PART_CHARS: usize = 30;
/// Limit on the nesting of folders.
const DEEPEST: usize = 20;

/// A flow that was made from a collection.
#[derive(Clone, Debug)]
pub struct PostmanFlow {
    /// The Hurl file.
    pub hurl: String,
    /// Notes about the flow.
    pub notes: Vec<String>,
}

/// Makes a flow from a collection called `name`, in the schema v2.1 or v2.0.
///
/// # Errors
/// [`ImportError`], if it is no collection, or none of its requests can be sent.
pub fn flow_of_postman(bytes: &[u8], name: &str) -> Result<PostmanFlow, ImportError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let wrong = |problem: String| ImportError::content(place_of(bytes, 0), problem);
    let collection: Collection = serde_json::from_slice(bytes)
        .map_err(|error| wrong(format!("it is not a collection of Postman: {error}; export it as Collection v2.1")))?;
    if !["v2.1", "v2.0"].iter().any(|version| collection.info.schema.contains(version)) {
        let schema = shown(&collection.info.schema);
        return Err(wrong(format!(
            "its schema is '{schema}', and v2.1 and v2.0 are read; export it as Collection v2.1"
        )));
    }
    let mut made = Made::default();
    made.mark("the collection", &collection.event);
    for pair in collection.variable.iter().filter(|pair| !pair.disabled) {
        made.variables.give(&pair.key, pair.text());
    }
    let around = Around { path: String::new(), auth: collection.auth.as_ref(), depth: 0 };
    made.add(&collection.item, &around);
    if made.steps.is_empty() {
        let causes = made.left_out().map_or_else(|| "it has none".to_owned(), |text| format!("left out: {text}"));
        return Err(wrong(format!("no request of it can be sent; {causes}")));
    }
    Ok(made.flow(name))
}

/// The folders around an item.
struct Around<'a> {
    path: String,
    auth: Option<&'a Value>,
    depth: usize,
}

/// The requests that were made so far.
#[derive(Default)]
struct Made {
    steps: Vec<String>,
    variables: Variables,
    left_out: BTreeMap<Cause, u64>,
    beyond: u64,
    /// Number of parts that are not read.
    marked: usize,
    /// Comments about scripts of the collection and of folders.
    marks: Vec<String>,
}

impl Made {
    fn add(&mut self, items: &[Item], around: &Around<'_>) {
        for item in items {
            let path = format!("{}{}", around.path, hurl::step_name(&item.name.replace('/', " "), MAX_PART_CHARS));
            let auth = item.auth.as_ref().or(around.auth);
            match &item.item {
                Some(items) if around.depth < DEEPEST => {
                    self.mark(&path, &item.event);
                    self.add(items, &Around { path: format!("{path}/"), auth, depth: around.depth + 1 });
                }
                Some(_) => self.beyond += 1,
                None => self.add_request(item, &path, auth),
            }
        }
    }

    /// Marks the scripts of a folder or of the whole, which no request has alone.
    fn mark(&mut self, place: &str, events: &[Event]) {
        for line in events.iter().flat_map(Event::lines).filter(|line| !line.trim().is_empty()) {
            self.marked += 1;
            self.marks.push(format!("not read: script of {place}: {}", request::shown_line(line.trim())));
        }
    }

    fn add_request(&mut self, item: &Item, name: &str, auth: Option<&Value>) {
        if self.steps.len() == MAX_REQUESTS {
            self.beyond += 1;
            return;
        }
        let own = match &item.request {
            Some(collection::Request::Whole(whole)) => whole.auth.as_ref(),
            _ => None,
        };
        let lines = |listen: &str| {
            let events = item.event.iter().filter(|event| event.listen == listen);
            events.flat_map(Event::lines).collect::<Vec<_>>()
        };
        let unread: Vec<String> = lines("prerequest").into_iter().filter(|line| !line.trim().is_empty()).collect();
        let tests = script::read(&lines("test"), &mut self.variables);
        let mut end = name.len().min(MAX_NAME_BYTES);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let name = name[..end].trim_end();
        match request::write(item, (name, own.or(auth)), &tests, &unread, &mut self.variables) {
            Ok(written) => {
                self.marked += written.marked;
                self.steps.push(written.hurl);
            }
            Err(cause) => *self.left_out.entry(cause).or_default() += 1,
        }
    }

    fn left_out(&self) -> Option<String> {
        let causes = self.left_out.iter().map(|(cause, count)| format!("{count} {}", cause.text()));
        let beyond = (self.beyond > 0).then(|| format!("{} beyond the limit of {MAX_REQUESTS} requests", self.beyond));
        let parts: Vec<String> = causes.chain(beyond).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn flow(self, name: &str) -> PostmanFlow {
        let left_out = self.left_out().map_or_else(String::new, |text| format!("; left out: {text}"));
        let whole = format!("{} of {name}{left_out}", counted(self.steps.len() as u64, "request"));
        let scripts = (self.marked > 0).then(|| {
            let count = counted(self.marked as u64, "part");
            format!("{count} could not be read, such as lines of scripts; comments in the file begin with 'not read'")
        });
        let missing = self.variables.missing();
        let needed = (!missing.is_empty()).then(|| {
            format!("give these variables with --variable or --data-from: {}", listed(missing.iter().cloned()))
        });
        let notes: Vec<String> =
            [Some(whole), scripts, needed].into_iter().flatten().map(|note| shown(&note)).collect();
        let given = self.variables.given().map(|(name, value)| (name.to_owned(), usage_value(name, value)));
        let missing = missing.into_iter().map(|name| (name, "VALUE".to_owned()));
        let variables: String =
            given.chain(missing).map(|(name, value)| format!(" --variable {name}={value}")).collect();
        let mut hurl = String::new();
        let usage = format!("truetail run --flow FILE -r 1 -d 10s{variables}");
        for line in notes.iter().chain(&self.marks).chain(&[usage]) {
            hurl.push_str(&format!("# {line}\n"));
        }
        for step in &self.steps {
            hurl.push('\n');
            hurl.push_str(step);
        }
        PostmanFlow { hurl, notes }
    }
}

/// Returns the value of a variable for an example: one that is safe to show, and never another machine.
fn usage_value(name: &str, value: &str) -> String {
    let header = format!("{name}: {value}");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._/:".contains(c);
    match value {
        url if url.starts_with("http://") || url.starts_with("https://") => "http://127.0.0.1:8080".to_owned(),
        value if redacted_header(&header) == header && !value.is_empty() && value.chars().all(is_plain) => {
            value.to_owned()
        }
        _ => "VALUE".to_owned(),
    }
}
