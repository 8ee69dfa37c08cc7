//! The header of a table, and the loop over its rows.

use std::io;

use crate::ImportError;
use crate::rows::fields::count;
use crate::rows::lines::Span;
use crate::rows::{Books, Fields, Lines, Taken, Wrong};

/// Possible delimiters of fields.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// The names of columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub delimiter: u8,
    names: Vec<Vec<u8>>,
}

impl Header {
    /// Reads a header with all these columns and any delimiter. The error is a missing column, for the best delimiter.
    pub(crate) fn with_columns<'c>(row: &[u8], columns: &[&'c str]) -> Result<Header, &'c str> {
        let headers = DELIMITERS.map(|delimiter| Header::split(row, delimiter));
        let missing = |header: &Header| columns.iter().position(|column| header.index(column).is_none());
        if let Some(header) = headers.iter().find(|header| missing(header).is_none()) {
            return Ok(header.clone());
        }
        Err(columns[headers.iter().filter_map(missing).max().unwrap_or_default()])
    }

    /// Reads the first row, which must be a header with these columns. Returns `None` without a row.
    pub(crate) fn read(lines: &mut Lines<'_>, columns: &[&str]) -> Result<Option<(Header, Vec<u8>)>, ImportError> {
        let Some(first) = lines.peek()? else { return Ok(None) };
        let row = lines.bytes(first).to_vec();
        let header = Header::with_columns(&row, columns)
            .map_err(|missing| ImportError::content(lines.place(), format!("no column '{missing}'")))?;
        lines.take(first)?;
        Ok(Some((header, row)))
    }

    /// Reads a header with the delimiter that gives the most columns.
    pub(crate) fn guess(row: &[u8]) -> Header {
        let headers = DELIMITERS.map(|delimiter| Header::split(row, delimiter));
        headers.into_iter().rev().max_by_key(Header::len).expect("four delimiters")
    }

    fn split(row: &[u8], delimiter: u8) -> Header {
        let mut fields = Fields::default();
        fields.split(row, delimiter);
        let names = fields.iter(row).map(|name| name.trim_ascii().to_vec());
        Header { delimiter, names: names.collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|column| column == name.as_bytes())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.names.iter().map(|name| String::from_utf8_lossy(name).into_owned())
    }
}

/// The shape of a table.
pub(crate) struct Table {
    pub delimiter: u8,
    /// Number of columns.
    pub columns: usize,
    /// The last used column. A last row without a line break is complete if it goes beyond this column.
    pub last_used: usize,
    /// The header, if there is one. If it occurs again, another file begins.
    pub header: Option<Vec<u8>>,
    /// Returns true if a row with this start can be more than [`Taken::Other`]. All other rows are only counted.
    pub wanted: fn(&[u8]) -> bool,
}

pub(crate) fn every_row(_row: &[u8]) -> bool {
    true
}

impl Table {
    /// Creates a table with these columns, all of whose rows are wanted.
    pub(crate) fn with_header(header: &Header, row: Option<Vec<u8>>, last_used: usize) -> Table {
        Table { delimiter: header.delimiter, columns: header.len(), last_used, header: row, wanted: every_row }
    }

    /// Records each row in the books. `take` reads a row with the right number of fields.
    pub(crate) fn read(
        &self,
        lines: &mut Lines<'_>,
        books: &mut Books<'_, '_>,
        mut take: impl FnMut(&[u8], &Fields) -> Result<Taken, Wrong>,
    ) -> io::Result<()> {
        let mut fields = Fields::default();
        let mut headers = 0u64;
        let mut first = lines.place();
        while let Some(span) = lines.peek()? {
            let taken = self.row(lines.bytes(span), span, &mut fields, &mut take);
            if span.lines > 1 && matches!(taken, Err(Wrong::Fields { .. } | Wrong::OpenQuote)) {
                // Lines that do not form a row together: the first has lost a quote, but may be a row without it.
                let line = lines.peek_line()?.unwrap_or(span);
                let taken = self.row(lines.bytes(line), line, &mut fields, &mut take);
                books.take(lines, line, taken.map_err(|_| Wrong::OpenQuote))?;
                continue;
            }
            if taken == Ok(Taken::Other) && self.is_header(lines.bytes(span)) {
                first = if headers == 0 { lines.place() } else { first };
                headers += 1;
            }
            books.take(lines, span, taken)?;
        }
        if headers > 0 {
            books.note(format!("the header comes again at line {}: the file holds {} runs", first.line, headers + 1));
        }
        Ok(())
    }

    fn row(
        &self,
        row: &[u8],
        span: Span,
        fields: &mut Fields,
        take: &mut impl FnMut(&[u8], &Fields) -> Result<Taken, Wrong>,
    ) -> Result<Taken, Wrong> {
        let wanted = (self.wanted)(row);
        let found = if wanted || memchr::memchr(b'"', row).is_some() {
            fields.split(row, self.delimiter);
            fields.len()
        } else {
            count(row, self.delimiter)
        };
        if span.lines > 1 && fields.has_loose_quote() {
            return Err(Wrong::OpenQuote);
        }
        if found != self.columns {
            return Err(Wrong::Fields { found, expected: self.columns });
        }
        if !span.whole && self.last_used + 1 >= self.columns {
            return Err(Wrong::CutOff);
        }
        if !wanted || self.is_header(row) {
            return Ok(Taken::Other);
        }
        take(row, fields)
    }

    fn is_header(&self, row: &[u8]) -> bool {
        self.header.as_deref() == Some(row)
    }
}
