//! What the server saw.

use truetail_model::time::Timestamp;

/// The requests that a server admitted, on its fault clock, which starts at the first of them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Saw {
    /// In order of arrival: (when its head had been read, when its answer had left), nanoseconds.
    requests: Vec<(u64, Option<u64>)>,
}

impl Saw {
    /// These requests, in any order: (arrived, answered), nanoseconds on the fault clock.
    pub fn new(mut requests: Vec<(u64, Option<u64>)>) -> Saw {
        requests.sort_unstable();
        Saw { requests }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.requests.len() as u64
    }

    /// How many were answered.
    pub fn answered(&self) -> u64 {
        self.requests.iter().filter(|(_, answered)| answered.is_some()).count() as u64
    }

    /// When each arrived, ascending.
    pub fn arrivals_ns(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.requests.iter().map(|(arrived, _)| *arrived)
    }

    /// How many arrived from `from` on and before `to`.
    pub fn between(&self, from: Timestamp, to: Timestamp) -> u64 {
        let before = |instant: Timestamp| self.requests.partition_point(|(arrived, _)| *arrived < instant.0);
        before(to).saturating_sub(before(from)) as u64
    }

    /// Requests a second from the first arrival to the last; `None` for fewer than two, or all at once.
    pub fn rate_per_second(&self) -> Option<f64> {
        let (first, last) = (self.requests.first()?.0, self.requests.last()?.0);
        (last > first).then(|| (self.requests.len() - 1) as f64 / ((last - first) as f64 / 1e9))
    }
}
