//! Books of the spans that services reported about a run (`--otlp-receive`, `report --spans`).

use serde::{Deserialize, Serialize};

/// Counts of spans. Each received span is in exactly one of the other counts of spans.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct SpanBooks {
    /// Spans that were read.
    pub received: u64,
    /// Spans that are a part of a response time.
    pub used: u64,
    /// Spans of traces that the run did not start.
    pub foreign: u64,
    /// Spans of requests that the run does not keep: of the warm-up, or of a long run.
    pub not_kept: u64,
    /// Spans that came twice.
    pub doubled: u64,
    /// Spans that no chain of parents connects with their request.
    pub without_parent: u64,
    /// Spans with an id of a wrong length, that end before they start, or that last longer than a week.
    pub damaged: u64,
    /// Spans beyond the limits on memory.
    pub left_out: u64,
    /// Messages that could not be read to their end, or were refused.
    pub unread: u64,
    /// What was wrong with the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl SpanBooks {
    /// Limit on the spans that a run keeps. They take 96 MiB. Counts, order and parts of the spans of each request come
    /// on top: with a request for each span, the measured peak was 206 MiB.
    pub const MAX_SPANS: u64 = 1 << 21;

    /// Returns true if spans were left out because as many were kept as can be: later answers lack theirs.
    pub fn ran_full(&self) -> bool {
        let kept = [self.used, self.not_kept, self.doubled, self.without_parent];
        self.left_out > 0 && kept.into_iter().fold(0, u64::saturating_add) >= SpanBooks::MAX_SPANS
    }

    /// Returns the sum of the counts of spans, which is [`SpanBooks::received`].
    fn sum(&self) -> u64 {
        let SpanBooks { used, foreign, not_kept, doubled, without_parent, damaged, left_out, .. } = *self;
        let all = [used, foreign, not_kept, doubled, without_parent, damaged, left_out];
        all.into_iter().fold(0, u64::saturating_add)
    }

    /// Returns the reason why the books do not balance; `None` if they do.
    pub fn imbalance(&self) -> Option<String> {
        let sum = self.sum();
        let problem = || format!("server_timing.spans: {} spans were received, and {sum} counted", self.received);
        (sum != self.received).then(problem)
    }

    /// Adds the books of another part of the load. Sums saturate.
    pub(super) fn add(&mut self, other: &SpanBooks) {
        for (mine, others) in [
            (&mut self.used, other.used),
            (&mut self.foreign, other.foreign),
            (&mut self.not_kept, other.not_kept),
            (&mut self.doubled, other.doubled),
            (&mut self.without_parent, other.without_parent),
            (&mut self.damaged, other.damaged),
            (&mut self.left_out, other.left_out),
            (&mut self.unread, other.unread),
        ] {
            *mine = mine.saturating_add(others);
        }
        self.received = self.sum();
        if self.problem.is_none() {
            self.problem.clone_from(&other.problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn books_of_parts_add_up_and_balance() {
        let mut one = SpanBooks { received: 7, used: 4, foreign: 2, damaged: 1, ..SpanBooks::default() };
        let problem = Some("it is cut off".to_owned());
        one.add(&SpanBooks { received: 3, used: 1, not_kept: 2, unread: 1, problem, ..SpanBooks::default() });
        assert_eq!((one.received, one.used, one.unread, one.imbalance()), (10, 5, 1, None));
        assert!(one.problem.is_some());
        assert!(SpanBooks { received: 11, ..one }.imbalance().is_some());
    }

    #[test]
    fn spans_are_left_out_for_their_number_or_for_that_of_their_trace() {
        let full = SpanBooks { used: SpanBooks::MAX_SPANS - 1, doubled: 1, left_out: 1, ..SpanBooks::default() };
        assert!(full.ran_full());
        assert!(!SpanBooks { left_out: 0, ..full.clone() }.ran_full());
        assert!(!SpanBooks { doubled: 0, foreign: 5, ..full }.ran_full());
    }
}
