//! Distributions and their quantiles.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Index, IndexMut};

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use truetail_model::record::{EmptyMetricRule, Metric};

/// One quantile of a distribution.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Quantile {
    /// The quantile, in [0, 1].
    pub q: f64,
    /// The value, or a lower bound if `at_least`; `None` if the distribution has no value.
    pub value_ns: Option<u64>,
    /// Lower end of the 95 % confidence interval; `None` if it could not be computed.
    pub low_ns: Option<u64>,
    /// Upper end of the 95 % confidence interval; `None` if it could not be computed or is unbounded.
    pub high_ns: Option<u64>,
    /// True if the quantile falls among arrivals without an answer: the truth is at least `value_ns`.
    pub at_least: bool,
    /// True if the quantile falls among failed arrivals: no answer would ever have come.
    #[serde(default)]
    pub no_answer: bool,
    /// True if the sample is large enough for this quantile.
    pub supported: bool,
    /// Number of arrivals that the quantile needs, if it is not supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_n: Option<u64>,
    /// Number of independent arrivals that would be as informative; `None` if that cannot be estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_n: Option<u64>,
    /// The same quantile of each request's response time less the generator's own contribution. `None` if that was not
    /// recorded, or for other metrics than the response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_generator_ns: Option<u64>,
    /// True if the generator's own lag is too large a part of the value.
    #[serde(default)]
    pub unresolved: bool,
}

/// Summary of a distribution.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of arrivals: all planned ones for response time, otherwise the arrivals that have the value.
    pub count: u64,
    /// Number of these arrivals with only a lower bound.
    pub censored: u64,
    /// Number of these arrivals that failed and so have no value.
    #[serde(default)]
    pub failed: u64,
    /// Mean of the known values, if any. Never the headline.
    pub mean_ns: Option<f64>,
    /// Smallest known value.
    #[serde(default)]
    pub min_ns: Option<u64>,
    /// Largest known value.
    pub max_ns: Option<u64>,
    /// p50, p90, p99, p99.9, p99.99, and 1 (the largest).
    pub quantiles: Vec<Quantile>,
    /// True if computed from every single value; otherwise from histogram buckets, with an error below 0.1 %.
    #[serde(default)]
    pub exact: bool,
}

/// Distributions of the metrics that [have one](Metric::has_own_distribution). In files, each is a field named after
/// its metric, in the order of the table of metrics.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct MetricDistributions(BTreeMap<Metric, Distribution>);

/// Distribution of a metric without any record.
static NOTHING_RECORDED: Distribution = Distribution {
    count: 0,
    censored: 0,
    failed: 0,
    mean_ns: None,
    min_ns: None,
    max_ns: None,
    quantiles: Vec::new(),
    exact: false,
};

impl FromIterator<(Metric, Distribution)> for MetricDistributions {
    /// Omits metrics without their own distribution, and empty metrics that are written only if they have a value.
    fn from_iter<I: IntoIterator<Item = (Metric, Distribution)>>(all: I) -> MetricDistributions {
        let is_kept = |(metric, distribution): &(Metric, Distribution)| {
            metric.has_own_distribution() && metric.is_written(distribution.count)
        };
        MetricDistributions(all.into_iter().filter(is_kept).collect())
    }
}

impl Index<Metric> for MetricDistributions {
    type Output = Distribution;

    fn index(&self, metric: Metric) -> &Distribution {
        self.0.get(&metric).unwrap_or(&NOTHING_RECORDED)
    }
}

impl IndexMut<Metric> for MetricDistributions {
    fn index_mut(&mut self, metric: Metric) -> &mut Distribution {
        self.0.entry(metric).or_default()
    }
}

impl Serialize for MetricDistributions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(metric, distribution)| (metric.name(), distribution)))
    }
}

impl<'de> Deserialize<'de> for MetricDistributions {
    /// Skips fields that name no metric.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MetricDistributions, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = BTreeMap<Metric, Distribution>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("distributions by the name of their metric")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
                let mut found = BTreeMap::new();
                while let Some(name) = fields.next_key::<String>()? {
                    match Metric::from_name(&name).filter(|metric| metric.has_own_distribution()) {
                        Some(metric) => drop(found.insert(metric, fields.next_value()?)),
                        None => drop(fields.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(found)
            }
        }
        let mut found = deserializer.deserialize_map(Fields)?;
        for metric in Metric::ALL.into_iter().filter(|metric| metric.has_own_distribution()) {
            match metric.definition().presence {
                EmptyMetricRule::Always if !found.contains_key(&metric) => {
                    return Err(D::Error::missing_field(metric.name()));
                }
                EmptyMetricRule::AddedLater => drop(found.entry(metric).or_default()),
                EmptyMetricRule::Always | EmptyMetricRule::WhereRecorded => {}
            }
        }
        Ok(MetricDistributions(found))
    }
}
