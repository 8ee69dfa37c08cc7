//! A wish to end, from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says to everybody who holds a clone of it that the user wants to end.
#[derive(Clone, Default, Debug)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Nobody wants to end yet.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Ends what runs, and begins nothing more.
    pub fn now(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Was it wanted?
    pub fn wanted(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
