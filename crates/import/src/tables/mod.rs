//! Tables: a header, and a row for each request.

mod columns;
mod header;
mod jmeter;
mod k6;
mod oha;
mod simple;
mod vegeta;

pub(crate) use columns::{Clock, ColumnReader, Columns, Length, is_error, outcome, outcome_of};
pub(crate) use header::{Header, Table, every_row};
pub(crate) use jmeter::JMeterCsv;
pub(crate) use k6::K6Csv;
pub(crate) use oha::OhaTable;
pub(crate) use simple::{AB, HEY, LOCUST};
pub(crate) use vegeta::VegetaCsv;
