//! Tables: a header, and a row for each request.

mod columns;
mod header;
mod simple;

pub(crate) use columns::{Clock, ColumnReader, Columns, Length, is_error, outcome, outcome_of};
pub(crate) use header::{Header, Table, every_row};
pub(crate) use simple::SimpleTable;
