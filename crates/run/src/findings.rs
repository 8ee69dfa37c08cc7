//! What was computed from a run: the other half of `run.json`, version 1.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Index, IndexMut};

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use truetail_model::record::{Metric, Presence, Tally};

use crate::{ArrivalFidelity, ClosedLoopShadow, Settling, Uncertainty};

/// Whether the run's own numbers can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum VerdictState {
    /// They can.
    Valid,
    /// With the stated doubt.
    Suspect,
    /// They cannot.
    Invalid,
}

impl VerdictState {
    /// `VALID`, `SUSPECT` or `INVALID`.
    pub const fn name(self) -> &'static str {
        match self {
            VerdictState::Valid => "VALID",
            VerdictState::Suspect => "SUSPECT",
            VerdictState::Invalid => "INVALID",
        }
    }
}

/// One reason for a verdict, with the numbers that triggered it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reason {
    /// Snake case, explained in `docs/honesty.md`.
    pub code: String,
    /// How bad this reason alone makes it.
    pub state: VerdictState,
    /// A sentence with its numbers, and what to do about it.
    pub message: String,
    /// The numbers, by name; names end in their unit.
    #[serde(flatten)]
    pub numbers: serde_json::Map<String, serde_json::Value>,
}

/// The worst state among the reasons, and the reasons.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// VALID when there is no reason against it.
    pub state: VerdictState,
    /// Worst first.
    pub reasons: Vec<Reason>,
}

/// One quantile of a distribution.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Quantile {
    /// In [0, 1].
    pub q: f64,
    /// The value; a bound from below where `at_least`; `None` where there is none.
    pub value_ns: Option<u64>,
    /// 95 % confidence interval, lower end; `None` where none could be computed.
    pub low_ns: Option<u64>,
    /// 95 % confidence interval, upper end; `None` where none could be computed or it has no upper end.
    pub high_ns: Option<u64>,
    /// The quantile falls among arrivals without an answer: the truth is at least `value_ns`.
    pub at_least: bool,
    /// The quantile falls among arrivals that failed: no answer would ever have come.
    #[serde(default)]
    pub no_answer: bool,
    /// The sample is large enough to carry it.
    pub supported: bool,
    /// Where it is not: how many arrivals would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_n: Option<u64>,
    /// How many independent arrivals would say as much about it; `None` where their order tells nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_n: Option<u64>,
    /// The generator's own lag is too large a part of it.
    #[serde(default)]
    pub unresolved: bool,
}

/// A distribution in a few figures.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// Arrivals in it: for response time all planned ones, for the others those that have the value.
    pub count: u64,
    /// Arrivals in it whose value is only known from below.
    pub censored: u64,
    /// Arrivals in it that failed, so that there is no value.
    #[serde(default)]
    pub failed: u64,
    /// Mean of the values that are known; `None` when there are none. Never the headline.
    pub mean_ns: Option<f64>,
    /// Smallest known value.
    #[serde(default)]
    pub min_ns: Option<u64>,
    /// Largest known value.
    pub max_ns: Option<u64>,
    /// p50, p90, p99, p99.9, p99.99, and 1 (the largest).
    pub quantiles: Vec<Quantile>,
    /// True when computed from every single value; else from histogram buckets, to better than 0.1 %.
    #[serde(default)]
    pub exact: bool,
}

/// The distributions of the metrics that [stand alone](Metric::stands_alone). In files each is a field under its name, in
/// the order of the table of metrics.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct MetricDistributions(BTreeMap<Metric, Distribution>);

/// That of a metric of which nothing was recorded.
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
    /// Metrics that do not stand alone are left out, and so are those without a value that are written only where they
    /// have one.
    fn from_iter<I: IntoIterator<Item = (Metric, Distribution)>>(all: I) -> MetricDistributions {
        let is_kept = |(metric, distribution): &(Metric, Distribution)| {
            metric.stands_alone() && metric.is_written(distribution.count)
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
    /// Passes over fields that name no metric.
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
                    match Metric::from_name(&name).filter(|metric| metric.stands_alone()) {
                        Some(metric) => drop(found.insert(metric, fields.next_value()?)),
                        None => drop(fields.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(found)
            }
        }
        let mut found = deserializer.deserialize_map(Fields)?;
        for metric in Metric::ALL.into_iter().filter(|metric| metric.stands_alone()) {
            match metric.definition().presence {
                Presence::Always if !found.contains_key(&metric) => {
                    return Err(D::Error::missing_field(metric.name()));
                }
                Presence::AddedLater => drop(found.entry(metric).or_default()),
                Presence::Always | Presence::WhereRecorded => {}
            }
        }
        Ok(MetricDistributions(found))
    }
}

/// What was computed from a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    /// Can the numbers be trusted?
    pub verdict: Verdict,
    /// The books, repeated because they are checked here.
    pub tally: Tally,
    /// Over all planned arrivals.
    pub response_time: Distribution,
    /// Over answers with a status below 400; `None` when all or no answers are such.
    pub response_time_success: Option<Distribution>,
    /// Over answers with a status from 400; `None` when there are none.
    pub response_time_error_status: Option<Distribution>,
    /// Every other metric, over its own arrivals.
    pub metrics: MetricDistributions,
    /// Answers per second from the first intended start to the last end; `None` for fewer than two arrivals.
    pub throughput_per_second: Option<f64>,
    /// Planned arrivals per second of the schedule; `None` for fewer than two in a time that nobody chose.
    pub offered_per_second: Option<f64>,
    /// Where the uncertainty of the response time comes from, for each quantile that is a number.
    pub uncertainty: Vec<Uncertainty>,
    /// Where the response time settles.
    pub settling: Settling,
    /// How far the arrivals were those that were planned; `None` where none was issued, or fewer than two planned.
    pub arrival_fidelity: Option<ArrivalFidelity>,
    /// What a closed-loop tool would have reported; `None` where that cannot be said.
    pub closed_loop_shadow: Option<ClosedLoopShadow>,
}
