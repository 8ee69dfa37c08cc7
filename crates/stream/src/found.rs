use truetail_model::record::{CompactHistogram, Histogram};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{
    GapMap, LlmFacts, RequestStreams, StampBooks, StreamDetail, StreamFacts, StreamKind, StreamReading, StreamRowBooks,
    StreamRows, StreamTally, StreamTime, StreamTimes,
};

use crate::open_gaps::GapRecorder;
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
    /// Gaps of the stream under way.
    pub(crate) gaps: GapRecorder,
    times: [Histogram; StreamTime::ALL.len()],
    /// `None` if nobody looks at them.
    by_start: Option<ByStart>,
}

/// The same times and counts, by the intended starts of the streams.
#[derive(Default, Debug)]
struct ByStart {
    rows: StreamRows,
    /// Intended start of the stream under way.
    start: Timestamp,
    /// Counts that are in the rows.
    counted: StreamRowBooks,
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
                reading: llm.reading(),
                ..LlmFacts::new(llm.api, objectives(&llm.slo))
            }),
            detail: StreamDetail { gaps: GapMap::with_room(), ..StreamDetail::default() },
            gaps: GapRecorder::new(options),
            times: StreamTime::ALL.map(room),
            by_start: None,
        }
    }

    /// Also keeps times and counts by the intended starts of the streams. Rows take memory and time for each event.
    pub(crate) fn keep_rows(&mut self) {
        self.by_start = Some(ByStart::default());
    }

    /// Sets the intended start of the stream that the next records are about.
    #[inline]
    pub(crate) fn of_stream(&mut self, intended_start: Timestamp) {
        if let Some(by_start) = &mut self.by_start {
            by_start.start = intended_start;
        }
    }

    #[inline]
    pub(crate) fn record(&mut self, time: StreamTime, value: Nanos) {
        self.times[time as usize].record(value);
        self.gaps.record(time, value);
        if let Some(ByStart { rows, start, .. }) = &mut self.by_start {
            rows.record(*start, time, value);
        }
    }

    /// Adds the counts that have grown to the row of the stream under way.
    pub(crate) fn settle(&mut self) {
        let Some(ByStart { rows, start, counted }) = &mut self.by_start else { return };
        let now = row_books(&self.tally, self.llm.as_ref());
        let grown = now.since(counted);
        *counted = now;
        if grown != StreamRowBooks::default() {
            rows.at(*start).books.add(&grown);
        }
    }

    /// Returns the rows since the last call, by intended start, if they are kept.
    pub(crate) fn take_rows(&mut self) -> Option<StreamRows> {
        self.by_start.as_mut().map(|by_start| std::mem::take(&mut by_start.rows))
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
            requests: RequestStreams::default(),
            detail: Some(self.detail.clone()),
        }
    }
}

fn row_books(tally: &StreamTally, llm: Option<&LlmFacts>) -> StreamRowBooks {
    let slo = llm.and_then(|llm| llm.slo.as_ref());
    StreamRowBooks {
        ended: tally.planned,
        complete: tally.complete,
        met: slo.map_or(0, |slo| slo.met),
        cannot_tell: slo.map_or(0, |slo| slo.cannot_tell),
        unknown_first_content: llm.map_or(0, |llm| llm.unmeasured.first_content),
        unknown_content_gaps: llm.map_or(0, |llm| llm.unmeasured.gaps),
        unknown_time_per_output_token: llm.map_or(0, |llm| llm.tokens.unknown_time_per_output_token),
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
