//! JMeter's results.

mod bounded;
mod csv;
mod xml;

pub(crate) use csv::JMeterCsv;
pub(crate) use xml::JMeterXml;
