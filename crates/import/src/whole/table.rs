//! Small CSV tables with a header, whole in memory.

use truetail_run::{FilePlace, UnusedRows};

use super::file::{content, leave_out, place_of, text};
use crate::{Excerpt, ImportError, Likeness};

/// Looks for these columns in the first line. With one of them, the table is similar.
pub(crate) fn likeness(excerpt: &Excerpt<'_>, columns: &[&str]) -> Likeness {
    let line = text(excerpt.first_line());
    let named: Vec<_> = line.split(',').map(|name| name.trim_matches('"')).collect();
    let missing: Vec<_> = columns.iter().filter(|column| !named.contains(column)).collect();
    match missing[..] {
        [] => Likeness::Yes,
        [column, ..] if missing.len() < columns.len() => Likeness::Near(format!("the column '{column}' is missing")),
        _ => Likeness::No,
    }
}

pub(crate) struct Table {
    /// Its complete rows.
    pub rows: Vec<TableRow>,
    /// Its damaged rows.
    pub damage: UnusedRows,
}

/// A row: pairs of column name and cell.
pub(crate) struct TableRow(Vec<(String, String)>);

impl Table {
    /// Reads all rows. A row with more or fewer cells than the header, or without an end, is left out.
    pub(crate) fn read(bytes: &[u8]) -> Table {
        let mut rows = Vec::new();
        let mut damage = UnusedRows::default();
        let mut table = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
        let header = table.byte_headers().cloned().unwrap_or_default();
        let mut last = 0;
        for record in table.byte_records() {
            // In memory and flexible, a record cannot fail.
            let Ok(record) = record else { break };
            last = record.position().map_or(last, |at| first_byte(bytes, at.byte() as usize));
            if record.len() != header.len() {
                let why = || format!("{} cells in {} columns", record.len(), header.len());
                leave_out(&mut damage, || (place_of(bytes, last), why()));
                continue;
            }
            let cells = header.iter().zip(&record);
            rows.push(TableRow(cells.map(|(name, cell)| (text(name).into_owned(), text(cell).into_owned())).collect()));
        }
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            damage.truncated_at = Some(place_of(bytes, last));
        }
        Table { rows, damage }
    }

    /// Returns the error that a row is missing.
    pub(crate) fn lacks(&self, row: &str) -> ImportError {
        content(FilePlace { byte: 0, line: 1 }, format!("no row '{row}' in this table of {} rows", self.rows.len()))
    }
}

/// Returns the first byte of a row. The reader counts the line end before a row as part of it.
fn first_byte(bytes: &[u8], at: usize) -> usize {
    let ends = bytes[at.min(bytes.len())..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    at + ends.count()
}

impl TableRow {
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, cell)| (&**name, &**cell))
    }

    pub(crate) fn text(&self, column: &str) -> Option<&str> {
        self.cells().find(|(name, _)| *name == column).map(|(_, cell)| cell)
    }

    /// Returns a number that is finite and not negative.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
    }

    /// Returns a whole number.
    pub(crate) fn count(&self, column: &str) -> Option<u64> {
        self.text(column)?.trim().parse().ok()
    }
}
