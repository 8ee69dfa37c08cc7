//! A run in progress as metrics for monitoring systems.
//!
//! | module | content |
//! |---|---|
//! | `family` | metrics as values: name, help, unit, samples |
//! | `families` | the state of a run as metrics |
//! | `times` | a distribution of times in the buckets of Prometheus |
//! | `text` | the text format of Prometheus, with classic histograms |
//! | `protobuf` | its protobuf format, with classic and native histograms |

mod families;
mod family;
mod protobuf;
#[cfg(test)]
mod tests;
mod text;
mod times;

pub use families::families;
pub use family::{Family, Kind, Sample, Unit, Value};
pub use protobuf::{PROTOBUF_TYPE, protobuf};
pub use text::{TEXT_TYPE, text};
pub use times::{NATIVE_SCHEMA, TimesHistogram};
