//! Stop of a search and of its run in progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::Control;

use crate::error::Result;
use crate::signals::{self, SignalHandler};
use crate::{output, progress};

/// Handle that stops a search. All clones stop the same search.
#[derive(Clone, Default, Debug)]
pub(super) struct SearchStop(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    stopped: AtomicBool,
    run: Mutex<Option<Control>>,
}

impl SearchStop {
    pub(super) fn new() -> SearchStop {
        SearchStop::default()
    }

    /// Stops the search on Ctrl-C. What was found before is kept.
    pub(super) fn on_signals(&self) -> Result<SignalHandler> {
        let stop = self.clone();
        signals::tell_of_signals(move |number| {
            if number == 1 {
                progress::clear_line();
                output::note("stopping; what was found is kept, and the same command continues it");
            }
            stop.stop();
        })
    }

    fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        if let Some(control) = &*self.0.run.lock().unwrap_or_else(PoisonError::into_inner) {
            control.stop_now();
        }
    }

    /// Returns true if the search was stopped.
    pub(super) fn was_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
    }

    /// Returns the control of the run that begins now. If the search was stopped, the run stops at once.
    pub(super) fn begin_run(&self) -> Control {
        let control = Control::new();
        *self.0.run.lock().unwrap_or_else(PoisonError::into_inner) = Some(control.clone());
        if self.was_stopped() {
            control.stop_now();
        }
        control
    }
}
