//! Single requests: all of them where they fit, else a stated sample that keeps the whole tail.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Outcome, RequestRecord};
use crate::random::mix64;

/// How many single requests are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SamplesOptions {
    /// At most this many are kept as all, or as an even part of all.
    pub capacity: usize,
    /// When not all fit: this many of the slowest are kept besides.
    pub slowest: usize,
}

impl SamplesOptions {
    /// Keep none.
    pub const NONE: SamplesOptions = SamplesOptions { capacity: 0, slowest: 0 };
}

impl Default for SamplesOptions {
    /// 262 144 requests, and the 65 536 slowest: at most 30 MB.
    fn default() -> SamplesOptions {
        SamplesOptions { capacity: 1 << 18, slowest: 1 << 16 }
    }
}

/// Single requests of a run.
///
/// While all fit, all are kept (`one_in == 1`). When they no longer do, the even part is halved: a request stays when a
/// hash of its index says so, whatever hand recorded it, so that two samples merge into one. The slowest are kept apart.
/// [`Samples::settle`] comes between the last request and the first question.
#[derive(Clone, Debug)]
pub struct Samples {
    options: SamplesOptions,
    even: Vec<RequestRecord>,
    halvings: u32,
    /// Before this place of the even part there is nothing that the last halving left out.
    halved_up_to: usize,
    slowest: BinaryHeap<Reverse<Slow>>,
    seen: u64,
}

/// A request in the order of slowness; the unanswered are slower than every answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Slow(RequestRecord);

impl Slow {
    /// Of two that are equally slow the one planned first counts as slower, so that a service as steady as a clock does
    /// not make every request push another out.
    fn key(&self) -> (u8, u64, Reverse<u64>) {
        let class = match self.0.outcome {
            Outcome::Response { .. } => 0,
            outcome if outcome.is_censored() => 1,
            _ => 2,
        };
        (class, self.0.response_time().0, Reverse(self.0.index))
    }
}

impl Ord for Slow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Slow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
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
            slowest: BinaryHeap::with_capacity(options.slowest + usize::from(options.slowest > 0)),
            seen: 0,
        }
    }

    /// Offers one request.
    #[inline]
    pub fn offer(&mut self, record: &RequestRecord) {
        self.seen += 1;
        if self.options.capacity == 0 {
            return;
        }
        self.offer_slow(record);
        match belongs(record.index, self.halvings) {
            false => {}
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
                    self.even[place] = *record;
                    self.halved_up_to = place + 1;
                    return;
                }
                None => {
                    self.halvings += 1;
                    self.halved_up_to = 0;
                }
            }
        }
    }

    /// Drops what the halvings left out, at the end of a run: to be called before anything is asked, once more than the
    /// capacity was offered.
    pub fn settle(&mut self) {
        let halvings = self.halvings;
        self.even.retain(|record| belongs(record.index, halvings));
        self.halved_up_to = 0;
    }

    fn offer_slow(&mut self, record: &RequestRecord) {
        if self.options.slowest == 0 {
            return;
        }
        let slow = Slow(*record);
        if self.slowest.len() < self.options.slowest {
            self.slowest.push(Reverse(slow));
        } else if let Some(mut fastest) = self.slowest.peek_mut()
            && slow > fastest.0
        {
            *fastest = Reverse(slow);
        }
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

    /// Requests that are here only because they are among the slowest, in no stated order.
    pub fn only_slow(&self) -> impl Iterator<Item = &RequestRecord> {
        let halvings = self.halvings;
        self.slowest.iter().map(|Reverse(slow)| &slow.0).filter(move |record| !belongs(record.index, halvings))
    }

    /// Adds the samples of another hand.
    pub fn merge(&mut self, other: &Samples) {
        if self.halvings < other.halvings {
            self.halvings = other.halvings;
            self.settle();
        }
        let seen = self.seen + other.seen;
        other.slowest.iter().for_each(|Reverse(slow)| self.offer_slow(&slow.0));
        let slowest = std::mem::replace(&mut self.options.slowest, 0);
        other
            .even
            .iter()
            .filter(|record| belongs(record.index, self.halvings))
            .copied()
            .collect::<Vec<_>>()
            .iter()
            .for_each(|record| self.offer(record));
        self.settle();
        self.options.slowest = slowest;
        self.seen = seen;
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
        let slowest = BinaryHeap::new();
        let mut samples = Samples { options, even: Vec::new(), halvings, halved_up_to: 0, slowest, seen };
        // The slowest are found among both parts, so that a merge that halves the even part keeps the tail.
        even.iter().chain(only_slow).for_each(|record| samples.offer_slow(record));
        samples.even = even;
        samples
    }
}

/// Is the request of this index in the even part after so many halvings?
fn belongs(index: u64, halvings: u32) -> bool {
    mix64(index ^ 0x5341_4d50).trailing_zeros() >= halvings
}
