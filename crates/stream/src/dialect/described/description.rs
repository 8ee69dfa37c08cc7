//! What a file says of a dialect.

use std::fmt;

use truetail_run::{DialectFile, StreamKind};

use super::path::Node;
use super::wanted::Wanted;

/// Limit on the paths of content.
pub(super) const MAX_TEXTS: usize = 16;
/// Limit on the paths of counts.
pub(super) const MAX_NUMBERS: usize = 32;
/// Limit on the conditions.
pub(super) const MAX_CONDITIONS: usize = 64;

/// A dialect of a language model that a file describes.
#[derive(Clone, PartialEq)]
pub struct DescribedDialect {
    pub(super) source: DialectFile,
    pub(super) kind: StreamKind,
    /// Media types of answers; empty for the usual ones of the kind.
    pub(super) media_types: Vec<String>,
    pub(super) end_mark: Option<String>,
    /// Members of a request's body that ask for a stream, with their values in JSON.
    pub(super) request: Vec<(String, String)>,
    pub(super) root: Node,
    /// The root is the only choice.
    pub(super) has_one_choice: bool,
    pub(super) texts: Vec<TextRule>,
    pub(super) usage: UsageRules,
    pub(super) endings: Endings,
    pub(super) repeats_content: bool,
    pub(super) has_summaries: bool,
}

/// Ends of an answer, beside its mark and the reasons that are known.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Endings {
    /// Conditions that end an answer.
    pub(super) ends: u64,
    /// Conditions that are errors.
    pub(super) errors: u64,
    /// Reasons that are errors.
    pub(super) error_reasons: Vec<Wanted>,
}

/// A place of content.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct TextRule {
    /// Number of its path, which other rules may have too.
    pub(super) path: usize,
    pub(super) is_reasoning: bool,
    /// Conditions of which one must hold; 0 for none.
    pub(super) when: u64,
    /// Number of segments that lead to the list item for which the conditions hold; 0 if that is the event.
    pub(super) item: usize,
    /// No other rule of the path is decided before.
    pub(super) is_first: bool,
}

/// Places of the counts.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct UsageRules {
    pub(super) output: Vec<Sum>,
    pub(super) reasoning: Vec<Sum>,
    pub(super) input: Vec<Sum>,
    pub(super) cached: Vec<Sum>,
}

/// Places of numbers that make a count together. The first must be there.
pub(super) type Sum = Vec<usize>;

impl DescribedDialect {
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
}

/// The tree of paths says nothing that the file does not.
impl fmt::Debug for DescribedDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DescribedDialect").field(&self.source).finish()
    }
}

impl Eq for DescribedDialect {}
