//! Gaps between events by time and length, in bounded memory.

use serde::{Deserialize, Serialize};
use truetail_model::time::{Nanos, Timestamp};

/// Limit on the columns of a map. In a run that outlasts them, each two columns become one.
const MAX_COLUMNS: usize = 240;
/// Initial width of a column, nanoseconds.
const FIRST_WIDTH_NS: u64 = 250_000_000;
/// Four rows for each of the 64 factors of two in a `u64`, and the first row, which is cut.
const ROWS: usize = 4 * 64 + 1;
/// Lower edges of the rows within a factor of two, as shares of 2⁶⁴: 2^(0.1285 + k/4 − 1). They put 10 ms, and with it
/// 5 ms, 20 ms and 40 ms, in the middle of a row.
const EDGES: [u64; 4] =
    [10_082_566_082_211_409_920, 11_990_259_322_450_919_424, 14_258_901_696_986_339_328, 16_956_787_350_180_526_080];
/// Distance of the first edge from the power of two below it, as a power of two.
const PHASE: f64 = 0.128_496_664_211_535_72;

/// Gaps between events by end time and by length, in bounded memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(into = "GapMapFile", try_from = "GapMapFile")]
pub struct GapMap {
    width_ns: u64,
    columns: Vec<Column>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Column {
    rows: [u64; ROWS],
    /// Gaps that no event ended.
    open: u64,
}

const EMPTY: Column = Column { rows: [0; ROWS], open: 0 };

impl Default for GapMap {
    fn default() -> GapMap {
        GapMap { width_ns: FIRST_WIDTH_NS, columns: Vec::new() }
    }
}

impl GapMap {
    /// Factor between the lower edges of two adjacent rows: the fourth root of two.
    pub const ROW_FACTOR: f64 = 1.189_207_115_002_721;

    /// Returns an empty map with room for all columns, so that [`record`](GapMap::record) allocates nothing.
    pub fn with_room() -> GapMap {
        GapMap { columns: Vec::with_capacity(MAX_COLUMNS), ..GapMap::default() }
    }

    /// Records an event at `at`, which came `gap` after the event before it.
    #[inline]
    pub fn record(&mut self, at: Timestamp, gap: Nanos) {
        self.column(at).rows[row_of(gap.0)] += 1;
    }

    /// Records the end of a stream at `at`: no event ended its last gap.
    pub fn record_open(&mut self, at: Timestamp) {
        self.column(at).open += 1;
    }

    fn column(&mut self, at: Timestamp) -> &mut Column {
        while at.0 / self.width_ns >= MAX_COLUMNS as u64 {
            self.widen();
        }
        let column = (at.0 / self.width_ns) as usize;
        if column >= self.columns.len() {
            self.columns.resize(column + 1, EMPTY);
        }
        &mut self.columns[column]
    }

    fn widen(&mut self) {
        for i in 0..self.columns.len().div_ceil(2) {
            let mut column = std::mem::replace(&mut self.columns[2 * i], EMPTY);
            if let Some(next) = self.columns.get(2 * i + 1) {
                column.add(next);
            }
            self.columns[i] = column;
        }
        self.columns.truncate(self.columns.len().div_ceil(2));
        self.width_ns *= 2;
    }

    /// Adds the gaps of another part of the run.
    pub fn merge(&mut self, other: &GapMap) {
        let mut other = other.clone();
        while self.width_ns < other.width_ns {
            self.widen();
        }
        while other.width_ns < self.width_ns {
            other.widen();
        }
        self.columns.resize(self.columns.len().max(other.columns.len()), EMPTY);
        self.columns.iter_mut().zip(&other.columns).for_each(|(column, other)| column.add(other));
    }

    /// Returns the width of a column. Column `i` begins at `i` times this width.
    pub fn width(&self) -> Nanos {
        Nanos(self.width_ns)
    }

    /// Iterates over the columns: (row, gaps) of the non-empty cells in ascending order, and gaps that no event ended.
    pub fn columns(&self) -> impl Iterator<Item = (Vec<(u16, u64)>, u64)> + '_ {
        self.columns.iter().map(|column| (column.cells(), column.open))
    }

    /// Returns the lower edge of a row, in nanoseconds.
    pub fn edge_ns(row: u16) -> f64 {
        ((f64::from(row) - 1.0) / 4.0 + PHASE).exp2()
    }

    /// Returns the number of gaps that an event ended.
    pub fn gaps(&self) -> u64 {
        self.columns.iter().flat_map(|column| &column.rows).fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// Returns the number of gaps that no event ended.
    pub fn open(&self) -> u64 {
        self.columns.iter().fold(0, |sum: u64, column| sum.saturating_add(column.open))
    }
}

impl Column {
    fn cells(&self) -> Vec<(u16, u64)> {
        let rows = (0..).zip(&self.rows).filter(|(_, count)| **count > 0);
        rows.map(|(row, count)| (row, *count)).collect()
    }

    fn add(&mut self, other: &Column) {
        self.rows.iter_mut().zip(&other.rows).for_each(|(sum, part)| *sum = sum.saturating_add(*part));
        self.open = self.open.saturating_add(other.open);
    }
}

#[inline]
fn row_of(gap_ns: u64) -> usize {
    let gap_ns = gap_ns.max(1);
    let zeros = gap_ns.leading_zeros();
    let above = EDGES.iter().filter(|edge| gap_ns << zeros >= **edge).count();
    4 * (63 - zeros as usize) + above
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GapMapFile {
    column_ns: u64,
    columns: Vec<ColumnFile>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnFile {
    /// (row, count) pairs.
    gaps: Vec<(u16, u64)>,
    open: u64,
}

impl From<GapMap> for GapMapFile {
    fn from(map: GapMap) -> GapMapFile {
        let columns = map.columns().map(|(gaps, open)| ColumnFile { gaps, open }).collect();
        GapMapFile { column_ns: map.width_ns, columns }
    }
}

impl TryFrom<GapMapFile> for GapMap {
    type Error = String;

    fn try_from(file: GapMapFile) -> Result<GapMap, String> {
        let width_ns = file.column_ns;
        let doubled = width_ns / FIRST_WIDTH_NS;
        if !width_ns.is_multiple_of(FIRST_WIDTH_NS) || !doubled.is_power_of_two() || doubled > 1 << 32 {
            return Err(format!("a column is {FIRST_WIDTH_NS} ns or that doubled some times, not {width_ns} ns"));
        }
        if file.columns.len() > MAX_COLUMNS {
            return Err(format!("it has {} columns, and at most {MAX_COLUMNS} are written", file.columns.len()));
        }
        let column = |file: ColumnFile| {
            let mut column = Column { open: file.open, ..EMPTY };
            for (row, count) in file.gaps {
                let place = column.rows.get_mut(usize::from(row)).ok_or_else(|| format!("there is no row {row}"))?;
                *place = place.saturating_add(count);
            }
            Ok(column)
        };
        let columns = file.columns.into_iter().map(column).collect::<Result<Vec<_>, String>>()?;
        Ok(GapMap { width_ns, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_gap_is_in_its_row(gap in prop_oneof![1u64.., 1u64..1 << 40]) {
            let row = row_of(gap);
            prop_assert!(row < ROWS);
            let low = GapMap::edge_ns(row as u16);
            let high = GapMap::edge_ns(row as u16 + 1);
            // The edges are floating-point numbers.
            prop_assert!(low <= gap as f64 * 1.000_001 && gap as f64 <= high * 1.000_001, "{gap} in {low}..{high}");
        }

        #[test]
        fn parts_add_up_to_the_whole(gaps in prop::collection::vec((0u64..1 << 40, 0u64..1 << 34, 0usize..3), 0..200)) {
            let mut whole = GapMap::with_room();
            let mut parts = [GapMap::default(), GapMap::default(), GapMap::default()];
            for (at, gap, part) in &gaps {
                whole.record(Timestamp(*at), Nanos(*gap));
                parts[*part].record(Timestamp(*at), Nanos(*gap));
            }
            let mut sum = GapMap::default();
            parts.iter().for_each(|part| sum.merge(part));
            prop_assert_eq!(&sum, &whole);
            prop_assert_eq!(sum.gaps(), gaps.len() as u64);
            let saved = serde_json::to_string(&sum).unwrap();
            prop_assert_eq!(serde_json::from_str::<GapMap>(&saved).unwrap(), sum);
        }
    }

    #[test]
    fn it_never_outgrows_its_columns() {
        let mut map = GapMap::default();
        for second in 0..100_000 {
            map.record(Timestamp(second * 1_000_000_000), Nanos::from_millis(10));
        }
        map.record_open(Timestamp(1 << 62));
        assert!(map.columns.len() <= MAX_COLUMNS);
        assert_eq!((map.gaps(), map.open()), (100_000, 1));
        let rows: Vec<u16> = map.columns().flat_map(|(cells, _)| cells).map(|(row, _)| row).collect();
        let row = rows[0];
        assert!(rows.iter().all(|one| *one == row));
        let middle = GapMap::edge_ns(row) * GapMap::ROW_FACTOR.sqrt();
        assert!((middle - 1e7).abs() < 10.0, "{middle}");
    }

    #[test]
    fn what_nobody_wrote_is_refused() {
        for text in [
            r#"{"column_ns": 0, "columns": []}"#,
            r#"{"column_ns": 750000000, "columns": []}"#,
            r#"{"column_ns": 250000000, "columns": [{"gaps": [[257, 1]], "open": 0}]}"#,
        ] {
            assert!(serde_json::from_str::<GapMap>(text).is_err(), "{text}");
        }
    }
}
