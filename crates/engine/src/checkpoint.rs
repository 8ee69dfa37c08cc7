//! Snapshots of a run in progress. A worker gives its recorder away and continues with an empty one, which costs it
//! only the exchange of two pointers. The thread that asks for the recorder allocates the empty one, with its
//! histograms. At the first record the worker allocates the rest: the rows per second (about 40 bytes each) and per
//! interval (1 KiB each). The result of the run includes all recorders that were given away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use truetail_model::arrival::ScheduleHash;
use truetail_model::record::{Recorder, RecorderOptions, Snapshot};

/// Longest wait for a worker. Workers check their mailboxes at least every 20 ms. If one takes longer than this, the
/// operating system did not let it run.
const PATIENCE: Duration = Duration::from_millis(500);

/// Exchange of recorders between one worker and the thread that asks. The worker reads `asked` in each turn. The
/// alignment keeps unrelated writes out of that cache line.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Mailbox {
    options: RecorderOptions,
    asked: AtomicBool,
    content: Mutex<Content>,
    given: Condvar,
}

#[derive(Debug, Default)]
struct Content {
    /// An empty recorder for the worker.
    fresh: Option<Box<Recorder>>,
    /// The full recorder from the worker.
    full: Option<Box<Recorder>>,
    /// The worker has ended and gives nothing more.
    closed: bool,
}

impl Mailbox {
    pub(crate) fn new(options: RecorderOptions) -> Mailbox {
        Mailbox { options, asked: AtomicBool::new(false), content: Mutex::default(), given: Condvar::new() }
    }

    fn content(&self) -> std::sync::MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the recorder was asked for. The worker checks this in each turn.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Exchanges the worker's recorder for the empty one. The worker calls this if [`Mailbox::is_asked`].
    #[cold]
    pub(crate) fn give(&self, recorder: &mut Box<Recorder>) {
        let mut content = self.content();
        // Keep an uncollected recorder: the thread that asked for it had stopped waiting.
        if content.full.is_none()
            && let Some(fresh) = content.fresh.take()
        {
            content.full = Some(std::mem::replace(recorder, fresh));
        }
        self.asked.store(false, Ordering::Release);
        self.given.notify_all();
    }

    /// Tells waiting threads that the worker has ended.
    pub(crate) fn close(&self) {
        self.content().closed = true;
        self.given.notify_all();
    }

    pub(crate) fn ask(&self) {
        // Made here, so that the worker spends no time on it.
        let fresh = Box::new(Recorder::new(self.options));
        self.content().fresh.get_or_insert(fresh);
        self.asked.store(true, Ordering::Release);
    }

    /// Takes the recorder that the worker gave, also if an earlier wait missed it. If `wait`, waits for it first.
    pub(crate) fn collect(&self, wait: bool) -> Option<Snapshot> {
        let mut content = self.content();
        if wait {
            let waiting = |content: &mut Content| content.full.is_none() && !content.closed;
            let waited = self.given.wait_timeout_while(content, PATIENCE, waiting);
            content = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let full = content.full.take();
        // The worker may need this lock, and must not wait for the sums below.
        drop(content);
        // The driver computes the hash of the schedule over the whole run.
        full.map(|recorder| recorder.finish(ScheduleHash::default()))
    }
}

/// Sum of all recorders that were given away.
#[derive(Debug, Default)]
pub(crate) struct Collected(Mutex<Option<Snapshot>>);

impl Collected {
    /// Adds the contents of the mailboxes and returns a copy of the sum. If `ask`, first asks all workers for their
    /// recorders and waits for them.
    pub(crate) fn collect(&self, mailboxes: &[&Mailbox], ask: bool) -> Option<Snapshot> {
        if ask {
            mailboxes.iter().for_each(|mailbox| mailbox.ask());
        }
        let mut whole = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for part in mailboxes.iter().filter_map(|mailbox| mailbox.collect(ask)) {
            match whole.as_mut() {
                None => *whole = Some(part),
                Some(whole) => whole.merge(&part),
            }
        }
        whole.clone()
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::record::Tally;
    use truetail_model::time::Timestamp;

    use super::*;

    /// Returns a recorder with one planned arrival.
    fn one(options: RecorderOptions) -> Box<Recorder> {
        let mut recorder = Box::new(Recorder::new(options));
        recorder.plan(Timestamp::ZERO);
        recorder
    }

    #[test]
    fn a_late_recorder_is_not_replaced_by_the_next() {
        let options = RecorderOptions::default();
        let mailbox = Mailbox::new(options);
        let mut recorder = one(options);
        mailbox.ask();
        mailbox.give(&mut recorder);
        // The first thread has stopped waiting and left the recorder uncollected; another thread asks.
        mailbox.ask();
        recorder.plan(Timestamp::ZERO);
        mailbox.give(&mut recorder);
        mailbox.close();
        let collected = Collected::default();
        let given = collected.collect(&[&mailbox], false).map_or(Tally::default(), |snapshot| snapshot.tally);
        assert_eq!(given.planned + recorder.tally().planned, 2);
    }
}
