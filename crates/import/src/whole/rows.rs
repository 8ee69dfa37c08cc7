use truetail_run::FilePlace;

use super::file::text;

/// One line of a file that is read whole.
pub(crate) struct Row<'a> {
    /// Its start.
    pub place: FilePlace,
    /// The line without its end. Invalid UTF-8 is replaced.
    pub line: &'a str,
}

/// Calls `take` with each line that is not empty. Returns the place of a last line without an end, which was cut off.
pub(crate) fn each_row(bytes: &[u8], mut take: impl FnMut(Row<'_>)) -> Option<FilePlace> {
    let mut place = FilePlace { byte: 0, line: 1 };
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(whole) = line.strip_suffix(b"\n") else { return Some(place) };
        let whole = text(whole);
        let content = whole.trim_end_matches('\r');
        if !content.trim().is_empty() {
            take(Row { place, line: content });
        }
        place = FilePlace { byte: place.byte + line.len() as u64, line: place.line + 1 };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_end_is_told_and_not_taken() {
        let mut taken = Vec::new();
        let cut =
            each_row(b"one\r\n\ntwo\nthr", |row| taken.push((row.place.line, row.place.byte, row.line.to_owned())));
        assert_eq!(taken, [(1, 0, "one".to_owned()), (3, 6, "two".to_owned())]);
        assert_eq!(cut, Some(FilePlace { byte: 10, line: 4 }));
    }
}
