//! Response headers that the user chose (`--keep-header`), and their values.

use serde::{Deserialize, Serialize};
use truetail_model::record::OfRequest;

/// Limit on the headers of a run.
pub const MAX_KEPT_HEADERS: usize = 4;
/// Limit on the values of a header that are told apart. Answers with further values are counted together.
pub const MAX_HEADER_VALUES: usize = 32;

/// Stands for a value beyond [`MAX_HEADER_VALUES`] in files, so it is no known value.
pub(crate) const OTHER_VALUE: &str = "(other)";
/// Place of a value beyond [`MAX_HEADER_VALUES`].
const FURTHER: u8 = u8::MAX;

/// Response headers that the user chose, without the warm-up.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct KeptHeaders {
    /// The headers, at most [`MAX_KEPT_HEADERS`].
    pub headers: Vec<KeptHeader>,
    /// Values of the single answers that the run keeps, by index. They are saved with the requests in `samples.csv`.
    #[serde(skip)]
    pub rows: Vec<HeaderRow>,
}

/// Values of one response header.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct KeptHeader {
    /// Name, in lower case.
    pub name: String,
    /// The first values that were seen, at most [`MAX_HEADER_VALUES`], each once and none empty.
    pub values: Vec<HeaderValue>,
    /// Answers with further values.
    pub further: u64,
    /// Answers without the header, or with an empty value.
    pub without: u64,
}

/// One value of a response header.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct HeaderValue {
    /// The value, up to a limit. Several fields of one answer are joined by a comma.
    pub value: String,
    /// Answers with it. If a warm-up was cut off a long run afterwards: of the even part of the requests that the run
    /// keeps.
    pub answers: u64,
}

/// The value that one answer has of a header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HeaderPlace {
    /// The answer has no such header.
    Without,
    /// Place among [`KeptHeader::values`].
    Value(usize),
    /// A value that is not among them.
    Further,
}

impl KeptHeader {
    /// Creates a header without answers.
    pub fn new(name: &str) -> KeptHeader {
        KeptHeader { name: name.to_owned(), ..KeptHeader::default() }
    }

    /// Returns the place of a value, which becomes a known one if there is room.
    pub fn place(&mut self, value: &str) -> HeaderPlace {
        if value.is_empty() {
            return HeaderPlace::Without;
        }
        match self.values.iter().position(|known| known.value == value) {
            Some(place) => HeaderPlace::Value(place),
            None if self.values.len() < MAX_HEADER_VALUES && value != OTHER_VALUE => {
                self.values.push(HeaderValue { value: value.to_owned(), answers: 0 });
                HeaderPlace::Value(self.values.len() - 1)
            }
            None => HeaderPlace::Further,
        }
    }

    /// Counts `n` answers at a place. Sums saturate.
    pub fn count(&mut self, place: HeaderPlace, n: u64) {
        let count = match place {
            HeaderPlace::Without => &mut self.without,
            HeaderPlace::Further => &mut self.further,
            HeaderPlace::Value(place) => match self.values.get_mut(place) {
                Some(value) => &mut value.answers,
                None => &mut self.further,
            },
        };
        *count = count.saturating_add(n);
    }

    /// Returns the number of answers at a place.
    pub fn answers(&self, place: HeaderPlace) -> u64 {
        match place {
            HeaderPlace::Without => self.without,
            HeaderPlace::Further => self.further,
            HeaderPlace::Value(place) => self.values.get(place).map_or(0, |value| value.answers),
        }
    }

    /// Adds the answers of another part of the load. Returns the new place for each of the part's values.
    pub fn merge(&mut self, other: &KeptHeader) -> Vec<HeaderPlace> {
        self.count(HeaderPlace::Without, other.without);
        self.count(HeaderPlace::Further, other.further);
        let mut add = |value: &HeaderValue| {
            let place = self.place(&value.value);
            self.count(place, value.answers);
            place
        };
        other.values.iter().map(&mut add).collect()
    }
}

impl KeptHeaders {
    /// Returns what no run has in these headers, if anything: too many, one twice, or more answers than `responses`.
    pub(crate) fn problem<'a>(headers: impl Iterator<Item = &'a KeptHeader> + Clone, responses: u64) -> Option<String> {
        let names: Vec<&str> = headers.clone().map(|header| header.name.as_str()).collect();
        if names.len() > MAX_KEPT_HEADERS || has_doubles(&names) {
            return Some(format!("its kept_headers are more than {MAX_KEPT_HEADERS}, or name one twice"));
        }
        headers.into_iter().find_map(|header| {
            let name = &header.name;
            let values: Vec<&str> = header.values.iter().map(|value| value.value.as_str()).collect();
            if values.len() > MAX_HEADER_VALUES || has_doubles(&values) || values.contains(&"") {
                return Some(format!("its kept header {name} has impossible values"));
            }
            let others = u128::from(header.further) + u128::from(header.without);
            let answers = header.values.iter().fold(others, |sum, value| sum + u128::from(value.answers));
            // They are fewer if a warm-up was cut off.
            let excess = answers > u128::from(responses);
            excess.then(|| format!("its kept header {name} counts {answers} answers, but the run has {responses}"))
        })
    }

    /// Returns the values of the answer to the request with this index.
    pub fn of(&self, index: u64) -> Option<&HeaderRow> {
        let place = self.rows.binary_search_by_key(&index, HeaderRow::index).ok()?;
        self.rows.get(place)
    }

    /// Returns true if both have the same headers, and values of different requests. Several runs of one load share
    /// indices, so an answer of one run would get values of another.
    pub fn can_merge(&self, other: &KeptHeaders) -> bool {
        let names = |kept: &KeptHeaders| kept.headers.iter().map(|header| header.name.clone()).collect::<Vec<_>>();
        names(self) == names(other) && other.rows.iter().all(|row| self.of(row.index()).is_none())
    }

    /// Adds the values of another part of the load, if [`KeptHeaders::can_merge`].
    #[must_use]
    pub fn merged_with(mut self, other: &KeptHeaders) -> KeptHeaders {
        let moved: Vec<Vec<HeaderPlace>> =
            self.headers.iter_mut().zip(&other.headers).map(|(header, other)| header.merge(other)).collect();
        self.rows.extend(other.rows.iter().map(|row| row.moved(&moved)));
        self.rows.sort_by_key(HeaderRow::index);
        self
    }
}

/// Values that one answer has of the chosen headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderRow {
    index: u64,
    /// For each header 0 without it, or 1 more than the place of its value, or [`FURTHER`].
    places: [u8; MAX_KEPT_HEADERS],
}

impl OfRequest for HeaderRow {
    fn index(&self) -> u64 {
        self.index
    }
}

impl HeaderRow {
    /// Returns an answer without any of the headers, to the request with this index.
    pub fn new(index: u64) -> HeaderRow {
        HeaderRow { index, places: [0; MAX_KEPT_HEADERS] }
    }

    /// Returns the index of the request in the whole schedule.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the value of a header.
    pub fn get(&self, header: usize) -> HeaderPlace {
        match self.places.get(header).copied().unwrap_or(0) {
            0 => HeaderPlace::Without,
            FURTHER => HeaderPlace::Further,
            place => HeaderPlace::Value(usize::from(place) - 1),
        }
    }

    /// Sets the value of a header.
    pub fn set(&mut self, header: usize, place: HeaderPlace) {
        if let Some(slot) = self.places.get_mut(header) {
            *slot = match place {
                HeaderPlace::Without => 0,
                HeaderPlace::Value(place) if place < MAX_HEADER_VALUES => place as u8 + 1,
                HeaderPlace::Value(_) | HeaderPlace::Further => FURTHER,
            };
        }
    }

    /// Returns the row with each value at a new place. `places` has the new place of each value of each header.
    #[must_use]
    pub fn moved(&self, places: &[Vec<HeaderPlace>]) -> HeaderRow {
        let mut moved = *self;
        for (header, places) in places.iter().enumerate() {
            if let HeaderPlace::Value(place) = self.get(header) {
                moved.set(header, places.get(place).copied().unwrap_or(HeaderPlace::Further));
            }
        }
        moved
    }
}

fn has_doubles(texts: &[&str]) -> bool {
    texts.iter().enumerate().any(|(place, text)| texts[..place].contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(rows: &[(u64, &str)]) -> KeptHeaders {
        let mut kept = KeptHeaders { headers: vec![KeptHeader::new("x-cache")], rows: Vec::new() };
        for (index, value) in rows {
            let header = &mut kept.headers[0];
            let place = header.place(value);
            header.count(place, 1);
            let mut row = HeaderRow::new(*index);
            row.set(0, place);
            kept.rows.push(row);
        }
        kept
    }

    fn value_of(kept: &KeptHeaders, index: u64) -> Option<&str> {
        match kept.of(index)?.get(0) {
            HeaderPlace::Value(place) => Some(&kept.headers[0].values[place].value),
            HeaderPlace::Without => Some("-"),
            HeaderPlace::Further => Some("…"),
        }
    }

    #[test]
    fn parts_of_one_load_are_merged_and_runs_of_one_load_are_not() {
        let a = kept(&[(0, "HIT"), (2, "MISS"), (4, "")]);
        let b = kept(&[(1, "MISS"), (3, "HIT"), (5, "STALE")]);
        assert!(a.can_merge(&b) && !a.can_merge(&a) && !a.can_merge(&KeptHeaders::default()));
        let whole = a.merged_with(&b);
        let of_each: Vec<_> = (0..6).filter_map(|index| value_of(&whole, index)).collect();
        assert_eq!(of_each, ["HIT", "MISS", "MISS", "HIT", "-", "STALE"]);
        let header = &whole.headers[0];
        let counts: Vec<_> = header.values.iter().map(|value| (value.value.as_str(), value.answers)).collect();
        assert_eq!((counts, header.without), (vec![("HIT", 2), ("MISS", 2), ("STALE", 1)], 1));
    }

    #[test]
    fn values_beyond_the_limit_are_counted_together() {
        let names: Vec<String> = (0..40).map(|nth| format!("v{nth}")).collect();
        let rows =
            |offset: u64| (offset..offset + 20).map(|nth| (nth, names[nth as usize].as_str())).collect::<Vec<_>>();
        let whole = kept(&rows(0)).merged_with(&kept(&rows(20)));
        assert_eq!((whole.headers[0].values.len(), whole.headers[0].further), (MAX_HEADER_VALUES, 8));
        assert_eq!(KeptHeader::new("x").place(OTHER_VALUE), HeaderPlace::Further);
        assert_eq!([value_of(&whole, 31), value_of(&whole, 32), value_of(&whole, 40)], [Some("v31"), Some("…"), None]);
    }
}
