//! For whoever wants to see answers, and not only when they came.

use std::fmt;
use std::sync::Arc;

use truetail_model::record::Outcome;

/// Sees the answers of one worker while they are read. Without an observer bodies are counted and forgotten.
///
/// `request` is a number that stands for one request from its start to its end, and for another one after that.
/// What an observer does delays the worker: it has to be quick.
pub trait Observer: Send {
    /// The head of a final answer came.
    fn head(&mut self, request: u32, status: u16);
    /// A part of the body came; its transfer coding is taken off.
    fn body(&mut self, request: u32, part: &[u8]);
    /// The request ended, in whatever way; also where no head came.
    fn end(&mut self, request: u32, outcome: Outcome);
}

/// Makes the observer of each worker.
#[derive(Clone)]
pub struct ObserverFactory(Arc<dyn Fn() -> Box<dyn Observer> + Send + Sync>);

impl ObserverFactory {
    /// Calls `make` once for each worker, before the run.
    pub fn new(make: impl Fn() -> Box<dyn Observer> + Send + Sync + 'static) -> ObserverFactory {
        ObserverFactory(Arc::new(make))
    }

    pub(crate) fn observer(&self) -> Box<dyn Observer> {
        (self.0)()
    }
}

impl fmt::Debug for ObserverFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ObserverFactory")
    }
}
