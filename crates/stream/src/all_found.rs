use truetail_run::{StreamFacts, StreamRows};

use crate::found::StreamResults;
use crate::options::StreamOptions;
use crate::uncounted::Waiting;

/// Combined results of all workers.
#[derive(Debug)]
pub(crate) struct CombinedResults {
    pub(crate) facts: StreamFacts,
    /// Times and counts by intended start. During the run an ended stream is in them after a tenth of a second, or with
    /// the next end.
    pub(crate) rows: StreamRows,
    /// Answers whose tokens a tokenizer counts after the load.
    pub(crate) waiting: Vec<Waiting>,
}

impl CombinedResults {
    pub(crate) fn new(options: &StreamOptions) -> CombinedResults {
        let facts = StreamResults::new(options).facts(options);
        CombinedResults { facts, rows: StreamRows::default(), waiting: Vec::new() }
    }
}
