//! Objectives: definitions of bad requests and of their allowed share.

use std::fmt;
use std::str::FromStr;

use truetail_model::record::{Metric, RequestRecord};

use truetail_run::{Quantile, Run};

use super::stream_limit::StreamLimit;
use crate::gates::{Clause, Gate, Subject, wrong_polarity};

/// An objective of a service, such as `p99 < 50ms` or `error-rate < 0.1%`.
///
/// Each objective is a limit on the share of bad requests. For example, p99 is below 50 ms exactly if no more than 1 %
/// of the requests take 50 ms or longer.
#[derive(Clone, PartialEq, Debug)]
pub struct Objective {
    text: String,
    bad: BadRequest,
    allowed: f64,
}

/// Definition of a bad request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum BadRequest {
    /// Requests that take this long or longer, and requests without an answer.
    Slow {
        metric: Metric,
        /// Shortest bad time, in nanoseconds.
        from_ns: u64,
    },
    /// Requests without an answer or with an error status.
    Failed,
    /// Requests without an answer.
    Unanswered,
    /// Streams, or values of streams.
    OfStreams(StreamLimit),
}

/// Reason why a text is not an objective. One line that quotes the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectiveError(String);

impl fmt::Display for ObjectiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ObjectiveError {}

impl fmt::Display for Objective {
    /// Writes the text of the objective as given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    /// Parses `METRIC < LIMIT` or `METRIC <= LIMIT`. METRIC is a percentile of a time, `error-rate`, `unanswered` or
    /// `incomplete-streams`. Also parses `goodput > LIMIT`.
    fn from_str(text: &str) -> Result<Objective, ObjectiveError> {
        let quoted = text.trim();
        let clause = Clause::parse(text).map_err(ObjectiveError)?;
        let refuse = |why: &str| Err(ObjectiveError(format!("'{quoted}': {why}")));
        let good_is_large = clause.subject == Subject::Goodput;
        if clause.upward != good_is_large && clause.subject != Subject::Throughput {
            return Err(ObjectiveError(wrong_polarity("--slo", text, "is not met by a good service")));
        }
        if clause.has_target {
            return refuse("an objective is about all requests; leave {…} out");
        }
        match clause.subject {
            Subject::Quantile(_, q) | Subject::StreamQuantile(_, q) if q >= 1.0 => {
                return refuse("the largest time grows with the length of a probe; use p99.9");
            }
            Subject::Mean => return refuse("a mean cannot be proven by counting requests; use a percentile"),
            Subject::CheckFailures => return refuse("checks are not part of a search; use error-rate"),
            Subject::Sessions => return refuse("sessions are not part of a search; use p99 or first-byte"),
            Subject::Events => return refuse("events are not part of a search; use p99 or error-rate"),
            Subject::Throughput => return refuse("the search itself finds the throughput; use p99 or error-rate"),
            Subject::Quantile(..)
            | Subject::StreamQuantile(..)
            | Subject::ErrorRate
            | Subject::Unanswered
            | Subject::IncompleteStreams
            | Subject::Goodput => {}
        }
        // '< 50ms' makes 50 ms bad, '<= 50ms' does not.
        let (bad, allowed) = BadRequest::counted_in(&clause, !clause.or_equal).expect("other subjects are refused");
        if allowed <= 0.0 || allowed >= 1.0 {
            return refuse("no number of requests can prove this; write a share between 0 and 100%, such as 0.1%");
        }
        Ok(Objective { text: quoted.to_owned(), bad, allowed })
    }
}

impl BadRequest {
    /// Requests that count against a clause, and their share at its limit, in [0, 1]. `None` if none can be counted.
    /// With `limit_is_bad`, a request that takes exactly the limit counts.
    pub(super) fn counted_in(clause: &Clause, limit_is_bad: bool) -> Option<(BadRequest, f64)> {
        let first_bad = (clause.limit as u64).saturating_add(u64::from(!limit_is_bad));
        match clause.subject {
            Subject::Quantile(metric, q) => Some((BadRequest::Slow { metric, from_ns: first_bad }, 1.0 - q)),
            Subject::ErrorRate => Some((BadRequest::Failed, clause.limit)),
            Subject::Unanswered => Some((BadRequest::Unanswered, clause.limit)),
            Subject::StreamQuantile(metric, q) => {
                Some((BadRequest::OfStreams(StreamLimit::Time { metric, from_ns: first_bad }), 1.0 - q))
            }
            Subject::IncompleteStreams => Some((BadRequest::OfStreams(StreamLimit::Incomplete), clause.limit)),
            Subject::Goodput => Some((BadRequest::OfStreams(StreamLimit::Goodput), 1.0 - clause.limit)),
            Subject::Mean | Subject::CheckFailures | Subject::Throughput | Subject::Sessions | Subject::Events => None,
        }
    }
}

impl Objective {
    pub(super) fn new(text: &str, bad: BadRequest, allowed: f64) -> Objective {
        Objective { text: text.to_owned(), bad, allowed }
    }

    /// Share of requests that may be bad, in (0, 1).
    pub fn allowed(&self) -> f64 {
        self.allowed
    }

    /// Name of the limited percentile, such as `ttft p99`; `None` unless the objective limits a time.
    pub fn time_name(&self) -> Option<&str> {
        let name = self.text.split('<').next().map(str::trim)?;
        match self.bad {
            BadRequest::Slow { .. } | BadRequest::OfStreams(StreamLimit::Time { .. }) => Some(name),
            BadRequest::Failed | BadRequest::Unanswered | BadRequest::OfStreams(_) => None,
        }
    }

    /// The limited percentile in a run; `None` unless the objective limits a time.
    pub fn quantile_in(&self, run: &Run) -> Option<Quantile> {
        let q = 1.0 - self.allowed;
        match self.bad {
            BadRequest::Slow { metric, .. } => Some(crate::quantile(run, metric, q)),
            BadRequest::OfStreams(StreamLimit::Time { metric, .. }) => {
                Some(metric.quantile(run.facts.stream.as_ref()?, q))
            }
            BadRequest::Failed | BadRequest::Unanswered | BadRequest::OfStreams(_) => None,
        }
    }

    /// Returns true if the objective is about streams.
    pub fn is_about_streams(&self) -> bool {
        matches!(self.bad, BadRequest::OfStreams(_))
    }

    /// Returns true if the objective is about a time of streams.
    pub fn is_about_stream_times(&self) -> bool {
        matches!(self.bad, BadRequest::OfStreams(StreamLimit::Time { .. }))
    }

    /// Returns true if the objective is about language models.
    pub fn is_about_llm(&self) -> bool {
        matches!(self.bad, BadRequest::OfStreams(limit) if limit.is_about_llm())
    }

    /// Returns true if the objective is about goodput, which needs objectives of each request.
    pub fn is_about_goodput(&self) -> bool {
        self.bad == BadRequest::OfStreams(StreamLimit::Goodput)
    }

    /// Returns the objective of each request that has this limit; see [`Gate::for_each_request`].
    pub fn for_each_request(&self) -> Option<String> {
        self.text.parse::<Gate>().ok()?.for_each_request()
    }

    /// Limit in nanoseconds, if the objective limits a time of requests. Requests are bad from this time on.
    pub fn limit_ns(&self) -> Option<u64> {
        match self.bad {
            BadRequest::Slow { from_ns, .. } => Some(from_ns),
            BadRequest::Failed | BadRequest::Unanswered | BadRequest::OfStreams(_) => None,
        }
    }

    /// Returns true if an answer with an error status is bad, no matter how fast it is.
    pub fn counts_error_statuses(&self) -> bool {
        self.bad == BadRequest::Failed
    }

    pub(super) fn bad(&self) -> BadRequest {
        self.bad
    }

    /// Time that decides whether a request is bad: [`u64::MAX`] without any time, `None` if the request does not count.
    /// With `without_generator`, the generator's own delay is subtracted.
    pub(super) fn judged_time(&self, record: &RequestRecord, without_generator: bool) -> Option<u64> {
        match self.bad {
            BadRequest::Slow { .. } if !record.outcome.is_response() => Some(u64::MAX),
            BadRequest::Slow { metric: Metric::ResponseTime, .. } if without_generator => {
                Some(record.without_generator().0)
            }
            BadRequest::Slow { metric, .. } => metric.value(record).map(|time| time.0),
            BadRequest::Failed => Some(if record.outcome.is_success() { 0 } else { u64::MAX }),
            BadRequest::Unanswered => Some(if record.outcome.is_response() { 0 } else { u64::MAX }),
            BadRequest::OfStreams(_) => None,
        }
    }

    pub(super) fn bad_from(&self) -> u64 {
        self.limit_ns().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod unit {
    use truetail_model::arrival::Arrival;
    use truetail_model::record::Outcome;
    use truetail_model::time::Timestamp;

    use super::*;

    #[test]
    fn a_request_without_an_answer_is_bad_for_every_time() {
        let arrival = Arrival { index: 0, intended_start: Timestamp(0) };
        for outcome in [Outcome::TimedOut, Outcome::NeverIssued, Outcome::InFlightAtEnd] {
            let record = RequestRecord::new(arrival, Timestamp(0), Timestamp(1_000), outcome);
            for text in ["p99 < 50ms", "service-time p99 < 50ms", "first-byte p99 < 50ms"] {
                let objective: Objective = text.parse().expect(text);
                assert_eq!(objective.judged_time(&record, false), Some(u64::MAX), "{text} {outcome:?}");
            }
        }
    }
}
