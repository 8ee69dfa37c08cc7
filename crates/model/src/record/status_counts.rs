//! Numbers of answers by HTTP status.

use std::collections::BTreeMap;

/// Numbers of answers by HTTP status: a sorted list, which is quicker than a map for the few statuses that occur.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StatusCounts(Vec<(u16, u64)>);

impl StatusCounts {
    /// Counts `n` answers with this status.
    #[inline]
    pub fn add(&mut self, status: u16, n: u64) {
        match self.0.binary_search_by_key(&status, |(status, _)| *status) {
            Ok(place) => self.0[place].1 += n,
            Err(place) => self.0.insert(place, (status, n)),
        }
    }

    /// Returns each status with its number of answers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Adds the counts of another list.
    pub fn merge(&mut self, other: &StatusCounts) {
        other.iter().for_each(|(status, n)| self.add(status, n));
    }

    /// Converts to a map.
    pub fn to_map(&self) -> BTreeMap<u16, u64> {
        self.iter().collect()
    }
}
