//! Threads that work beside a run until they are told to end.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use truetail_engine::host;

/// Thread that is ended and joined on drop.
#[derive(Debug)]
pub struct BackgroundThread {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundThread {
    /// Starts a thread for `work`, which must return soon after its receiver is disconnected.
    pub fn start(name: &str, work: impl FnOnce(&Receiver<()>) + Send + 'static) -> io::Result<BackgroundThread> {
        let (end, ended) = channel();
        let thread = thread::Builder::new().name(format!("truetail-{name}")).spawn(move || work(&ended))?;
        Ok(BackgroundThread { end: Some(end), thread: Some(thread) })
    }

    /// Starts a thread with a lower priority than the workers of a run.
    pub fn start_behind_workers(
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
