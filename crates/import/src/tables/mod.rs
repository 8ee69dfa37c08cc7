//! Tables: a header, and a row for each request.

mod header;
mod jmeter;
mod k6;

pub(crate) use header::{Header, Table};
pub(crate) use jmeter::JMeterCsv;
pub(crate) use k6::K6Csv;
