use truetail_run::StreamFacts;

use crate::found::Found;
use crate::options::StreamOptions;
use crate::uncounted::Waiting;

/// Combined results of all workers.
#[derive(Debug)]
pub(crate) struct AllFound {
    pub(crate) facts: StreamFacts,
    /// Answers whose tokens a tokenizer counts after the load.
    pub(crate) waiting: Vec<Waiting>,
}

impl AllFound {
    pub(crate) fn new(options: &StreamOptions) -> AllFound {
        AllFound { facts: Found::new(options).facts(options), waiting: Vec::new() }
    }
}
