use truetail_run::{KeptStreams, StreamFacts, StreamRows};

use crate::found::StreamResults;
use crate::options::StreamOptions;
use crate::uncounted::Waiting;

/// Combined results of all workers.
#[derive(Debug)]
pub(crate) struct CombinedResults {
    pub(crate) facts: StreamFacts,
    /// Streams of single requests.
    pub(crate) kept: KeptStreams,
    /// Times and counts by intended start, if somebody looks at them. During the run an ended stream is in them after a
    /// tenth of a second, or with the next end.
    pub(crate) rows: Option<StreamRows>,
    /// Answers whose tokens a tokenizer counts after the load.
    pub(crate) waiting: Vec<Waiting>,
}

impl CombinedResults {
    pub(crate) fn new(options: &StreamOptions) -> CombinedResults {
        let facts = StreamResults::new(options).facts(options);
        CombinedResults { facts, kept: KeptStreams::with_room(), rows: None, waiting: Vec::new() }
    }

    /// Adds the rows of one worker.
    pub(crate) fn add_rows(&mut self, of_worker: &StreamRows) {
        if let Some(rows) = &mut self.rows {
            rows.merge(of_worker);
        }
    }
}
