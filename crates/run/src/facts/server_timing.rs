//! Times that the service reported, with its answers (`--server-timing`) or as spans (`--otlp-receive`).

use serde::{Deserialize, Serialize};
use truetail_model::record::OfRequest;
use truetail_model::time::Nanos;

use super::spans::SpanBooks;

/// Limit on the names of reported times in a run.
pub const MAX_PARTS: usize = 8;

/// Times that the service reported, without the warm-up.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ServerTiming {
    /// The headers that were read: `server-timing`, or `header:NAME:UNIT`. Or `spans` alone.
    pub sources: Vec<String>,
    /// Parts that contain others, outermost first, such as `edge > app > db`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nesting: Vec<String>,
    /// Names of the parts, at most [`MAX_PARTS`].
    pub names: Vec<String>,
    /// Answers with at least one time. With spans: of the requests that the run keeps and that asked for a trace. If
    /// a warm-up was cut off a long run afterwards: of the even part of the requests that the run keeps.
    pub answers: u64,
    /// Such answers without any time.
    pub without: u64,
    /// Times that could not be read, and times with further names.
    pub unread: u64,
    /// Books of the spans, if the times are from spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spans: Option<SpanBooks>,
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

    /// Returns true if both have the same settings and names, and times of different requests. Several runs of one load
    /// share indices, so the times of one would be taken for those of another.
    pub fn can_merge(&self, other: &ServerTiming) -> bool {
        let mut names: Vec<&String> = self.names.iter().chain(&other.names).collect();
        names.sort_unstable();
        names.dedup();
        let is_alike = self.sources == other.sources && self.nesting == other.nesting && names.len() <= MAX_PARTS;
        is_alike && other.times.iter().all(|times| self.of(times.index()).is_none())
    }

    /// Adds the times of another part of the load, if [`ServerTiming::can_merge`]. Sums saturate.
    #[must_use]
    pub fn merged_with(mut self, other: &ServerTiming) -> ServerTiming {
        let new: Vec<String> = other.names.iter().filter(|name| !self.names.contains(name)).cloned().collect();
        self.names.extend(new);
        let places: Vec<Option<usize>> =
            other.names.iter().map(|name| self.names.iter().position(|known| known == name)).collect();
        self.times.extend(other.times.iter().map(|times| times.moved(&places)));
        self.times.sort_by_key(ReportedTimes::index);
        self.answers = self.answers.saturating_add(other.answers);
        self.without = self.without.saturating_add(other.without);
        self.unread = self.unread.saturating_add(other.unread);
        self.spans.iter_mut().zip(&other.spans).for_each(|(spans, other)| spans.add(other));
        self
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
    /// Number of spans that have a part in the times. It is not saved.
    spans: u64,
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
    #[inline]
    pub fn none(index: u64) -> ReportedTimes {
        ReportedTimes::of_spans(index, 0)
    }

    /// Returns no times of the request with this index, for this number of spans.
    #[inline]
    pub fn of_spans(index: u64, spans: u64) -> ReportedTimes {
        ReportedTimes { index, spans, times: [ABSENT; MAX_PARTS] }
    }

    /// Returns the same times, of the request with this index.
    #[must_use]
    pub fn of_request(self, index: u64) -> ReportedTimes {
        ReportedTimes { index, ..self }
    }

    /// Returns the number of spans that have a part in the times; 0 in a run that was loaded.
    pub fn spans(&self) -> u64 {
        self.spans
    }

    /// Returns the index of the request in the whole schedule.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the time of the name at this place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<Nanos> {
        self.times.get(place).filter(|time| **time != ABSENT).map(|time| Nanos(*time))
    }

    /// Adds to the time of the name at this place, up to about 500 years.
    #[inline]
    pub fn add(&mut self, place: usize, time: Nanos) {
        let before = self.get(place).unwrap_or(Nanos::ZERO);
        if let Some(slot) = self.times.get_mut(place) {
            *slot = before.0.saturating_add(time.0).min(ABSENT - 1);
        }
    }

    /// Returns true if no time was reported.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.times.iter().all(|time| *time == ABSENT)
    }

    /// Returns the times with each at a new place. `places` has the new place for each old one.
    #[must_use]
    pub fn moved(&self, places: &[Option<usize>]) -> ReportedTimes {
        let mut moved = ReportedTimes::of_spans(self.index, self.spans);
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
    fn parts_of_one_load_are_merged_and_runs_of_one_load_are_not() {
        let part = |index, name: &str| {
            let mut times = ReportedTimes::none(index);
            times.add(0, Nanos(index));
            ServerTiming { names: vec![name.to_owned()], answers: 1, times: vec![times], ..ServerTiming::default() }
        };
        let a = part(7, "app");
        let b = part(2, "db");
        assert!(a.can_merge(&b) && !a.can_merge(&a));
        assert!(!a.can_merge(&ServerTiming { nesting: vec!["app > db".to_owned()], ..b.clone() }));
        let whole = a.merged_with(&b);
        assert_eq!((whole.answers, &whole.names), (2, &vec!["app".to_owned(), "db".to_owned()]));
        let times = |index: u64| whole.of(index).map(|times| (times.get(0), times.get(1)));
        assert_eq!([times(7), times(2)], [Some((Some(Nanos(7)), None)), Some((None, Some(Nanos(2))))]);
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
