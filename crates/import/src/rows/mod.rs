//! Readers of files row by row: lines, fields, numbers, and the books of the rows.

pub(crate) mod books;
pub(crate) mod fields;
mod format;
pub(crate) mod instant;
pub(crate) mod json;
pub(crate) mod json_lines;
pub(crate) mod lines;
pub(crate) mod number;
pub(crate) mod order;
pub(crate) mod workers;
pub(crate) mod wrong;

pub(crate) use books::{Books, RunFacts, Taken};
pub(crate) use fields::Fields;
pub(crate) use format::{RowFormat, RowInput, Rows};
pub(crate) use lines::Lines;
pub(crate) use workers::Workers;
pub(crate) use wrong::Wrong;
