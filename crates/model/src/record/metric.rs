//! The table of metrics: the times that are kept as distributions, their arrivals and their names.
//!
//! A metric is one row of `metrics!` below. The row drives the recorders, the findings, `run.json`, the tags and head
//! of `histograms.hlog`, the columns of `timeline.csv`, and every list of metrics.

use super::{Outcome, RequestRecord};
use crate::time::Nanos;

/// Arrivals that can have a value of a metric. An arrival has one if its record knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricPopulation {
    /// Arrivals that got a whole answer.
    Answered,
    /// Unanswered arrivals with only a lower bound on their response time: see [`Outcome::is_censored`].
    Censored,
    /// Arrivals that failed, so that no answer would ever have come: see [`Outcome::is_failed`].
    Failed,
    /// Arrivals that were attempted.
    Issued,
}

impl MetricPopulation {
    /// Returns true if an arrival with this outcome belongs to the population.
    #[inline]
    pub const fn contains(self, outcome: Outcome) -> bool {
        match self {
            MetricPopulation::Answered => outcome.is_response(),
            MetricPopulation::Censored => outcome.is_censored(),
            MetricPopulation::Failed => outcome.is_failed(),
            MetricPopulation::Issued => !matches!(outcome, Outcome::NeverIssued),
        }
    }
}

/// Rule for writing a metric without any value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmptyMetricRule {
    /// It is written with a count of 0. Every `run.json` has it.
    Always,
    /// It is written with a count of 0. The oldest files of version 1 lack it.
    AddedLater,
    /// It is not written: most runs have no value.
    WhereRecorded,
}

/// The unit of the values of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
}

/// Row of a metric.
#[derive(Clone, Copy, Debug)]
pub struct MetricDefinition {
    /// Name in files, such as the tag of a histogram log.
    pub name: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Description in the head of a histogram log. A line break continues below the beginning of the text.
    pub description: &'static str,
    /// Arrivals that can have a value.
    pub population: MetricPopulation,
    /// Unit of the values.
    pub unit: Unit,
    /// Metric that contains this one as a part.
    pub part_of: Option<Metric>,
    /// Rule for writing it without values.
    pub presence: EmptyMetricRule,
    /// Quantiles in `timeline.csv`, in [0, 1]; 1 is the maximum.
    pub timeline: &'static [f64],
}

macro_rules! metrics {
    ($($(#[$doc:meta])* $variant:ident {
        name: $name:literal,
        label: $label:literal,
        description: $description:literal,
        population: $population:ident,
        part_of: $part_of:expr,
        presence: $presence:ident,
        timeline: $timeline:expr,
        value: |$record:ident| $value:expr,
    })*) => {
        /// Time that is kept as a distribution.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Metric { $($(#[$doc])* $variant,)* }

        impl Metric {
            /// Every metric.
            pub const ALL: [Metric; [$(Metric::$variant),*].len()] = [$(Metric::$variant),*];

            /// Returns the row of this metric.
            pub const fn definition(self) -> &'static MetricDefinition {
                match self {
                    $(Metric::$variant => &MetricDefinition {
                        name: $name,
                        label: $label,
                        description: $description,
                        population: MetricPopulation::$population,
                        unit: Unit::Nanoseconds,
                        part_of: $part_of,
                        presence: EmptyMetricRule::$presence,
                        timeline: $timeline,
                    },)*
                }
            }

            /// Returns a function that reads the value of an arrival; `None` if the arrival is not in the population,
            /// or its value is unknown. Get it once and call it for many arrivals.
            pub fn reader(self) -> fn(&RequestRecord) -> Option<Nanos> {
                match self {
                    $(Metric::$variant => |$record| {
                        if MetricPopulation::$population.contains($record.outcome) { $value } else { None }
                    },)*
                }
            }

            /// Returns the value of one arrival; see [`Metric::reader`].
            pub fn value(self, record: &RequestRecord) -> Option<Nanos> {
                self.reader()(record)
            }
        }

        /// Visits the values of an arrival for `population`. If that is constant, inlining leaves only its rows.
        #[inline(always)]
        fn each_of(population: MetricPopulation, record: &RequestRecord, each: &mut impl FnMut(Metric, Nanos)) {
            $(if population as u8 == MetricPopulation::$population as u8 {
                let $record = record;
                if let Some(value) = $value {
                    each(Metric::$variant, value);
                }
            })*
        }
    };
}

metrics! {
    /// Response time of answered arrivals.
    ResponseTime {
        name: "response_time",
        label: "response time",
        description: "answered arrivals: end - intended start",
        population: Answered,
        part_of: None,
        presence: Always,
        timeline: &[0.5, 0.9, 0.99, 0.999, 1.0],
        value: |record| Some(record.response_time()),
    }
    /// Response time of answered arrivals, less what the generator added. Tables show it beside the response time.
    WithoutGenerator {
        name: "without_generator",
        label: "without the generator",
        description: "the same, each less what the generator added to it at most",
        population: Answered,
        part_of: Some(Metric::ResponseTime),
        presence: WhereRecorded,
        timeline: &[],
        value: |record| Some(record.without_generator()),
    }
    /// Time that censored arrivals waited: a lower bound on their response time.
    Censored {
        name: "censored",
        label: "waited, censored",
        description: "what was waited by arrivals that timed out, were in flight at the end or were never issued:
their response time is at least this",
        population: Censored,
        part_of: None,
        presence: Always,
        timeline: &[],
        value: |record| Some(record.response_time()),
    }
    /// Time until arrivals failed.
    Failed {
        name: "failed",
        label: "waited, failed",
        description: "what was waited until a connect failed, a reset or a malformed answer",
        population: Failed,
        part_of: None,
        presence: Always,
        timeline: &[],
        value: |record| Some(record.response_time()),
    }
    /// Service time of answered arrivals.
    ServiceTime {
        name: "service_time",
        label: "service time",
        description: "answered arrivals: end - actual start",
        population: Answered,
        part_of: None,
        presence: Always,
        timeline: &[0.5, 0.99, 1.0],
        value: |record| Some(record.service_time()),
    }
    /// Start delay of issued arrivals.
    StartDelay {
        name: "start_delay",
        label: "start delay",
        description: "issued arrivals: actual start - intended start = generator_lag + connection_wait + connecting",
        population: Issued,
        part_of: None,
        presence: Always,
        timeline: &[0.5, 0.99, 1.0],
        value: |record| Some(record.delay.total()),
    }
    /// Part of the start delay that the generator caused.
    GeneratorLag {
        name: "generator_lag",
        label: "generator lag",
        description: "its part that the generator itself caused",
        population: Issued,
        part_of: Some(Metric::StartDelay),
        presence: Always,
        timeline: &[0.99, 1.0],
        value: |record| Some(record.delay.generator_lag),
    }
    /// Part of the start delay that the connection cap caused.
    ConnectionWait {
        name: "connection_wait",
        label: "connection wait",
        description: "its part spent waiting for the cap on connections",
        population: Issued,
        part_of: Some(Metric::StartDelay),
        presence: Always,
        timeline: &[0.99, 1.0],
        value: |record| Some(record.delay.connection_wait),
    }
    /// Time to open a connection, of the arrivals that opened one.
    ConnectTime {
        name: "connect_time",
        label: "connecting",
        description: "arrivals that opened a connection, and channels opened before the load: TCP and TLS",
        population: Issued,
        part_of: Some(Metric::StartDelay),
        presence: Always,
        timeline: &[0.99, 1.0],
        value: |record| record.connected.then_some(record.delay.connect),
    }
    /// Time from the arrival of an answer in this host until it was read, if the system tells it. In no other metric.
    ReadLag {
        name: "read_lag",
        label: "read lag",
        description: "answers: from their arrival in this host, where the other times end, to being read",
        population: Answered,
        part_of: None,
        presence: AddedLater,
        timeline: &[0.99, 1.0],
        value: |record| record.read_lag,
    }
    /// TLS part of the time to open a connection, of the arrivals that completed a handshake.
    TlsHandshakeTime {
        name: "tls_handshake_time",
        label: "TLS handshake",
        description: "its part from the TCP connection to the end of the TLS handshake",
        population: Issued,
        part_of: Some(Metric::ConnectTime),
        presence: AddedLater,
        timeline: &[0.99, 1.0],
        value: |record| record.tls_handshake,
    }
    /// Time from the intended start to the first byte, of answered arrivals, if known.
    FirstByteTime {
        name: "first_byte_time",
        label: "time to first byte",
        description: "answered arrivals: first byte of the answer - intended start, where that is known",
        population: Answered,
        part_of: None,
        presence: WhereRecorded,
        timeline: &[0.5, 0.99, 1.0],
        value: |record| record.first_byte.map(|first_byte| first_byte.since(record.intended_start)),
    }
    /// Time from the first byte of a request until its last byte was taken, if that was not at once; of issued
    /// arrivals.
    SendWait {
        name: "send_wait",
        label: "send wait",
        description: "its part in which the rest of a request waited until its last byte was taken, where it waited",
        population: Issued,
        part_of: Some(Metric::ServiceTime),
        presence: WhereRecorded,
        timeline: &[0.99, 1.0],
        value: |record| record.send_wait,
    }
}

impl Metric {
    /// Number of metrics.
    pub const COUNT: usize = Metric::ALL.len();

    /// Returns true if connections that were opened before the load, for no arrival, have a value too.
    pub const fn has_openings(self) -> bool {
        matches!(self, Metric::ConnectTime | Metric::TlsHandshakeTime)
    }

    /// Returns the name in files, such as the tag of a histogram log.
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// Returns the metric of that name.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Returns true if it has its own distribution in `run.json`. The others are in the distribution of the response
    /// time there: answered, censored and failed arrivals together, and the times without the generator as the lower
    /// partner of each quantile.
    pub const fn has_own_distribution(self) -> bool {
        !matches!(self, Metric::ResponseTime | Metric::WithoutGenerator | Metric::Censored | Metric::Failed)
    }

    /// Returns true if it is written with this many values. See [`EmptyMetricRule`].
    pub fn is_written(self, values: u64) -> bool {
        values > 0 || self.definition().presence != EmptyMetricRule::WhereRecorded
    }

    /// Returns every metric, each followed by its parts.
    pub fn with_parts() -> Vec<Metric> {
        fn add(whole: Option<Metric>, into: &mut Vec<Metric>) {
            for metric in Metric::ALL.into_iter().filter(|metric| metric.definition().part_of == whole) {
                into.push(metric);
                add(Some(metric), into);
            }
        }
        let mut metrics = Vec::new();
        add(None, &mut metrics);
        metrics
    }
}

impl RequestRecord {
    /// Visits each of its times, with the metric of the time.
    #[inline]
    pub(super) fn times(&self, mut each: impl FnMut(Metric, Nanos)) {
        match self.outcome {
            Outcome::Response { .. } => each_of(MetricPopulation::Answered, self, &mut each),
            Outcome::TimedOut | Outcome::InFlightAtEnd | Outcome::NeverIssued => {
                each_of(MetricPopulation::Censored, self, &mut each);
            }
            Outcome::ConnectFailed(_) | Outcome::Reset(_) | Outcome::Malformed(_) => {
                each_of(MetricPopulation::Failed, self, &mut each);
            }
        }
        if MetricPopulation::Issued.contains(self.outcome) {
            each_of(MetricPopulation::Issued, self, &mut each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_follows_the_one_it_is_a_part_of() {
        let metrics = Metric::with_parts();
        assert_eq!(metrics.len(), Metric::COUNT);
        let place = |metric: Metric| metrics.iter().position(|other| *other == metric);
        for metric in Metric::ALL {
            let whole = metric.definition().part_of;
            assert!(whole.is_none_or(|whole| place(whole) < place(metric)), "{}", metric.name());
        }
    }
}
