//! Times that the service reported with its answers (`--server-timing`).

use serde::{Deserialize, Serialize};
use truetail_model::record::OfRequest;
use truetail_model::time::Nanos;

/// Limit on the names of reported times in a run.
pub const MAX_PARTS: usize = 8;

/// Times that the service reported with its answers, without the warm-up.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ServerTiming {
    /// The headers that were read: `server-timing`, or `header:NAME:UNIT`.
    pub sources: Vec<String>,
    /// Parts that contain others, outermost first, such as `edge > app > db`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nesting: Vec<String>,
    /// Names of the parts, at most [`MAX_PARTS`].
    pub names: Vec<String>,
    /// Answers with at least one time.
    pub answers: u64,
    /// Answers without any.
    pub without: u64,
    /// Times that could not be read, and times with further names.
    pub unread: u64,
    /// Times of the single requests that the run keeps, by index. They are saved in a separate file.
    #[serde(skip)]
    pub times: Vec<ReportedTimes>,
}

impl ServerTiming {
    /// Returns the times that were reported with the answer to the request with this index.
    pub fn of(&self, index: u64) -> Option<&ReportedTimes> {
        let place = self.times.binary_search_by_key(&index, ReportedTimes::index).ok()?;
        self.times.get(place)
    }

    /// Returns the part that contains the part with this name directly, by the user's order.
    pub fn parent_of(&self, name: &str) -> Option<&str> {
        let pairs = self.nesting.iter().flat_map(|order| {
            let names: Vec<&str> = order.split('>').map(str::trim).collect();
            names.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
        });
        pairs.into_iter().find(|(_, inner)| *inner == name).map(|(outer, _)| outer)
    }
}

/// Times that were reported with one answer, each at the place of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportedTimes {
    index: u64,
    /// In nanoseconds; [`ABSENT`] if there is no time.
    times: [u64; MAX_PARTS],
}

const ABSENT: u64 = u64::MAX;

impl OfRequest for ReportedTimes {
    fn index(&self) -> u64 {
        self.index
    }
}

impl ReportedTimes {
    /// Returns no times of the request with this index.
    pub fn none(index: u64) -> ReportedTimes {
        ReportedTimes { index, times: [ABSENT; MAX_PARTS] }
    }

    /// Returns the index of the request in the whole schedule.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the time of the name at this place.
    pub fn get(&self, place: usize) -> Option<Nanos> {
        self.times.get(place).filter(|time| **time != ABSENT).map(|time| Nanos(*time))
    }

    /// Adds to the time of the name at this place, up to about 500 years.
    pub fn add(&mut self, place: usize, time: Nanos) {
        let before = self.get(place).unwrap_or(Nanos::ZERO);
        if let Some(slot) = self.times.get_mut(place) {
            *slot = before.0.saturating_add(time.0).min(ABSENT - 1);
        }
    }

    /// Returns true if no time was reported.
    pub fn is_empty(&self) -> bool {
        self.times.iter().all(|time| *time == ABSENT)
    }

    /// Returns the times with each at a new place. `places` has the new place for each old one.
    #[must_use]
    pub fn moved(&self, places: &[Option<usize>]) -> ReportedTimes {
        let mut moved = ReportedTimes::none(self.index);
        for (from, to) in places.iter().enumerate() {
            if let Some((to, time)) = to.zip(self.get(from)) {
                moved.add(to, time);
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_says_what_contains_what() {
        let nesting = vec!["edge>app > db".to_owned(), "app > cache".to_owned()];
        let timing = ServerTiming { nesting, ..ServerTiming::default() };
        let parents = ["edge", "app", "db", "cache", "x"].map(|name| timing.parent_of(name));
        assert_eq!(parents, [None, Some("edge"), Some("app"), Some("app"), None]);
    }

    #[test]
    fn times_move_with_their_names() {
        let mut times = ReportedTimes::none(7);
        assert!(times.is_empty());
        times.add(0, Nanos(5));
        times.add(0, Nanos(1));
        times.add(2, Nanos(9));
        times.add(MAX_PARTS, Nanos(1));
        let moved = times.moved(&[Some(1), None, None]);
        assert_eq!((moved.index(), moved.get(0), moved.get(1), moved.get(2)), (7, None, Some(Nanos(6)), None));
    }
}
