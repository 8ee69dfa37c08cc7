//! JSON lines: an object for each request.

use std::io;

use crate::Excerpt;
use crate::rows::json::JsonRow;
use crate::rows::lines::Span;
use crate::rows::{Books, Lines, Taken, Wrong};

/// Records each line in the books.
pub(crate) fn each_row(
    lines: &mut Lines<'_>,
    books: &mut Books<'_, '_>,
    mut take: impl FnMut(&[u8], Span) -> Result<Taken, Wrong>,
) -> io::Result<()> {
    while let Some(span) = lines.peek_line()? {
        let row = lines.bytes(span);
        let taken = if row.trim_ascii().is_empty() { Ok(Taken::Other) } else { take(row, span) };
        books.take(lines, span, taken)?;
    }
    Ok(())
}

/// Returns the first row of a file, if it is a JSON object.
pub(crate) fn first_row<P: AsRef<str>>(excerpt: &Excerpt<'_>, paths: &[P]) -> Option<JsonRow> {
    let mut row = JsonRow::new(paths);
    row.read(excerpt.first_line()).is_ok().then_some(row)
}
