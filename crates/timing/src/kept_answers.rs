use std::cmp::Reverse;
use std::collections::HashSet;

use truetail_model::record::{EvenPart, OfRequest, Samples, SamplesOptions};
use truetail_model::time::Nanos;

/// Number of the slowest answers that are kept beside the even part.
const SLOWEST_KEPT: usize = 16;

/// Items of single answers: the even part and the slowest, as the run keeps its requests.
#[derive(Clone, Debug)]
pub(crate) struct KeptAnswers<T> {
    even: EvenPart<T>,
    /// The slowest answers with their response times, the slowest first.
    slowest: Vec<(Nanos, T)>,
}

impl<T: OfRequest> KeptAnswers<T> {
    /// Creates an empty part with room for as many answers as a run keeps.
    pub(crate) fn with_room() -> KeptAnswers<T> {
        KeptAnswers::new(SamplesOptions::default().capacity)
    }

    /// Creates a part that is never added to.
    pub(crate) fn empty() -> KeptAnswers<T> {
        KeptAnswers::new(0)
    }

    fn new(capacity: usize) -> KeptAnswers<T> {
        KeptAnswers { even: EvenPart::new(capacity), slowest: Vec::with_capacity(SLOWEST_KEPT + 1) }
    }

    pub(crate) fn keep(&mut self, item: &T, response_time: Nanos) {
        self.even.offer(item, |_| {});
        // In descending order, so that nearly every answer is compared with one other.
        let is_fast = self.slowest.last().is_some_and(|(fastest, _)| response_time <= *fastest);
        if is_fast && self.slowest.len() >= SLOWEST_KEPT {
            return;
        }
        let place = self.slowest.partition_point(|(time, _)| *time > response_time);
        self.slowest.insert(place, (response_time, *item));
        self.slowest.truncate(SLOWEST_KEPT);
    }

    pub(crate) fn change_each(&mut self, change: impl Fn(&T) -> T) {
        self.even.change_each(|item| *item = change(item));
        self.slowest.iter_mut().for_each(|(_, item)| *item = change(item));
    }

    /// Adds the answers of another worker.
    pub(crate) fn merge(&mut self, mut other: KeptAnswers<T>) {
        self.even.merge(&other.even, |_| {});
        self.slowest.append(&mut other.slowest);
        self.slowest.sort_by_key(|(time, _)| Reverse(*time));
        self.slowest.truncate(SLOWEST_KEPT);
    }

    /// Returns the items of the requests in `samples`, by index.
    pub(crate) fn of_samples(&self, samples: &Samples) -> Vec<T> {
        let kept: HashSet<u64> =
            samples.even().iter().chain(samples.slowest_left_out()).map(|record| record.index).collect();
        let all = self.even.items().iter().chain(self.slowest.iter().map(|(_, item)| item));
        let mut items: Vec<T> = all.filter(|item| kept.contains(&item.index())).copied().collect();
        items.sort_by_key(OfRequest::index);
        items.dedup_by_key(|item| item.index());
        items
    }
}
