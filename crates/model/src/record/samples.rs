//! Single requests: all of them where they fit, else a stated sample that keeps the whole tail.

use super::RequestRecord;
use super::slowest::Slowest;
use crate::random::mix64;

/// How many single requests are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SamplesOptions {
    /// At most this many are kept as all, or as an even part of all.
    pub capacity: usize,
    /// When not all fit: this many are kept besides, the slowest of those that are left out.
    pub slowest: usize,
}

impl SamplesOptions {
    /// Keep none.
    pub const NONE: SamplesOptions = SamplesOptions { capacity: 0, slowest: 0 };
}

impl Default for SamplesOptions {
    /// 262 144 requests, and the 8 192 slowest: at most 31 MB.
    fn default() -> SamplesOptions {
        SamplesOptions { capacity: 1 << 18, slowest: 1 << 13 }
    }
}

/// Single requests of a run.
///
/// While all fit, all are kept (`one_in == 1`). When they no longer do, the even part is halved: a request stays when a
/// hash of its index says so, whatever worker recorded it, so that two samples merge into one. The slowest of those that are
/// left out are kept apart.
/// [`Samples::settle`] comes between the last request and the first question.
#[derive(Clone, Debug)]
pub struct Samples {
    options: SamplesOptions,
    even: Vec<RequestRecord>,
    halvings: u32,
    /// Before this place of the even part there is nothing that the last halving left out.
    halved_up_to: usize,
    slowest: Slowest,
    seen: u64,
}

impl Default for Samples {
    fn default() -> Samples {
        Samples::new(SamplesOptions::default())
    }
}

impl Samples {
    /// None yet. Room for `capacity` is reserved at once, so that recording does not allocate (memory that is never
    /// touched costs no RAM).
    pub fn new(options: SamplesOptions) -> Samples {
        Samples {
            options,
            even: Vec::with_capacity(options.capacity),
            halvings: 0,
            halved_up_to: 0,
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

    #[inline]
    fn take(&mut self, record: &RequestRecord) {
        match belongs(record.index, self.halvings) {
            false => self.slowest.offer(record),
            true if self.even.len() < self.options.capacity => self.even.push(*record),
            true => self.replace(record),
        }
    }

    /// Puts `record` where one is that no longer belongs. So a halving costs each request a step or two, where to halve
    /// all at once would be milliseconds in the midst of a run.
    fn replace(&mut self, record: &RequestRecord) {
        while belongs(record.index, self.halvings) {
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

    /// Drops what the halvings left out, at the end of a run: to be called before anything is asked, once more than the
    /// capacity was offered.
    pub fn settle(&mut self) {
        let (halvings, slowest) = (self.halvings, &mut self.slowest);
        self.even.retain(|record| {
            let stays = belongs(record.index, halvings);
            if !stays {
                slowest.offer(record);
            }
            stays
        });
        self.halved_up_to = 0;
    }

    /// Every request of the run is here.
    pub fn is_complete(&self) -> bool {
        self.halvings == 0 && self.even.len() as u64 == self.seen
    }

    /// The even part holds one request in this many.
    pub fn one_in(&self) -> u64 {
        1 << self.halvings
    }

    /// How many requests were offered.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The even part: all requests, or one in [`Samples::one_in`], in no stated order.
    pub fn even(&self) -> &[RequestRecord] {
        &self.even
    }

    /// Requests that are here only because they are among the slowest of those that the even part left out, in no stated
    /// order.
    pub fn only_slow(&self) -> impl Iterator<Item = &RequestRecord> {
        self.slowest.iter()
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

    /// What is kept.
    pub fn options(&self) -> SamplesOptions {
        self.options
    }

    /// Rebuilds samples that were kept under `options` from what a file holds: the even part, one in `one_in` (a power
    /// of two), those that are there only because they are slow, and how many requests there were.
    pub fn from_parts(
        options: SamplesOptions,
        even: Vec<RequestRecord>,
        one_in: u64,
        only_slow: &[RequestRecord],
        seen: u64,
    ) -> Samples {
        let halvings = one_in.max(1).trailing_zeros();
        let slowest = Slowest::new(options.slowest);
        let mut samples = Samples { options, even, halvings, halved_up_to: 0, slowest, seen };
        only_slow.iter().for_each(|record| samples.slowest.offer(record));
        samples
    }
}

/// Is the request of this index in the even part after so many halvings?
fn belongs(index: u64, halvings: u32) -> bool {
    mix64(index ^ 0x5341_4d50).trailing_zeros() >= halvings
}
