//! Metrics as values, the same for every format.

use super::TimesHistogram;

/// A metric with all its samples.
#[derive(Clone, PartialEq, Debug)]
pub struct Family {
    /// Its name without prefix, unit and suffix: `response_time`.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// How its values move.
    pub kind: Kind,
    /// Its samples, each with other labels.
    pub samples: Vec<Sample>,
}

/// The unit of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A count or a state.
    None,
    /// Seconds.
    Seconds,
}

/// How the values of a metric move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// They only grow.
    Counter,
    /// They go up and down.
    Gauge,
    /// A distribution.
    Histogram,
}

/// A value of a metric, with its labels.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// (name, value).
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: Value,
}

/// A number or a distribution.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Of a counter or a gauge.
    Number(f64),
    /// Of a histogram.
    Times(TimesHistogram),
}

impl Family {
    /// Its name in Prometheus, with prefix, unit and suffix: `truetail_response_time_seconds`,
    /// `truetail_requests_sent_total`.
    pub fn prometheus_name(&self) -> String {
        let unit = match self.unit {
            Unit::None => "",
            Unit::Seconds => "_seconds",
        };
        let suffix = if self.kind == Kind::Counter { "_total" } else { "" };
        format!("truetail_{}{unit}{suffix}", self.name)
    }
}
