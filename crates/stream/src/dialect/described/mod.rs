//! Dialects that a file describes (`--llm-dialect`): paths of text, counts, ends and errors.

mod file;
mod path;
mod read;

use std::fmt;

use truetail_model::toml_file::TomlError;
use truetail_run::{DialectFile, StreamKind};

use super::super::chunk::Chunk;
use path::Node;

/// Limit on the bytes of a file.
const MAX_FILE_BYTES: usize = 64 * 1024;
/// Limit on the parts of a path.
const MAX_SEGMENTS: usize = 32;
/// Limit on the paths of content.
const MAX_TEXTS: usize = 16;
/// Limit on the paths of counts.
const MAX_NUMBERS: usize = 32;
/// Limit on the conditions.
const MAX_CONDITIONS: usize = 64;

/// A dialect of a language model that a file describes.
#[derive(Clone, PartialEq)]
pub struct DescribedDialect {
    source: DialectFile,
    kind: StreamKind,
    /// Media types of answers; empty for the usual ones of the kind.
    media_types: Vec<String>,
    end_mark: Option<String>,
    /// Members of a request's body that ask for a stream, with their values in JSON.
    request: Vec<(String, String)>,
    root: Node,
    /// The root is the only choice.
    has_one_choice: bool,
    texts: Vec<TextRule>,
    usage: UsageRules,
    /// Conditions that end an answer.
    ends: u64,
    /// Conditions that are errors.
    errors: u64,
    /// Reasons for the end that are errors, beside those that are known.
    error_reasons: Vec<String>,
    repeats_content: bool,
    has_summaries: bool,
}

/// A place of content.
#[derive(Clone, Copy, PartialEq, Debug)]
struct TextRule {
    /// Number of its path, which other rules may have too.
    path: usize,
    is_reasoning: bool,
    /// Conditions of which one must hold; 0 for none.
    when: u64,
}

/// Places of the counts.
#[derive(Clone, PartialEq, Default, Debug)]
struct UsageRules {
    output: Vec<Sum>,
    reasoning: Vec<Sum>,
    input: Vec<Sum>,
    cached: Vec<Sum>,
}

/// Places of numbers that make a count together. The first must be there.
type Sum = Vec<usize>;

impl DescribedDialect {
    /// Parses a file. `name` stands in errors and in the run.
    ///
    /// # Errors
    /// The first problem, with its place.
    pub fn parse(name: &str, text: &str) -> Result<DescribedDialect, TomlError> {
        file::parse(name, text)
    }

    /// Returns the file as a run keeps it.
    pub fn source(&self) -> &DialectFile {
        &self.source
    }

    /// Returns the kind of event of its answers.
    pub fn stream_kind(&self) -> StreamKind {
        self.kind
    }

    /// Returns the media types of its answers; empty if they are the usual ones of their kind.
    pub fn media_types(&self) -> &[String] {
        &self.media_types
    }

    /// Returns the data of the event that ends an answer.
    pub fn end_mark(&self) -> Option<&str> {
        self.end_mark.as_deref()
    }

    /// Returns the members of a request's body that ask for a stream, with their values in JSON.
    pub fn request_members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.request.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(super) fn read(&self, text: &str) -> Option<Chunk> {
        read::read(self, text)
    }
}

/// The tree of paths says nothing that the file does not.
impl fmt::Debug for DescribedDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DescribedDialect").field(&self.source).finish()
    }
}

impl Eq for DescribedDialect {}

#[cfg(test)]
mod tests;
