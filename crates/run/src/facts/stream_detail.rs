//! Data for pictures of streams.

use serde::{Deserialize, Serialize};

use super::gap_map::GapMap;
use super::sampled_streams::SampledStreams;
use super::stream_time::{StreamTime, StreamTimes};

/// Data for pictures of the streams, besides their distributions. Its size does not depend on the length of the run.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamDetail {
    /// Gaps between events by time.
    pub gaps: GapMap,
    /// A few streams in full.
    pub sampled: SampledStreams,
}

impl StreamDetail {
    pub(super) fn merge(&mut self, other: &StreamDetail) {
        self.gaps.merge(&other.gaps);
        self.sampled.merge(&other.sampled);
    }

    /// Returns the reason why this detail does not fit these distributions; `None` if it does.
    pub(crate) fn imbalance(&self, times: &StreamTimes) -> Option<String> {
        let of = |time: StreamTime| times.get(time).count();
        let gaps = of(StreamTime::EventGap);
        let open = of(StreamTime::EventGapCensored);
        if (self.gaps.gaps(), self.gaps.open()) != (gaps, open) {
            let found = self.gaps.gaps();
            let found_open = self.gaps.open();
            return Some(format!(
                "it has {found} gaps and {found_open} that no event ended, and the histograms have {gaps} and {open}"
            ));
        }
        self.sampled.problem().map(str::to_owned)
    }
}
