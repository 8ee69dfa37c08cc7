//! Times of streams.

use truetail_model::record::CompactHistogram;

/// A time of streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamTime {
    /// From the intended start to the first event.
    FirstEvent,
    /// From the intended start to the end of a stream without an event, if one might still have come.
    FirstEventCensored,
    /// From the intended start until it was certain that no event would come.
    FirstEventFailed,
    /// From the intended start to the last event, of complete streams.
    LastEvent,
    /// From one event to the next that was read later.
    EventGap,
    /// From the last event to the end of an incomplete stream.
    EventGapCensored,
    /// The longest gap of a stream, if an event ended every gap.
    LongestGap,
    /// The longest gap of a stream whose last gap no event ended.
    LongestGapCensored,
    /// From the sender's time in a push to its arrival; differs from the truth by at most the bound of the books.
    PushDelay,
    /// From the intended start to the first content of a language model.
    FirstContent,
    /// From the intended start to the end of an answer without content, if content might still have come.
    FirstContentCensored,
    /// From the intended start until it was certain that no content would come.
    FirstContentFailed,
    /// From the actual start to the first content, of answers with content.
    FirstContentService,
    /// From one content event to the next that was read later.
    ContentGap,
    /// From the last content event to the end of an incomplete answer.
    ContentGapCensored,
    /// From the first content event to the last, divided by the number of output tokens less one. Of complete answers.
    TimePerOutputToken,
}

impl StreamTime {
    /// All times, in the order of their declaration.
    pub const ALL: [StreamTime; 16] = [
        StreamTime::FirstEvent,
        StreamTime::FirstEventCensored,
        StreamTime::FirstEventFailed,
        StreamTime::LastEvent,
        StreamTime::EventGap,
        StreamTime::EventGapCensored,
        StreamTime::LongestGap,
        StreamTime::LongestGapCensored,
        StreamTime::PushDelay,
        StreamTime::FirstContent,
        StreamTime::FirstContentCensored,
        StreamTime::FirstContentFailed,
        StreamTime::FirstContentService,
        StreamTime::ContentGap,
        StreamTime::ContentGapCensored,
        StreamTime::TimePerOutputToken,
    ];

    /// Returns true if only answers of language models have this time.
    pub const fn is_of_llm(self) -> bool {
        self as usize >= StreamTime::FirstContent as usize
    }

    /// Returns the tag in `histograms.hlog`.
    pub const fn tag(self) -> &'static str {
        match self {
            StreamTime::FirstEvent => "first_event_time",
            StreamTime::FirstEventCensored => "first_event_time_censored",
            StreamTime::FirstEventFailed => "first_event_time_failed",
            StreamTime::LastEvent => "last_event_time",
            StreamTime::EventGap => "event_gap",
            StreamTime::EventGapCensored => "event_gap_censored",
            StreamTime::LongestGap => "longest_gap",
            StreamTime::LongestGapCensored => "longest_gap_censored",
            StreamTime::PushDelay => "push_delay",
            StreamTime::FirstContent => "first_content_time",
            StreamTime::FirstContentCensored => "first_content_time_censored",
            StreamTime::FirstContentFailed => "first_content_time_failed",
            StreamTime::FirstContentService => "first_content_service_time",
            StreamTime::ContentGap => "content_gap",
            StreamTime::ContentGapCensored => "content_gap_censored",
            StreamTime::TimePerOutputToken => "time_per_output_token",
        }
    }
}

/// The distribution of each [`StreamTime`].
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct StreamTimes([CompactHistogram; StreamTime::ALL.len()]);

impl StreamTimes {
    /// Returns the distribution of one time.
    pub fn get(&self, time: StreamTime) -> &CompactHistogram {
        &self.0[time as usize]
    }

    /// Returns the distribution of one time, to add to.
    pub fn get_mut(&mut self, time: StreamTime) -> &mut CompactHistogram {
        &mut self.0[time as usize]
    }

    /// Returns the distributions that are not empty, with their tags.
    pub fn tagged(&self) -> impl Iterator<Item = (&'static str, &CompactHistogram)> {
        StreamTime::ALL.into_iter().map(|time| (time.tag(), self.get(time))).filter(|(_, times)| times.count() > 0)
    }

    /// Adds the times of another part of the run.
    pub fn merge(&mut self, other: &StreamTimes) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| mine.merge(theirs));
    }
}
