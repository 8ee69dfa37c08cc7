//! The times of streams.

use truetail_model::record::CompactHistogram;
use truetail_run::{Distribution, Quantile, StreamFacts, StreamFindings, StreamTime};

use crate::distribution::{distribution, quantile_of};
use crate::population::Population;

/// A distribution of streams that a gate may be about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StreamMetric {
    /// From the intended start to the first event, over all planned arrivals.
    FirstEvent,
    /// From one event to the next that was read later.
    EventGap,
    /// The longest gap of each stream that has one.
    LongestGap,
}

impl StreamMetric {
    /// Its values; what is known of them from below; and how many have none.
    fn parts(self) -> (StreamTime, StreamTime, Option<StreamTime>) {
        match self {
            StreamMetric::FirstEvent => {
                (StreamTime::FirstEvent, StreamTime::FirstEventCensored, Some(StreamTime::FirstEventFailed))
            }
            StreamMetric::EventGap => (StreamTime::EventGap, StreamTime::EventGapCensored, None),
            StreamMetric::LongestGap => (StreamTime::LongestGap, StreamTime::LongestGapCensored, None),
        }
    }

    fn population(self, streams: &StreamFacts) -> Population {
        let (known, censored, failed) = self.parts();
        let of = |time| streams.times.of(time).to_histogram();
        Population::without_order(of(known), of(censored), failed.map(of).unwrap_or_default())
    }

    /// Quantile `q` of it.
    pub(crate) fn quantile(self, streams: &StreamFacts, q: f64) -> Quantile {
        quantile_of(&self.population(streams), q)
    }

    /// How many values there are, known or not, and their sum; and of how many only a bound from below is in it.
    pub(crate) fn sum(self, streams: &StreamFacts) -> (u64, f64, u64) {
        let (known, censored, failed) = self.parts();
        let of = |time: StreamTime| streams.times.of(time);
        let unknown: Vec<&CompactHistogram> = [Some(censored), failed].into_iter().flatten().map(of).collect();
        let unanswered = unknown.iter().map(|times| times.count()).sum::<u64>();
        let waited = unknown.iter().map(|times| times.sum_ns()).sum::<u128>();
        (of(known).count() + unanswered, (of(known).sum_ns() + waited) as f64, unanswered)
    }
}

/// What is computed of the streams of a run.
pub(crate) fn findings(streams: &StreamFacts) -> StreamFindings {
    let of = |metric: StreamMetric| distribution(&metric.population(streams));
    StreamFindings {
        first_event_time: of(StreamMetric::FirstEvent),
        last_event_time: last_event_time(streams),
        event_gap: of(StreamMetric::EventGap),
        longest_gap: of(StreamMetric::LongestGap),
    }
}

fn last_event_time(streams: &StreamFacts) -> Distribution {
    distribution(&Population::of_histogram(streams.times.of(StreamTime::LastEvent).to_histogram(), None))
}
