//! The database that oha writes with `--db-url`. Its only table, `oha`, has a row for each answer.

use std::io;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use super::table::TableRows;

/// Rows per query. A cursor over the whole table would borrow the connection that it is stored with.
const PIECE: usize = 4_096;

/// The rows of oha's table, in the order of writing.
pub(super) struct OhaRows {
    database: Connection,
    names: Vec<String>,
    after: i64,
    piece: std::vec::IntoIter<Vec<String>>,
}

impl OhaRows {
    /// Opens a database without writing to it.
    pub(super) fn open(path: &Path) -> io::Result<OhaRows> {
        let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(io::Error::other)?;
        let names = database
            .prepare("SELECT * FROM oha")
            .map_err(|error| io::Error::other(format!("it is a database without the table of oha: {error}")))?
            .column_names()
            .into_iter()
            .map(str::to_owned)
            .collect();
        Ok(OhaRows { database, names, after: i64::MIN, piece: Vec::new().into_iter() })
    }

    fn read_piece(&mut self) -> rusqlite::Result<()> {
        let mut query =
            self.database.prepare_cached("SELECT rowid, * FROM oha WHERE rowid > ?1 ORDER BY rowid LIMIT ?2")?;
        let mut rows = query.query((self.after, PIECE))?;
        let mut piece = Vec::new();
        while let Some(row) = rows.next()? {
            self.after = row.get(0)?;
            piece.push((1..=self.names.len()).map(|column| text(row, column)).collect::<rusqlite::Result<_>>()?);
        }
        self.piece = piece.into_iter();
        Ok(())
    }
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    })
}

impl TableRows for OhaRows {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn next(&mut self, fields: &mut Vec<String>) -> io::Result<bool> {
        if self.piece.len() == 0 {
            self.read_piece().map_err(io::Error::other)?;
        }
        let row = self.piece.next();
        let is_there = row.is_some();
        fields.extend(row.into_iter().flatten());
        Ok(is_there)
    }
}
