//! Files with a table that is not read from front to back: Parquet, and the database that oha writes. A container is
//! opened as the CSV of its table, so that the table formats can read it.
//!
//! Both readers need many crates, so they are cargo features: `parquet` and `sqlite`.

#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "parquet", feature = "sqlite"))]
mod table;

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::ImportOptions;
use crate::excerpt::{HEAD, PIECE};
use truetail_run::input;

/// First bytes of such files.
const PARQUET: &[u8] = b"PAR1";
const SQLITE: &[u8] = b"SQLite format 3\0";

/// An opened file.
pub struct Opened {
    /// The text to read.
    pub input: Box<dyn Read>,
    /// Length of the text in bytes, if it is known.
    pub length: Option<u64>,
    /// Pieces of the middle and the end of a long file, by which its format may be recognised.
    pub later: Vec<Vec<u8>>,
}

#[cfg(any(feature = "parquet", feature = "sqlite"))]
impl Opened {
    fn table(input: impl Read + 'static) -> Opened {
        Opened { input: Box::new(input), length: None, later: Vec::new() }
    }
}

/// Opens a file: a table as CSV, any other file unchanged. `options` may select the columns of a Parquet file.
///
/// # Errors
/// The file cannot be read, or needs a feature that this truetail was built without.
pub fn open(path: &Path, options: &ImportOptions) -> io::Result<Opened> {
    let mut file = input::open_or_given(path)?;
    let mut head = Vec::with_capacity(SQLITE.len());
    file.by_ref().take(SQLITE.len() as u64).read_to_end(&mut head)?;
    match head.as_slice() {
        head if head.starts_with(PARQUET) => {
            file.rewind()?;
            open_parquet(file, options)
        }
        SQLITE => open_sqlite(path),
        // Anything but a regular file, such as a named pipe, cannot be read twice.
        _ => {
            let length = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
            let later = length.map_or_else(|| Ok(Vec::new()), |length| later(&file, length))?;
            Ok(Opened { input: Box::new(io::Cursor::new(head).chain(file)), length, later })
        }
    }
}

/// Returns pieces of the middle and the end of a file that is longer than its sampled head.
fn later(file: &File, length: u64) -> io::Result<Vec<Vec<u8>>> {
    if length <= HEAD as u64 {
        return Ok(Vec::new());
    }
    let piece = |at: u64| {
        let mut bytes = vec![0; PIECE];
        let read = file.read_at(&mut bytes, at)?;
        bytes.truncate(read);
        Ok(bytes)
    };
    [length / 4, length / 2, length / 4 * 3, length - PIECE as u64].into_iter().map(piece).collect()
}

/// Refuses containers that come through a pipe.
pub(crate) fn refuse_piped(head: &[u8]) -> io::Result<()> {
    match head {
        _ if head.starts_with(PARQUET) => {
            Err(io::Error::other("it is a Parquet file; name the file, it cannot come through a pipe"))
        }
        _ if head.starts_with(SQLITE) => {
            Err(io::Error::other("it is a database; name the file, it cannot come through a pipe"))
        }
        _ => Ok(()),
    }
}

#[cfg(feature = "parquet")]
fn open_parquet(file: File, options: &ImportOptions) -> io::Result<Opened> {
    Ok(Opened::table(table::TableCsv::new(parquet::ParquetRows::open(file, options)?)))
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(_file: File, _options: &ImportOptions) -> io::Result<Opened> {
    Err(io::Error::other(
        "it is a Parquet file, which a truetail reads that was built with --features parquet; or convert it to CSV",
    ))
}

#[cfg(feature = "sqlite")]
fn open_sqlite(path: &Path) -> io::Result<Opened> {
    Ok(Opened::table(table::TableCsv::new(sqlite::OhaRows::open(path)?)))
}

#[cfg(not(feature = "sqlite"))]
fn open_sqlite(_path: &Path) -> io::Result<Opened> {
    Err(io::Error::other(
        "it is an SQLite database, which a truetail reads that was built with --features sqlite; or write oha's table as CSV, with \
         sqlite3 -header -csv FILE 'SELECT * FROM oha'",
    ))
}
