//! Accessible tables: a caption, and a scope for each head. Cells hold numbers unless they have the class `w`, because
//! a long run has thousands of numbers.

use maud::{Markup, html};

/// A table of texts. The first column names the rows.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Caption of the table. It is unique on the page, because it also names the scrollable area.
    caption: String,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Number of columns, from the left, that hold words. The other columns hold numbers.
    words: usize,
}

impl Table {
    /// Creates a table with words in the first column and numbers in all others.
    pub(crate) fn new<H: Into<String>>(caption: impl Into<String>, heads: impl IntoIterator<Item = H>) -> Table {
        Table {
            caption: caption.into(),
            heads: heads.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            words: 1,
        }
    }

    /// Sets the number of columns with words.
    pub(crate) fn with_words(self, words: usize) -> Table {
        Table { words, ..self }
    }

    /// Adds rows, with as many cells as there are heads.
    pub(crate) fn with_rows<R: IntoIterator<Item = String>>(mut self, rows: impl IntoIterator<Item = R>) -> Table {
        self.rows.extend(rows.into_iter().map(|row| row.into_iter().collect::<Vec<_>>()));
        debug_assert!(self.rows.iter().all(|row| row.len() == self.heads.len()));
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Removes a column.
    pub(crate) fn without_column(mut self, column: usize) -> Table {
        self.heads.remove(column);
        self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        self.words -= usize::from(column < self.words);
        self
    }

    /// Removes columns whose cells are all empty or a dash.
    pub(crate) fn without_empty_columns(mut self) -> Table {
        let says_nothing = |column: &usize| self.rows.iter().all(|row| matches!(row[*column].as_str(), "" | "–"));
        let empty: Vec<usize> = (self.words..self.heads.len()).filter(says_nothing).collect();
        for column in empty.into_iter().rev() {
            self.heads.remove(column);
            self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
        self
    }

    /// Returns the table in an area that scrolls sideways if necessary; empty without rows.
    pub(crate) fn markup(&self) -> Markup {
        html! {
            @if !self.is_empty() {
                div.scroll tabindex="0" role="region" aria-label=(self.caption) {
                    table.numbers {
                        caption { (self.caption) }
                        thead { tr { @for (at, head) in self.heads.iter().enumerate() { (self.head(at, head)) } } }
                        tbody { @for row in &self.rows { (self.row(row)) } }
                    }
                }
            }
        }
    }

    fn head(&self, at: usize, head: &str) -> Markup {
        html! {
            @if head.is_empty() { td {} }
            @else if at < self.words { th.w scope="col" { (head) } }
            @else { th scope="col" { (head) } }
        }
    }

    fn row(&self, row: &[String]) -> Markup {
        html! {
            tr {
                @for (at, cell) in row.iter().enumerate() {
                    @if at == 0 { th scope="row" { (cell) } }
                    @else if at < self.words { td.w { (cell) } }
                    @else { td { (cell) } }
                }
            }
        }
    }
}
