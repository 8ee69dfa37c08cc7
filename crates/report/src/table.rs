//! Tables of aligned columns.

use crate::style::{Emphasis, Style};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Align {
    Left,
    Right,
}

#[derive(Clone, Debug)]
pub(crate) struct TextTable {
    columns: Vec<Align>,
    rows: Vec<Vec<String>>,
    gap: usize,
}

const GAP: usize = 2;

impl TextTable {
    /// Returns a table with these columns: (head, alignment).
    pub(crate) fn new(columns: &[(&str, Align)]) -> TextTable {
        TextTable {
            columns: columns.iter().map(|(_, align)| *align).collect(),
            rows: vec![columns.iter().map(|(head, _)| (*head).to_owned()).collect()],
            gap: GAP,
        }
    }

    pub(crate) fn with_gap(self, gap: usize) -> TextTable {
        TextTable { gap, ..self }
    }

    /// Removes columns in the order of `least_important`, until the table has at most `columns` characters.
    pub(crate) fn fitting(mut self, columns: usize, least_important: &[usize], style: Style) -> TextTable {
        let mut left: Vec<usize> = (0..self.columns.len()).collect();
        // A list of all saved runs is long, so each cell is measured once.
        let mut widths = self.widths(style);
        for column in least_important {
            if self.total(&widths) <= columns {
                break;
            }
            let Some(at) = left.iter().position(|number| number == column) else { continue };
            left.remove(at);
            widths.remove(at);
            self.columns.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        self
    }

    /// Returns the width of the widest row, without indentation.
    pub(crate) fn width(&self, style: Style) -> usize {
        self.total(&self.widths(style))
    }

    /// Returns the width of a row whose columns have these widths.
    fn total(&self, widths: &[usize]) -> usize {
        let filled = widths.iter().filter(|width| **width > 0);
        widths.iter().sum::<usize>() + self.gap * filled.count().saturating_sub(1)
    }

    fn widths(&self, style: Style) -> Vec<usize> {
        let cell = |row: &Vec<String>, i: usize| style.printable(&row[i]).chars().count();
        (0..self.columns.len()).map(|i| self.rows.iter().map(|row| cell(row, i)).max().unwrap_or(0)).collect()
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Returns the lines, indented by `indent` spaces, without trailing spaces or empty columns. The header is faint.
    pub(crate) fn lines(&self, indent: usize, style: Style) -> Vec<String> {
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|cell| style.printable(cell)).collect()).collect();
        let widths = self.widths(style);
        let line = |(number, row): (usize, &Vec<String>)| {
            let cells: Vec<String> = (0..row.len())
                .filter(|i| widths[*i] > 0)
                .map(|i| padded(&row[i], widths[i], self.columns[i]))
                .collect();
            let text = cells.join(&" ".repeat(self.gap));
            let text = text.trim_end();
            let text = if number == 0 { style.emphasize(Emphasis::Faint, text) } else { text.to_owned() };
            format!("{}{text}", " ".repeat(indent))
        };
        rows.iter().enumerate().map(line).collect()
    }
}

fn padded(cell: &str, width: usize, align: Align) -> String {
    let space = " ".repeat(width - cell.chars().count());
    match align {
        Align::Left => format!("{cell}{space}"),
        Align::Right => format!("{space}{cell}"),
    }
}
