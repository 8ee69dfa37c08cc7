//! JMeter's results.

mod bounded;
mod csv;
mod xml;

use crate::exchange::NoExchange;

pub(crate) use csv::JMeterCsv;
pub(crate) use xml::JMeterXml;

/// Returns the reason why a sample with this message was no exchange. JMeter's cache manager and transaction
/// controllers write samples too.
fn no_exchange(message: &[u8]) -> Option<NoExchange> {
    match message {
        message if message.starts_with(b"Number of samples in transaction") => Some(NoExchange::Transaction),
        b"(ex cache)" => Some(NoExchange::Cached),
        _ => None,
    }
}
