use truetail_model::record::{CompactHistogram, Histogram};
use truetail_model::time::Nanos;
use truetail_run::{
    GapMap, LlmFacts, StampBooks, StreamDetail, StreamFacts, StreamKind, StreamReading, StreamTally, StreamTime,
    StreamTimes,
};

use crate::options::StreamOptions;
use crate::slo::Objective;
use crate::tokenizer::Tokenizer;

/// Times up to this limit are recorded without allocation.
const ROOM: Nanos = Nanos::from_secs(120);

/// Counts and times of the measured streams of one worker.
#[derive(Debug)]
pub(crate) struct StreamResults {
    pub(crate) tally: StreamTally,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    pub(crate) coalesced_gaps: u64,
    pub(crate) stalls: u64,
    /// Sum of the times that subscribed channels were listened to.
    pub(crate) listened: Nanos,
    /// Books of the sender's times in pushes, if they are read.
    pub(crate) stamps: Option<StampBooks>,
    /// Counts for language models, if answers are read as theirs.
    pub(crate) llm: Option<LlmFacts>,
    /// Data for charts.
    pub(crate) detail: StreamDetail,
    times: [Histogram; StreamTime::ALL.len()],
}

impl StreamResults {
    pub(crate) fn new(options: &StreamOptions) -> StreamResults {
        let objectives = |slo: &[Objective]| slo.iter().map(Objective::to_string).collect();
        let room = |time: StreamTime| {
            let is_asked = options.llm.is_some() || !time.is_of_llm();
            if is_asked { Histogram::with_room_for(ROOM) } else { Histogram::new() }
        };
        StreamResults {
            tally: StreamTally::default(),
            events: 0,
            bytes: 0,
            coalesced_gaps: 0,
            stalls: 0,
            listened: Nanos::ZERO,
            stamps: options.stamps.clone(),
            llm: options.llm.as_ref().map(|llm| LlmFacts {
                by_client: llm.tokenizer.as_ref().map(Tokenizer::no_tokens),
                ..LlmFacts::new(llm.api, objectives(&llm.slo))
            }),
            detail: StreamDetail { gaps: GapMap::with_room(), ..StreamDetail::default() },
            times: StreamTime::ALL.map(room),
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, time: StreamTime, value: Nanos) {
        self.times[time as usize].record(value);
    }

    /// Returns the results in their final form.
    pub(crate) fn facts(&self, options: &StreamOptions) -> StreamFacts {
        let mut times = StreamTimes::default();
        StreamTime::ALL.into_iter().for_each(|time| *times.get_mut(time) = compact(&self.times[time as usize]));
        StreamFacts {
            reading: StreamReading {
                stall_ns: options.stall.map(|stall| stall.0),
                idle_timeout_ns: options.idle_timeout.map(|timeout| timeout.0),
                end_mark: options.end_mark.clone(),
                ..StreamReading::new(options.kind)
            },
            tally: self.tally,
            events: self.events,
            bytes: (options.kind != StreamKind::Items).then_some(self.bytes),
            coalesced_gaps: self.coalesced_gaps,
            stalls: self.stalls,
            listened_ns: (options.kind == StreamKind::Pushes).then_some(self.listened.0),
            stamps: self.stamps.clone(),
            llm: self.llm.clone(),
            times,
            detail: Some(self.detail.clone()),
        }
    }
}

fn compact(histogram: &Histogram) -> CompactHistogram {
    let mut compact = CompactHistogram::default();
    histogram.buckets().for_each(|(lowest, _, count)| compact.record_n(lowest, count));
    if let (Some(min), Some(max)) = (histogram.min(), histogram.max()) {
        compact.restore_exact(histogram.sum_ns(), min, max);
    }
    compact
}
