//! Single requests: all of them if they fit, else an even sample and the slowest.

use std::cmp::Reverse;

use super::even_part::EvenPart;
use super::slowest::Slowest;
use super::{Outcome, RequestRecord};

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
    /// Keeps 262,144 requests, and the 8,192 slowest: at most 44 MB.
    fn default() -> SamplesOptions {
        SamplesOptions { capacity: 1 << 18, slowest: 1 << 13 }
    }
}

/// Single requests of a run.
///
/// While all requests fit, all are kept (`one_in == 1`). Later the even part is halved: a hash of its index decides
/// whether a request stays, so the samples of workers can be merged. The slowest of the rest are kept apart.
///
/// Call [`Samples::settle`] after the last request, before anything is read.
#[derive(Clone, Debug)]
pub struct Samples {
    options: SamplesOptions,
    even: EvenPart<RequestRecord>,
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
            even: EvenPart::new(options.capacity),
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
        let slowest = &mut self.slowest;
        self.even.offer(record, |left_out| slowest.offer(left_out));
    }

    /// Drops the requests that the halvings leave out. Call it at the end of a run, before anything is read.
    pub fn settle(&mut self) {
        let slowest = &mut self.slowest;
        self.even.settle(|left_out| slowest.offer(left_out));
    }

    /// Returns true if every request of the run is kept.
    pub fn is_complete(&self) -> bool {
        self.one_in() == 1 && self.even().len() as u64 == self.seen
    }

    /// Returns n if the even part holds one request in n.
    pub fn one_in(&self) -> u64 {
        self.even.one_in()
    }

    /// Returns the number of requests offered.
    pub fn offered(&self) -> u64 {
        self.seen
    }

    /// Returns the even part: all requests, or one in [`Samples::one_in`], in no stated order.
    pub fn even(&self) -> &[RequestRecord] {
        self.even.items()
    }

    /// Returns the slowest of the requests that the even part left out, in no stated order.
    pub fn slowest_left_out(&self) -> impl Iterator<Item = &RequestRecord> {
        self.slowest.iter()
    }

    /// Returns the kept requests with the longest response times, slowest first, without requests that were never sent.
    /// A slower answer may be missing if not all requests are kept, and more of them failed than are kept apart.
    pub fn longest(&self, count: usize) -> Vec<&RequestRecord> {
        let kept = self.even().iter().chain(self.slowest.iter());
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
        self.seen += other.seen;
        let slowest = &mut self.slowest;
        other.slowest.iter().for_each(|record| slowest.offer(record));
        self.even.merge(&other.even, |left_out| slowest.offer(left_out));
    }

    /// Changes each kept request. Its index, times and outcome must stay.
    pub fn change_each(&mut self, mut change: impl FnMut(&mut RequestRecord)) {
        self.even.change_each(&mut change);
        self.slowest.change_each(change);
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
        let slowest = Slowest::new(options.slowest);
        let even = EvenPart::from_items(options.capacity, even, one_in);
        let mut samples = Samples { options, even, slowest, seen };
        only_slow.iter().for_each(|record| samples.slowest.offer(record));
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::super::even_part::is_in_even_part;
    use super::*;
    use crate::arrival::Arrival;
    use crate::random::mix64;
    use crate::time::Timestamp;

    #[test]
    fn the_longest_are_found_among_all_that_are_kept() {
        let answered = Outcome::response(200);
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
        assert!(is_in_even_part(IN_EVERY_PART, 64));
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
