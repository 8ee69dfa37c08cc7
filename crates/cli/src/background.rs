//! Threads that work beside a run until they are told to end.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use truetail_engine::host;
use truetail_model::time::Nanos;

/// The rest after a round, in multiples of its cost: all rounds together cost at most 5 % of one processor.
const REST_FACTOR: u32 = 20;

/// Returns the time to wait after a round with this cost of processor time, observers included; at least `shortest`.
pub(crate) fn rest_after(cost: Nanos, shortest: Duration) -> Duration {
    shortest.max(Duration::from(cost) * REST_FACTOR)
}

/// Thread that is ended and joined on drop.
#[derive(Debug)]
pub(crate) struct BackgroundThread {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundThread {
    /// Starts a thread for `work`, which must return soon after its receiver is disconnected.
    pub(crate) fn start(name: &str, work: impl FnOnce(&Receiver<()>) + Send + 'static) -> io::Result<BackgroundThread> {
        let (end, ended) = channel();
        let thread = thread::Builder::new().name(format!("truetail-{name}")).spawn(move || work(&ended))?;
        Ok(BackgroundThread { end: Some(end), thread: Some(thread) })
    }

    /// Starts a thread with a lower priority than the workers of a run.
    pub(crate) fn start_behind_workers(
        name: &str,
        work: impl FnOnce(&Receiver<()>) + Send + 'static,
    ) -> io::Result<BackgroundThread> {
        BackgroundThread::start(name, move |ended| {
            host::lower_thread_priority();
            work(ended);
        })
    }
}

impl Drop for BackgroundThread {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_cost_at_most_a_twentieth_of_a_processor() {
        let shortest = Duration::from_secs(1);
        assert_eq!(rest_after(Nanos::ZERO, shortest), Duration::from_secs(1));
        assert_eq!(rest_after(Nanos::from_millis(50), shortest), Duration::from_secs(1));
        assert_eq!(rest_after(Nanos::from_secs(2), shortest), Duration::from_secs(40));
    }
}
