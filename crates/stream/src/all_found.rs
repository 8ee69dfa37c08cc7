use truetail_run::StreamFacts;

use crate::found::StreamResults;
use crate::options::StreamOptions;
use crate::uncounted::Waiting;

/// Combined results of all workers.
#[derive(Debug)]
pub(crate) struct CombinedResults {
    pub(crate) facts: StreamFacts,
    /// Answers whose tokens a tokenizer counts after the load.
    pub(crate) waiting: Vec<Waiting>,
}

impl CombinedResults {
    pub(crate) fn new(options: &StreamOptions) -> CombinedResults {
        CombinedResults { facts: StreamResults::new(options).facts(options), waiting: Vec::new() }
    }
}
