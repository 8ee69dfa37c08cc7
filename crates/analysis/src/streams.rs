//! The times of streams.

use serde::{Serialize, Serializer};
use truetail_model::record::{CompactHistogram, rank_of};
use truetail_model::time::Nanos;
use truetail_run::{
    Distribution, Goodput, LlmFacts, LlmFindings, Quantile, Run, StampBooks, StreamFacts, StreamFindings, StreamRow,
    StreamRows, StreamTime,
};

use crate::distribution::{distribution, quantile_of};
use crate::population::Population;

/// Name of the last event's time in objectives.
const END_TO_END: &str = "e2e";

/// An assumption about values about which nothing is known, and their number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Untold {
    /// They are below all others.
    Smallest(u64),
    /// They never came.
    Largest(u64),
}

/// A distribution of streams that gates and comparisons may be about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamMetric {
    /// From the intended start to the first event, over all planned arrivals.
    FirstEvent,
    /// From one event to the next that was read later.
    EventGap,
    /// The longest gap of each stream that has one.
    LongestGap,
    /// From the intended start to the first content of a language model, over all planned arrivals.
    FirstContent,
    /// From one content event to the next that was read later.
    ContentGap,
    /// Time per output token after the first, over complete answers with counted tokens.
    TimePerOutputToken,
}

impl Serialize for StreamMetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl StreamMetric {
    /// All metrics.
    pub const ALL: [StreamMetric; 6] = [
        StreamMetric::FirstEvent,
        StreamMetric::EventGap,
        StreamMetric::LongestGap,
        StreamMetric::FirstContent,
        StreamMetric::ContentGap,
        StreamMetric::TimePerOutputToken,
    ];

    /// Returns the name in gates and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            StreamMetric::FirstEvent => "first-event",
            StreamMetric::EventGap => "event-gap",
            StreamMetric::LongestGap => "longest-gap",
            StreamMetric::FirstContent => "ttft",
            StreamMetric::ContentGap => "itl",
            StreamMetric::TimePerOutputToken => "tpot",
        }
    }

    pub(crate) fn named(name: &str) -> Option<StreamMetric> {
        StreamMetric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Returns true if an arrival has at most one value, so that the plan of a load bounds the number of values.
    pub(crate) const fn is_of_each_arrival(self) -> bool {
        matches!(self, StreamMetric::FirstEvent | StreamMetric::FirstContent | StreamMetric::TimePerOutputToken)
    }

    /// Returns true for times from one event to the next.
    pub(crate) const fn is_gap(self) -> bool {
        matches!(self, StreamMetric::EventGap | StreamMetric::LongestGap | StreamMetric::ContentGap)
    }

    /// Returns the metric's values, those only known from below, and the arrivals without a value.
    fn parts(self) -> (StreamTime, Option<StreamTime>, Option<StreamTime>) {
        match self {
            StreamMetric::FirstEvent => {
                (StreamTime::FirstEvent, Some(StreamTime::FirstEventCensored), Some(StreamTime::FirstEventFailed))
            }
            StreamMetric::EventGap => (StreamTime::EventGap, Some(StreamTime::EventGapCensored), None),
            StreamMetric::LongestGap => (StreamTime::LongestGap, Some(StreamTime::LongestGapCensored), None),
            StreamMetric::FirstContent => {
                (StreamTime::FirstContent, Some(StreamTime::FirstContentCensored), Some(StreamTime::FirstContentFailed))
            }
            StreamMetric::ContentGap => (StreamTime::ContentGap, Some(StreamTime::ContentGapCensored), None),
            StreamMetric::TimePerOutputToken => (StreamTime::TimePerOutputToken, None, None),
        }
    }

    /// Returns true if only answers of language models have the metric.
    pub fn is_of_llm(self) -> bool {
        self.parts().0.is_of_llm()
    }

    /// Returns true if these streams have the metric.
    pub(crate) fn is_measured_in(self, streams: &StreamFacts) -> bool {
        is_measured(self.parts().0, streams)
    }

    fn population(self, streams: &StreamFacts) -> Population {
        self.population_with(streams, Untold::Smallest(0))
    }

    fn population_with(self, streams: &StreamFacts, untold: Untold) -> Population {
        let (known, censored, failed) = self.parts();
        let of = |time: Option<StreamTime>, untold: u64| {
            let mut times = time.map(|time| streams.times.get(time).clone()).unwrap_or_default();
            times.record_n(Nanos::ZERO, untold);
            times.to_histogram()
        };
        let (smallest, largest) = match untold {
            Untold::Smallest(count) => (count, 0),
            Untold::Largest(count) => (0, count),
        };
        Population::without_order(of(Some(known), smallest), of(censored, 0), of(failed, largest))
    }

    /// Returns a quantile if there are also values about which nothing is known.
    pub(crate) fn quantile_with(self, streams: &StreamFacts, q: f64, untold: Untold) -> Quantile {
        quantile_of(&self.population_with(streams, untold), q)
    }

    pub(crate) fn quantile(self, streams: &StreamFacts, q: f64) -> Quantile {
        quantile_of(&self.population(streams), q)
    }

    /// Returns a quantile with an interval. `rows` have the values by the intended starts of their streams, so that all
    /// gaps of a stream are in one stretch.
    pub(crate) fn quantile_by_rows(self, streams: &StreamFacts, rows: &StreamRows, q: f64) -> Quantile {
        quantile_of(&self.population(streams).in_order(&self.values_by_row(rows)), q)
    }

    /// Returns the values of each row with any: value and count, with [`u64::MAX`] for values that did not come.
    pub(crate) fn values_by_row(self, rows: &StreamRows) -> Vec<Vec<(u64, u64)>> {
        let (known, censored, failed) = self.parts();
        let values = |row: &StreamRow| {
            let known = row.times.get(known).buckets().map(|(lowest, count)| (lowest.0, count));
            let missing = [censored, failed].into_iter().flatten().map(|time| row.times.get(time).count()).sum();
            known.chain([(u64::MAX, missing)]).filter(|(_, count)| *count > 0).collect::<Vec<_>>()
        };
        rows.first(rows.count()).iter().map(values).filter(|row| !row.is_empty()).collect()
    }

    /// Returns the least value that a quantile can have if `wrong` values are wrong and `unknown` ones are missing.
    pub(crate) fn least_at(self, streams: &StreamFacts, q: f64, wrong: u64, unknown: u64) -> u64 {
        let population = self.population_with(streams, Untold::Smallest(unknown));
        let rank = rank_of(q, population.count());
        if rank > wrong { population.bound_at(rank - wrong) } else { 0 }
    }

    /// Returns the largest value that a quantile can have, likewise. `None` if it is not known.
    pub(crate) fn most_at(self, streams: &StreamFacts, q: f64, wrong: u64, unknown: u64) -> Option<u64> {
        let population = self.population_with(streams, Untold::Largest(unknown));
        let rank = rank_of(q, population.count()).saturating_add(wrong);
        let found = (rank <= population.count()).then(|| population.at(rank));
        found.filter(|found| !found.at_least).map(|found| found.value)
    }

    /// Returns the number of gaps between events that were read at once, which have no value.
    pub(crate) fn read_at_once(self, streams: &StreamFacts) -> u64 {
        match self {
            StreamMetric::EventGap => streams.coalesced_gaps,
            StreamMetric::ContentGap => streams.llm.as_ref().map_or(0, |llm| llm.coalesced_content_gaps),
            _ => 0,
        }
    }

    /// Returns the number of values, their sum in nanoseconds, and how many of them are only lower bounds.
    pub(crate) fn sum(self, streams: &StreamFacts) -> (u64, f64, u64) {
        let (known, censored, failed) = self.parts();
        let of = |time: StreamTime| streams.times.get(time);
        let unknown: Vec<&CompactHistogram> = [censored, failed].into_iter().flatten().map(of).collect();
        let unanswered = unknown.iter().map(|times| times.count()).sum::<u64>();
        let waited = unknown.iter().map(|times| times.sum_ns()).sum::<u128>();
        (of(known).count() + unanswered, (of(known).sum_ns() + waited) as f64, unanswered)
    }
}

/// A distribution of streams by one of its names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NamedStreamTime {
    /// One that gates may be about.
    Metric(StreamMetric),
    /// Another one, over the values that there are.
    Time(StreamTime),
}

impl NamedStreamTime {
    /// Returns each distribution with its name in run.json, and again with its name in gates or objectives, if that is
    /// another one.
    pub fn all() -> impl Iterator<Item = (&'static str, NamedStreamTime)> {
        let metrics = StreamMetric::ALL.into_iter().flat_map(|metric| {
            [metric.parts().0.tag(), metric.name()].map(|name| (name, NamedStreamTime::Metric(metric)))
        });
        let others = [StreamTime::LastEvent, StreamTime::PushDelay, StreamTime::FirstContentService];
        let others = others.into_iter().map(|time| (time.tag(), NamedStreamTime::Time(time)));
        metrics.chain(others).chain([(END_TO_END, NamedStreamTime::Time(StreamTime::LastEvent))])
    }

    /// Returns true if only answers of language models have this time.
    pub fn is_of_llm(self) -> bool {
        self.known().is_of_llm()
    }

    /// Returns true if these streams have this time.
    pub fn is_measured_in(self, streams: &StreamFacts) -> bool {
        is_measured(self.known(), streams)
    }

    /// Returns the time that has the known values.
    pub fn known(self) -> StreamTime {
        match self {
            NamedStreamTime::Metric(metric) => metric.parts().0,
            NamedStreamTime::Time(time) => time,
        }
    }

    /// Returns quantile `q` in [0, 1], computed like the tables of [`findings`](crate::findings()).
    pub fn quantile(self, streams: &StreamFacts, q: f64) -> Quantile {
        match self {
            NamedStreamTime::Metric(metric) => metric.quantile(streams, q),
            NamedStreamTime::Time(time) => quantile_of(&known_values(streams, time), q),
        }
    }
}

/// Returns true if these streams have this time. Answers that come whole have only their end.
fn is_measured(time: StreamTime, streams: &StreamFacts) -> bool {
    match &streams.llm {
        Some(llm) => time == StreamTime::LastEvent || !llm.reading.api.comes_whole(),
        None => !time.is_of_llm(),
    }
}

/// Computes the findings of streams. `planned_per_second` counts planned streams per second of the schedule.
pub(crate) fn findings(streams: &StreamFacts, planned_per_second: Option<f64>) -> StreamFindings {
    let of = |metric: StreamMetric| distribution(&metric.population(streams));
    StreamFindings {
        first_event_time: of(StreamMetric::FirstEvent),
        last_event_time: stream_distribution(streams, StreamTime::LastEvent),
        event_gap: of(StreamMetric::EventGap),
        longest_gap: of(StreamMetric::LongestGap),
        push_delay: streams.stamps.as_ref().map(|_| stream_distribution(streams, StreamTime::PushDelay)),
        push_delay_bound_ns: streams.stamps.as_ref().map(StampBooks::bound_ns),
        llm: streams.llm.as_ref().map(|llm| LlmFindings {
            first_content_time: of(StreamMetric::FirstContent),
            first_content_service_time: stream_distribution(streams, StreamTime::FirstContentService),
            content_gap: of(StreamMetric::ContentGap),
            time_per_output_token: of(StreamMetric::TimePerOutputToken),
            goodput: goodput(llm, streams.tally.planned, planned_per_second),
        }),
    }
}

/// Returns the number of streams that a run planned per second of its schedule. It equals `offered_per_second`, the
/// number of requests, unless only some steps of a flow are streams.
pub fn planned_per_second(run: &Run, offered_per_second: Option<f64>) -> Option<f64> {
    let streams = run.facts.stream.as_ref()?;
    let requests = run.snapshot.tally.planned;
    if streams.reading.of_steps.is_empty() || requests == 0 {
        return offered_per_second;
    }
    Some(offered_per_second? * streams.tally.planned as f64 / requests as f64)
}

fn stream_distribution(streams: &StreamFacts, time: StreamTime) -> Distribution {
    distribution(&known_values(streams, time))
}

fn known_values(streams: &StreamFacts, time: StreamTime) -> Population {
    Population::from_histogram(streams.times.get(time).to_histogram(), None)
}

/// Goodput is over planned requests: a request that was never issued, or did not end, met no objective.
fn goodput(llm: &LlmFacts, planned: u64, planned_per_second: Option<f64>) -> Option<Goodput> {
    let slo = llm.slo.as_ref()?;
    let share = |part: u64| (planned > 0).then(|| part.min(planned) as f64 / planned as f64);
    let met = share(slo.met);
    let at_most = share(slo.met.saturating_add(slo.cannot_tell));
    let per_second = |share: Option<f64>| Some(share? * planned_per_second?);
    Some(Goodput {
        slo: slo.objectives.clone(),
        planned,
        met: slo.met,
        cannot_tell: slo.cannot_tell,
        share: met,
        share_at_most: at_most,
        per_second: per_second(met),
        per_second_at_most: per_second(at_most),
    })
}
