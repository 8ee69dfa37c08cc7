//! State that all workers of a run share.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use truetail_engine::Control;

use crate::error::ScriptError;

/// Receiver of the text that a script prints.
#[derive(Clone)]
pub struct Output(Arc<dyn Fn(&str) + Send + Sync>);

impl Output {
    /// Creates a receiver that calls `write` with each piece of text.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Output {
        Output(Arc::new(write))
    }

    pub(crate) fn write(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

/// The control of a run, and what a script did to it.
#[derive(Default, Debug)]
pub(crate) struct Shared {
    control: OnceLock<Control>,
    failure: Mutex<Option<ScriptError>>,
    was_stopped: AtomicBool,
}

impl Shared {
    pub(crate) fn begin(&self, control: Control) {
        let _ = self.control.set(control);
    }

    /// Ends the run at once because of an error. The first error counts.
    pub(crate) fn fail(&self, error: ScriptError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        if let Some(control) = self.control.get() {
            control.stop_now();
        }
    }

    pub(crate) fn failure(&self) -> Option<ScriptError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the load, because the script asks for it. Requests in flight are waited for. Returns false before the run.
    pub(crate) fn stop(&self) -> bool {
        let Some(control) = self.control.get() else { return false };
        self.was_stopped.store(true, Ordering::Relaxed);
        control.stop();
        true
    }

    pub(crate) fn was_stopped(&self) -> bool {
        self.was_stopped.load(Ordering::Relaxed)
    }
}
