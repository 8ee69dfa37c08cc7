use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Verdict on the answer to a request of a language model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum AnswerVerdict {
    /// It is complete and met all objectives, if there are any.
    Met,
    /// It is complete, and whether it met all objectives cannot be told.
    CannotTell,
    /// It is complete and missed an objective.
    Missed,
    /// It is no complete answer.
    Incomplete,
    /// It belongs to the warm-up, and was not judged.
    NotJudged,
}

impl AnswerVerdict {
    const ALL: [AnswerVerdict; 5] = [
        AnswerVerdict::Met,
        AnswerVerdict::CannotTell,
        AnswerVerdict::Missed,
        AnswerVerdict::Incomplete,
        AnswerVerdict::NotJudged,
    ];
}

/// The verdict on the request that ended last in one worker. An observer beside that of the streams reads it when it is
/// told of the same end.
#[derive(Clone, Debug)]
pub struct LastVerdict(Arc<AtomicU8>);

impl Default for LastVerdict {
    fn default() -> LastVerdict {
        let last = LastVerdict(Arc::default());
        last.set(AnswerVerdict::NotJudged);
        last
    }
}

impl LastVerdict {
    /// Returns the verdict.
    pub fn get(&self) -> AnswerVerdict {
        AnswerVerdict::ALL[usize::from(self.0.load(Ordering::Relaxed))]
    }

    pub(crate) fn set(&self, verdict: AnswerVerdict) {
        self.0.store(verdict as u8, Ordering::Relaxed);
    }
}
