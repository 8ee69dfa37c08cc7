//! What all workers of a run found.

use truetail_run::StreamFacts;

use crate::found::Found;
use crate::options::StreamOptions;
use crate::uncounted::Waiting;

/// What all workers found.
#[derive(Debug)]
pub(crate) struct AllFound {
    pub(crate) facts: StreamFacts,
    /// Answers that a tokenizer counts when the load is over.
    pub(crate) waiting: Vec<Waiting>,
}

impl AllFound {
    /// Nothing yet.
    pub(crate) fn new(options: &StreamOptions) -> AllFound {
        AllFound { facts: Found::new(options).facts(options), waiting: Vec::new() }
    }
}
