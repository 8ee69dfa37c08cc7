//! Single requests: all of them if they fit, else an even sample and the slowest.

use std::cmp::Reverse;

use super::slowest::Slowest;
use super::{Outcome, RequestRecord};
use crate::random::mix64;

/// Limits on the single requests that are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SamplesOptions {
    /// Capacity of the even part, which holds all requests while they fit.
    pub capacity: usize,
    /// Number of slowest requests that are kept apart if not all fit.
    pub slowest: usize,
}

impl SamplesOptions {
    /// Keeps no requests.
    pub const NONE: SamplesOptions = SamplesOptions { capacity: 0, slowest: 0 };
}

impl Default for SamplesOptions {
    /// Keeps 262,144 requests, and the 8,192 slowest: at most 40 MB.
    fn default() -> SamplesOptions {
        SamplesOptions { capacity: 1 << 18, slowest: 1 << 13 }
    }
}

/// Maximum number of halvings, so that [`Samples::one_in`] fits in 64 bits.
const MAX_HALVINGS: u32 = u64::BITS - 1;

/// Single requests of a run.
///
/// While all requests fit, all are kept (`one_in == 1`). Later the even part is halved: a hash of its index decides
/// whether a request stays, so the samples of workers can be merged. The slowest of the rest are kept apart.
///
/// Call [`Samples::settle`] after the last request, before anything is read.
#[derive(Clone, Debug)]
pub struct Samples {
    options: SamplesOptions,
    even: Vec<RequestRecord>,
    halvings: u32,
    /// End of the part of `even` that the last halving has finished.
    halved_up_to: usize,
    /// Value of `halvings` when the even part was last settled; `None` if unknown.
    settled_for: Option<u32>,
    slowest: Slowest,
    seen: u64,
}

impl Default for Samples {
    fn default() -> Samples {
        Samples::new(SamplesOptions::default())
    }
}

impl Samples {
    /// Creates empty samples with room for `capacity`, so that recording never allocates; untouched memory costs no
    /// RAM.
    pub fn new(options: SamplesOptions) -> Samples {
        Samples {
            options,
            even: Vec::with_capacity(options.capacity),
            halvings: 0,
            halved_up_to: 0,
            settled_for: Some(0),
            slowest: Slowest::new(options.slowest).with_room(),
            seen: 0,
        }
    }

    /// Offers one request.
    #[inline]
    pub fn offer(&mut self, record: &RequestRecord) {
        self.seen += 1;
        if self.options.capacity > 0 {
            self.take(record);
        }
    }

    /// Counts `n` requests without keeping any: the samples are no longer complete.
    pub(super) fn pass_over(&mut self, n: u64) {
        self.seen += n;
    }

    #[inline]
    fn take(&mut self, record: &RequestRecord) {
        match belongs(record.index, self.halvings) {
            false => self.slowest.offer(record),
            true if self.even.len() < self.options.capacity => self.even.push(*record),
            true => self.replace(record),
        }
    }

    /// Replaces a request that no longer belongs by `record`. A halving at once would take milliseconds during a run.
    fn replace(&mut self, record: &RequestRecord) {
        while self.halvings < MAX_HALVINGS && belongs(record.index, self.halvings) {
            let rest = &self.even[self.halved_up_to..];
            match rest.iter().position(|kept| !belongs(kept.index, self.halvings)) {
                Some(steps) => {
                    let place = self.halved_up_to + steps;
                    let left_out = std::mem::replace(&mut self.even[place], *record);
                    self.halved_up_to = place + 1;
                    return self.slowest.offer(&left_out);
                }
                None => {
                    self.halvings += 1;
                    self.halved_up_to = 0;
                }
            }
        }
        self.slowest.offer(record);
    }

    /// Drops the requests that the halvings leave out. Call it at the end of a run, before anything is read.
    pub fn settle(&mut self) {
        // Requests that were added since then belong to the even part.
        if self.settled_for == Some(self.halvings) {
            return;
        }
        let halvings = self.halvings;
        let slowest = &mut self.slowest;
        self.even.retain(|record| {
            let stays = belongs(record.index, halvings);
            if !stays {
                slowest.offer(record);
            }
            stays
        });
        self.halved_up_to = 0;
        self.settled_for = Some(halvings);
    }

    /// Returns true if every request of the run is kept.
    pub fn is_complete(&self) -> bool {
        self.halvings == 0 && self.even.len() as u64 == self.seen
    }

    /// Returns n if the even part holds one request in n.
    pub fn one_in(&self) -> u64 {
        1 << self.halvings
    }

    /// Returns the number of requests offered.
    pub fn offered(&self) -> u64 {
        self.seen
    }

    /// Returns the even part: all requests, or one in [`Samples::one_in`], in no stated order.
    pub fn even(&self) -> &[RequestRecord] {
        &self.even
    }

    /// Returns the slowest of the requests that the even part left out, in no stated order.
    pub fn slowest_left_out(&self) -> impl Iterator<Item = &RequestRecord> {
        self.slowest.iter()
    }

    /// Returns the requests with the longest response times that are kept, slowest first, without those that were never
    /// sent. If not all requests are kept and more of them failed than are kept apart, a slower answer may be missing.
    pub fn longest(&self, count: usize) -> Vec<&RequestRecord> {
        let kept = self.even.iter().chain(self.slowest.iter());
        let mut sent: Vec<&RequestRecord> = kept.filter(|record| record.outcome != Outcome::NeverIssued).collect();
        let by_length = |record: &&RequestRecord| (Reverse(record.response_time()), record.index);
        if sent.len() > count {
            sent.select_nth_unstable_by_key(count, by_length);
            sent.truncate(count);
        }
        sent.sort_unstable_by_key(by_length);
        sent
    }

    /// Adds the samples of another worker.
    pub fn merge(&mut self, other: &Samples) {
        if self.halvings < other.halvings {
            self.halvings = other.halvings;
            self.settle();
        }
        self.seen += other.seen;
        other.slowest.iter().for_each(|record| self.slowest.offer(record));
        if self.options.capacity > 0 {
            other.even.iter().for_each(|record| self.take(record));
        }
        self.settle();
    }

    /// Returns the options.
    pub fn options(&self) -> SamplesOptions {
        self.options
    }

    /// Rebuilds samples from a file. `one_in` is a power of two: the even part holds one request in `one_in`. `seen`
    /// is the number of requests offered.
    pub fn from_parts(
        options: SamplesOptions,
        even: Vec<RequestRecord>,
        one_in: u64,
        only_slow: &[RequestRecord],
        seen: u64,
    ) -> Samples {
        let halvings = one_in.max(1).trailing_zeros();
        let slowest = Slowest::new(options.slowest);
        let mut samples = Samples { options, even, halvings, halved_up_to: 0, settled_for: None, slowest, seen };
        only_slow.iter().for_each(|record| samples.slowest.offer(record));
        samples
    }
}

/// Returns true if the request of this index is in the even part after this many halvings.
fn belongs(index: u64, halvings: u32) -> bool {
    mix64(index ^ 0x5341_4d50).trailing_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival::Arrival;
    use crate::time::Timestamp;

    #[test]
    fn the_longest_are_found_among_all_that_are_kept() {
        let answered = Outcome::Response { status: 200 };
        let mut samples = Samples::new(SamplesOptions { capacity: 100, slowest: 20 });
        for index in 0..1_000 {
            let arrival = Arrival { index, intended_start: Timestamp(index) };
            let end = Timestamp(index + mix64(index) % 1_000_000);
            samples.offer(&RequestRecord::new(arrival, arrival.intended_start, end, answered));
        }
        let never = Arrival { index: 1_000, intended_start: Timestamp::ZERO };
        samples.offer(&RequestRecord::never_issued(never, Timestamp(u64::MAX)));
        samples.settle();
        let mut expected: Vec<u64> = (0..1_000).collect();
        expected.sort_by_key(|index| (Reverse(mix64(*index) % 1_000_000), *index));
        let longest: Vec<u64> = samples.longest(10).iter().map(|record| record.index).collect();
        assert_eq!(longest, expected[..10]);
        assert_eq!(samples.longest(5_000).len(), samples.even().len() + samples.slowest_left_out().count() - 1);
    }

    /// A file may hold such requests: every halving keeps this index.
    #[test]
    fn requests_that_no_halving_drops_end_the_halving() {
        const IN_EVERY_PART: u64 = 0x5341_4d50;
        assert!(belongs(IN_EVERY_PART, 64));
        let arrival = Arrival { index: IN_EVERY_PART, intended_start: Timestamp::ZERO };
        let record = RequestRecord::never_issued(arrival, Timestamp::ZERO);
        let mut samples = Samples::new(SamplesOptions { capacity: 2, slowest: 1 });
        (0..5).for_each(|_| samples.offer(&record));
        samples.settle();
        assert_eq!((samples.offered(), samples.even().len(), samples.one_in()), (5, 2, 1 << 63));
        let other = samples.clone();
        samples.merge(&other);
        assert_eq!((samples.offered(), samples.even().len(), samples.one_in()), (10, 2, 1 << 63));
    }
}
