//! Detects pauses of a worker from the end of each intended sleep and the last reading of the clock.

use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{LONGEST_PAUSES, Pause};

/// Shortest pause. Shorter gaps are the usual cost of a sleep or a burst of work, and are part of the generator lag.
const WORTH_NOTING: Nanos = Nanos::from_millis(1);

/// Collects the periods when a worker should have run and did not.
#[derive(Debug)]
pub(crate) struct PauseDetector {
    /// Latest instant that needs no explanation: the end of an intended sleep, or the last reading of the clock.
    expected_by: Timestamp,
    pauses: Vec<Pause>,
    count: u64,
    total: Nanos,
}

impl PauseDetector {
    pub(crate) fn new() -> PauseDetector {
        let pauses = Vec::with_capacity(2 * LONGEST_PAUSES);
        PauseDetector { expected_by: Timestamp::ZERO, pauses, count: 0, total: Nanos::ZERO }
    }

    #[inline]
    pub(crate) fn mark_awake(&mut self, now: Timestamp) {
        let late = now.since(self.expected_by);
        if late >= WORTH_NOTING {
            self.note(late);
        }
        self.expected_by = now;
    }

    /// Records that the worker will sleep until `until` at the latest.
    #[inline]
    pub(crate) fn mark_sleeping(&mut self, until: Timestamp) {
        self.expected_by = until;
    }

    #[cold]
    fn note(&mut self, length: Nanos) {
        self.count += 1;
        self.total += length;
        if self.pauses.len() == self.pauses.capacity() {
            self.keep_the_longest();
        }
        self.pauses.push(Pause { worker: 0, at_ns: self.expected_by.0, length_ns: length.0 });
    }

    fn keep_the_longest(&mut self) {
        self.pauses.sort_unstable_by_key(|pause| std::cmp::Reverse(pause.length_ns));
        self.pauses.truncate(LONGEST_PAUSES);
    }

    pub(crate) fn total(&self) -> Nanos {
        self.total
    }

    /// Returns the longest pauses, longest first, the number of all pauses, and their sum. All pauses name worker 0;
    /// the merge of the workers sets the number.
    pub(crate) fn finish(mut self) -> (Vec<Pause>, u64, Nanos) {
        self.keep_the_longest();
        (self.pauses, self.count, self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_long_sleep_is_no_pause_and_oversleeping_is() {
        let mut detector = PauseDetector::new();
        detector.mark_sleeping(Timestamp(50 * MS));
        detector.mark_awake(Timestamp(50 * MS + 30_000));
        detector.mark_sleeping(Timestamp(60 * MS));
        detector.mark_awake(Timestamp(55 * MS));
        detector.mark_sleeping(Timestamp(65 * MS));
        detector.mark_awake(Timestamp(1565 * MS));
        let (pauses, count, total) = detector.finish();
        assert_eq!((count, total), (1, Nanos(1500 * MS)));
        assert_eq!(pauses, [Pause { worker: 0, at_ns: 65 * MS, length_ns: 1500 * MS }]);
    }

    #[test]
    fn gaps_in_work_are_pauses_and_only_the_longest_are_kept() {
        let mut detector = PauseDetector::new();
        let mut now = Timestamp::ZERO;
        for i in 1..=1000 {
            now = now + Nanos(MS * i);
            detector.mark_awake(now);
        }
        let (pauses, count, total) = detector.finish();
        assert_eq!((pauses.len(), count), (LONGEST_PAUSES, 1000));
        assert_eq!(total, Nanos(MS * 500_500));
        assert!(
            pauses.windows(2).all(|w| w[0].length_ns >= w[1].length_ns)
                && pauses[LONGEST_PAUSES - 1].length_ns == MS * 901
        );
    }
}
