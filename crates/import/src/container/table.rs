use std::io::{self, Read};

pub(super) trait TableRows {
    fn names(&self) -> Vec<String>;

    /// Puts the fields of the next row into the empty `fields`. Returns false at the end.
    fn next(&mut self, fields: &mut Vec<String>) -> io::Result<bool>;
}

/// Number of CSV bytes to prepare at a time.
const AT_ONCE: usize = 1 << 16;

/// The table as CSV, with a header.
pub(super) struct TableCsv<T> {
    rows: T,
    fields: Vec<String>,
    text: Vec<u8>,
    given: usize,
    is_over: bool,
}

impl<T: TableRows> TableCsv<T> {
    pub(super) fn new(rows: T) -> TableCsv<T> {
        let mut text = Vec::new();
        add_row(&mut text, &rows.names());
        TableCsv { rows, fields: Vec::new(), text, given: 0, is_over: false }
    }

    fn refill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.given = 0;
        while !self.is_over && self.text.len() < AT_ONCE {
            self.fields.clear();
            if self.rows.next(&mut self.fields)? {
                add_row(&mut self.text, &self.fields);
            } else {
                self.is_over = true;
            }
        }
        Ok(())
    }
}

fn add_row(text: &mut Vec<u8>, fields: &[String]) {
    let mut row = csv::Writer::from_writer(Vec::new());
    row.write_record(fields).expect("a Vec takes everything");
    text.extend(row.into_inner().expect("a Vec takes everything"));
}

impl<T: TableRows> Read for TableCsv<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() {
            self.refill()?;
        }
        let count = (&self.text[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}
