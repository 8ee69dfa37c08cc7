//! The requests as the server saw them.

use truetail_model::record::rank_of;
use truetail_model::time::{Nanos, Timestamp};

/// The requests that a server admitted, on its fault clock, which starts at the first of them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ServerView {
    /// In order of arrival: (end of reading the head, departure of the answer), nanoseconds.
    requests: Vec<(u64, Option<u64>)>,
}

impl ServerView {
    /// Takes requests in any order: (arrived, answered), nanoseconds on the fault clock.
    pub fn new(mut requests: Vec<(u64, Option<u64>)>) -> ServerView {
        requests.sort_unstable();
        ServerView { requests }
    }

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.requests.len() as u64
    }

    /// Returns the arrival of each request, ascending.
    pub fn arrivals_ns(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.requests.iter().map(|(arrived, _)| *arrived)
    }

    /// Returns the number of requests that arrived from `from` to before `to`.
    pub fn between(&self, from: Timestamp, to: Timestamp) -> u64 {
        let before = |instant: Timestamp| self.requests.partition_point(|(arrived, _)| *arrived < instant.0);
        before(to).saturating_sub(before(from)) as u64
    }

    /// Returns quantile `q` of the time from arrival to answer, over the answered requests. It shows what the server
    /// did in this run, which on a busy machine is slower than its scenario says.
    pub fn served(&self, q: f64) -> Option<Nanos> {
        let time =
            |(arrived, answered): &(u64, Option<u64>)| answered.map(|answered| answered.saturating_sub(*arrived));
        let mut times: Vec<u64> = self.requests.iter().filter_map(time).collect();
        let rank = rank_of(q, times.len() as u64).checked_sub(1)? as usize;
        (rank < times.len()).then(|| Nanos(*times.select_nth_unstable(rank).1))
    }

    /// Returns the largest number of requests in flight at once. Unanswered requests count until the end.
    pub fn max_in_flight(&self) -> u64 {
        let mut ends: Vec<u64> = self.requests.iter().filter_map(|(_, answered)| *answered).collect();
        ends.sort_unstable();
        let mut ended = 0;
        let under_way = self.arrivals_ns().zip(1u64..).map(|(arrived, begun)| {
            while ended < ends.len() && ends[ended] <= arrived {
                ended += 1;
            }
            begun.saturating_sub(ended as u64)
        });
        under_way.max().unwrap_or(0)
    }

    /// Returns the requests per second from the first arrival to the last, or `None` if all arrived at once.
    pub fn rate_per_second(&self) -> Option<f64> {
        let first = self.requests.first()?.0;
        let last = self.requests.last()?.0;
        (last > first).then(|| (self.requests.len() - 1) as f64 / ((last - first) as f64 / 1e9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_served_is_of_those_that_were_answered() {
        let view = ServerView::new((1..=100).map(|n| (n * 10, (n % 2 == 0).then_some(n * 11))).collect());
        assert_eq!([0.5, 0.99, 1.0].map(|q| view.served(q)), [Some(Nanos(50)), Some(Nanos(100)), Some(Nanos(100))]);
        assert_eq!(ServerView::default().served(0.5), None);
    }
}
