//! How a search is stopped: it belongs to one run after the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::Control;

use crate::error::Result;
use crate::signals::{self, SignalHandler};
use crate::{output, progress};

/// Stops a search. Clones belong to the same one.
#[derive(Clone, Default, Debug)]
pub struct SearchStop(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    stopped: AtomicBool,
    run: Mutex<Option<Control>>,
}

impl SearchStop {
    /// Of a search that has not begun.
    pub fn new() -> SearchStop {
        SearchStop::default()
    }

    /// Ctrl-C stops it; what was found by then is kept.
    ///
    /// # Errors
    /// If the system does not allow signals to be captured.
    pub fn on_signals(&self) -> Result<SignalHandler> {
        let stop = self.clone();
        signals::tell_of_signals(move |number| {
            if number == 1 {
                progress::clear_line();
                output::note("stopping the search; what was found is kept, and the same command goes on");
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

    /// Somebody stopped it.
    pub fn was_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
    }

    /// The handle of the run that begins now. It is stopped at once if the search was.
    pub fn begin_run(&self) -> Control {
        let control = Control::new();
        *self.0.run.lock().unwrap_or_else(PoisonError::into_inner) = Some(control.clone());
        if self.was_stopped() {
            control.stop_now();
        }
        control
    }
}
