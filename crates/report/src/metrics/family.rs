//! Metrics as values, independent of the format.

use super::TimesHistogram;

/// A metric with all its samples.
#[derive(Clone, PartialEq, Debug)]
pub struct Family {
    /// Name without prefix, unit and suffix: `response_time`.
    pub name: &'static str,
    /// Description in a sentence.
    pub help: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Kind of the metric.
    pub kind: Kind,
    /// Samples with different labels.
    pub samples: Vec<Sample>,
}

/// The unit of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// No unit: a count or a state.
    None,
    /// Seconds.
    Seconds,
}

/// Kind of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Its values only grow.
    Counter,
    /// Its values go up and down.
    Gauge,
    /// Its values are distributions.
    Histogram,
}

/// A value of a metric, with its labels.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// Labels: (name, value).
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: Value,
}

/// A number or a distribution.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Value of a counter or a gauge.
    Number(f64),
    /// Value of a histogram.
    Times(TimesHistogram),
}

impl Family {
    /// Returns the name in Prometheus, with prefix, unit and suffix: `truetail_response_time_seconds`,
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
