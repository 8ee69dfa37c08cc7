//! What was recorded so far, while a run goes on: a worker gives its recorder away and goes on with an empty one, which
//! takes it no longer than to exchange two pointers. Room for times is made with the new one, by whoever asks; the rows of
//! the seconds and intervals so far are not: the first record makes them, empty ones, of some 40 bytes for each second of
//! the run and 1 KiB for each interval. All that was given away is part of the result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use truetail_model::arrival::ScheduleHash;
use truetail_model::record::{Recorder, RecorderOptions, Snapshot};

/// A worker looks after each sleep, of 20 ms at most; one that takes this long was itself not running.
const PATIENCE: Duration = Duration::from_millis(500);

/// Between one worker and whoever asks. The worker looks in each turn, so nobody else writes into the lines that it is in.
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
    /// For the worker: an empty recorder.
    fresh: Option<Box<Recorder>>,
    /// From the worker: what it recorded.
    full: Option<Box<Recorder>>,
    /// The worker has ended and gives nothing any more.
    closed: bool,
}

impl Mailbox {
    pub(crate) fn new(options: RecorderOptions) -> Mailbox {
        Mailbox { options, asked: AtomicBool::new(false), content: Mutex::default(), given: Condvar::new() }
    }

    fn content(&self) -> std::sync::MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody asked for the recorder: the worker looks in each turn.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Called by the worker when it was asked: gives its recorder away.
    #[cold]
    pub(crate) fn give(&self, recorder: &mut Box<Recorder>) {
        let mut content = self.content();
        // What was given for somebody who had not the patience to wait is still there to be collected: it stays.
        if content.full.is_none()
            && let Some(fresh) = content.fresh.take()
        {
            content.full = Some(std::mem::replace(recorder, fresh));
        }
        self.asked.store(false, Ordering::Release);
        self.given.notify_all();
    }

    /// Called by the worker when it ends.
    pub(crate) fn close(&self) {
        self.content().closed = true;
        self.given.notify_all();
    }

    /// Asks for the recorder.
    pub(crate) fn ask(&self) {
        // Made here, so that the worker does not spend its time on it.
        let fresh = Box::new(Recorder::new(self.options));
        self.content().fresh.get_or_insert(fresh);
        self.asked.store(true, Ordering::Release);
    }

    /// What was given, after a wait for it; also what was given too late for an earlier wait.
    pub(crate) fn collect(&self, wait: bool) -> Option<Snapshot> {
        let mut content = self.content();
        if wait {
            let waiting = |content: &mut Content| content.full.is_none() && !content.closed;
            let waited = self.given.wait_timeout_while(content, PATIENCE, waiting);
            content = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let full = content.full.take();
        // The worker may come for this lock: it is not to wait for the sums below.
        drop(content);
        // The hash of a schedule is summed up by the driver, over the whole run.
        full.map(|recorder| recorder.finish(ScheduleHash::default()))
    }
}

/// All that was given away so far.
#[derive(Debug, Default)]
pub(crate) struct Collected(Mutex<Option<Snapshot>>);

impl Collected {
    /// Adds what the mailboxes hold, after asking for it and waiting if `ask`. A copy of all that was given so far.
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

    /// A recorder that knows of one planned arrival.
    fn one(options: RecorderOptions) -> Box<Recorder> {
        let mut recorder = Box::new(Recorder::new(options));
        recorder.plan(Timestamp::ZERO);
        recorder
    }

    #[test]
    fn what_was_given_too_late_is_not_replaced_by_what_is_given_next() {
        let options = RecorderOptions::default();
        let mailbox = Mailbox::new(options);
        let mut recorder = one(options);
        mailbox.ask();
        mailbox.give(&mut recorder);
        // Nobody collected it, because whoever asked had gone, and somebody else asks.
        mailbox.ask();
        recorder.plan(Timestamp::ZERO);
        mailbox.give(&mut recorder);
        mailbox.close();
        let collected = Collected::default();
        let given = collected.collect(&[&mailbox], false).map_or(Tally::default(), |snapshot| snapshot.tally);
        assert_eq!(given.planned + recorder.tally().planned, 2);
    }
}
