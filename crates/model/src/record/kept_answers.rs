//! Items of the requests that a run keeps.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashSet};

use super::{EvenPart, OfRequest, Samples, SamplesOptions};
use crate::time::Nanos;

/// Items of single answers, as a run keeps its requests: the even part, and the slowest of the others.
#[derive(Clone, Debug)]
pub struct KeptAnswers<T> {
    even: EvenPart<TimedItem<T>>,
    slowest: SlowestItems<T>,
}

/// Item of an answer with this response time.
#[derive(Clone, Copy, Debug)]
struct TimedItem<T> {
    item: T,
    response_time: Nanos,
}

impl<T: OfRequest> OfRequest for TimedItem<T> {
    fn index(&self) -> u64 {
        self.item.index()
    }
}

/// Slow items are greater. Of two equally slow ones, the one planned first is slower.
impl<T: OfRequest> Ord for TimedItem<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |timed: &Self| (timed.response_time, Reverse(timed.index()));
        key(self).cmp(&key(other))
    }
}

impl<T: OfRequest> PartialOrd for TimedItem<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: OfRequest> PartialEq for TimedItem<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: OfRequest> Eq for TimedItem<T> {}

/// The slowest of all items offered, up to a fixed number.
#[derive(Clone, Debug)]
struct SlowestItems<T> {
    most: usize,
    fastest_first: BinaryHeap<Reverse<TimedItem<T>>>,
}

impl<T: OfRequest> SlowestItems<T> {
    fn offer(&mut self, timed: &TimedItem<T>) {
        if self.fastest_first.len() < self.most {
            self.fastest_first.push(Reverse(*timed));
        } else if let Some(mut fastest) = self.fastest_first.peek_mut().filter(|fastest| fastest.0 < *timed) {
            *fastest = Reverse(*timed);
        }
    }
}

impl<T: OfRequest> KeptAnswers<T> {
    /// Creates an empty part with room for as many answers as a run keeps.
    pub fn with_room() -> KeptAnswers<T> {
        KeptAnswers::new(SamplesOptions::default())
    }

    /// Creates a part that is never added to.
    pub fn empty() -> KeptAnswers<T> {
        KeptAnswers::new(SamplesOptions::NONE)
    }

    fn new(options: SamplesOptions) -> KeptAnswers<T> {
        let fastest_first = BinaryHeap::with_capacity(options.slowest);
        let slowest = SlowestItems { most: options.slowest, fastest_first };
        KeptAnswers { even: EvenPart::new(options.capacity), slowest }
    }

    /// Offers the item of an answer with this response time.
    pub fn keep(&mut self, item: &T, response_time: Nanos) {
        let timed = TimedItem { item: *item, response_time };
        self.even.offer(&timed, |left_out| self.slowest.offer(left_out));
    }

    /// Changes each item. The indices must stay.
    pub fn change_each(&mut self, change: impl Fn(&T) -> T) {
        let changed = |timed: &TimedItem<T>| TimedItem { item: change(&timed.item), ..*timed };
        self.even.change_each(|timed| *timed = changed(timed));
        let items = std::mem::take(&mut self.slowest.fastest_first);
        self.slowest.fastest_first = items.into_iter().map(|Reverse(timed)| Reverse(changed(&timed))).collect();
    }

    fn is_empty(&self) -> bool {
        self.even.items().is_empty() && self.slowest.fastest_first.is_empty()
    }

    /// Adds the answers of another worker, which has room for as many.
    pub fn merge(&mut self, other: KeptAnswers<T>) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = other;
            self.even.settle(|left_out| self.slowest.offer(left_out));
            return;
        }
        other.slowest.fastest_first.iter().for_each(|Reverse(timed)| self.slowest.offer(timed));
        self.even.merge(&other.even, |left_out| self.slowest.offer(left_out));
    }

    /// Returns the items of the requests in `samples`, by index.
    pub fn of_samples(&self, samples: &Samples) -> Vec<T> {
        let kept: HashSet<u64> =
            samples.even().iter().chain(samples.slowest_left_out()).map(|record| record.index).collect();
        let slowest = self.slowest.fastest_first.iter().map(|Reverse(timed)| timed);
        let all = self.even.items().iter().chain(slowest).map(|timed| timed.item);
        let mut items: Vec<T> = all.filter(|item| kept.contains(&item.index())).collect();
        items.sort_by_key(OfRequest::index);
        items.dedup_by_key(|item| item.index());
        items
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Outcome, RequestRecord};
    use super::*;
    use crate::arrival::Arrival;
    use crate::random::mix64;
    use crate::time::Timestamp;

    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Item(u64);

    impl OfRequest for Item {
        fn index(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn every_request_that_a_run_keeps_has_its_item() {
        let options = SamplesOptions { capacity: 64, slowest: 16 };
        let mut samples = Samples::new(options);
        let mut workers = [KeptAnswers::new(options), KeptAnswers::new(options)];
        for index in 0..1_000 {
            let arrival = Arrival { index, intended_start: Timestamp(index) };
            let end = Timestamp(index + mix64(index) % 10_000);
            let record = RequestRecord::new(arrival, arrival.intended_start, end, Outcome::response(200));
            samples.offer(&record);
            workers[index as usize % 2].keep(&Item(index), record.response_time());
        }
        samples.settle();
        let [mut whole, other] = workers;
        whole.merge(other);
        let mut kept: Vec<u64> =
            samples.even().iter().chain(samples.slowest_left_out()).map(|record| record.index).collect();
        kept.sort_unstable();
        let items: Vec<u64> = whole.of_samples(&samples).into_iter().map(|item| item.0).collect();
        assert_eq!(items, kept);
        assert!(samples.slowest_left_out().count() == 16 && !samples.is_complete());
    }
}
