//! Small CSV tables with a header, whole in memory.

use truetail_run::{Damage, FilePlace};

use super::file::{content, leave_out, place_of, text};
use crate::{ImportError, Likeness};

/// Whether the first line names all of these columns. With one of them it comes near.
pub(super) fn likeness(head: &[u8], columns: &[&str]) -> Likeness {
    let head = text(head);
    let named: Vec<_> = head.lines().next().unwrap_or_default().split(',').map(|name| name.trim_matches('"')).collect();
    let missing: Vec<_> = columns.iter().filter(|column| !named.contains(column)).collect();
    match missing[..] {
        [] => Likeness::Yes,
        [column, ..] if missing.len() < columns.len() => Likeness::Near(format!("the column '{column}' is missing")),
        _ => Likeness::No,
    }
}

/// A table.
pub(super) struct Table {
    /// Its rows that are whole.
    pub rows: Vec<TableRow>,
    /// Those that are not.
    pub damage: Damage,
}

/// A row: pairs of the name of its column and the cell.
pub(super) struct TableRow(Vec<(String, String)>);

impl Table {
    /// Reads all rows. A row with more or fewer cells than the header, or without an end, is left out.
    pub fn read(bytes: &[u8]) -> Table {
        let (mut rows, mut damage) = (Vec::new(), Damage::default());
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

    /// The error that a row is missing.
    pub fn lacks(&self, row: &str) -> ImportError {
        content(FilePlace { byte: 0, line: 1 }, format!("no row '{row}' in this table of {} rows", self.rows.len()))
    }
}

/// The first byte of a row. The reader lets a row begin within the line end before it.
fn first_byte(bytes: &[u8], at: usize) -> usize {
    let ends = bytes[at.min(bytes.len())..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    at + ends.count()
}

impl TableRow {
    /// The columns and their cells.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, cell)| (&**name, &**cell))
    }

    /// The cell of a column.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.cells().find(|(name, _)| *name == column).map(|(_, cell)| cell)
    }

    /// A number that is finite and not negative.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
    }

    /// A whole number.
    pub fn count(&self, column: &str) -> Option<u64> {
        self.text(column)?.trim().parse().ok()
    }
}
