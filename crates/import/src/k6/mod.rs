//! Meaning of k6's samples, in CSV and JSON.

mod csv;
mod json;
mod summary;

use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::{ForeignLoad, ForeignRequest};
use truetail_tools::{FailureClassifier, files};

use crate::rows::number::{Finest, Measured, Unit, whole};
use crate::rows::{RunFacts, Taken, Workers, Wrong};

pub(crate) use csv::K6Csv;
pub(crate) use json::K6Json;
pub(crate) use summary::SUMMARY;

/// The metric whose samples are requests of HTTP.
pub(crate) const DURATION: &[u8] = b"http_req_duration";
/// The metric whose samples are calls of gRPC.
pub(crate) const CALL_DURATION: &[u8] = b"grpc_req_duration";
/// The metric of iterations that were due and did not begin: no virtual user was free, or `maxDuration` was over.
pub(crate) const DROPPED: &[u8] = b"dropped_iterations";
/// The metric of the number of virtual users, active or not.
pub(crate) const VUS_MAX: &[u8] = b"vus_max";
/// Every metric that is read.
pub(crate) const READ: [&[u8]; 4] = [DURATION, CALL_DURATION, DROPPED, VUS_MAX];

/// A sample of [`DURATION`] or [`CALL_DURATION`]. Missing tags are empty.
pub(crate) struct Sample<'r> {
    /// It is a call of gRPC, whose status is gRPC's.
    pub is_call: bool,
    /// k6 stamps the end of a request.
    pub end: Measured,
    /// It starts once the connection is open.
    pub duration_ns: u64,
    /// `None` if the file has no statuses.
    pub status: Option<&'r [u8]>,
    pub error_code: &'r [u8],
    pub error: &'r [u8],
    pub user: &'r [u8],
}

/// Summary of the samples.
#[derive(Default)]
pub(crate) struct K6Requests {
    workers: Workers,
    failures: FailureClassifier,
    dropped: u64,
    users: u64,
    resolution: Finest,
}

impl K6Requests {
    /// Counts a sample of [`DROPPED`] or [`VUS_MAX`].
    pub(crate) fn count(&mut self, metric: &[u8], value: u64) {
        if metric == DROPPED {
            self.dropped = self.dropped.saturating_add(value);
        } else {
            self.users = self.users.max(value);
        }
    }

    /// Returns the request of a sample.
    pub(crate) fn request(&mut self, sample: &Sample<'_>) -> Result<Taken, Wrong> {
        // In whole seconds a request may seem to end before it started, but not before 1970.
        let start_ns = sample.end.ns.checked_sub(sample.duration_ns).ok_or(Wrong::Shape("a request of our days"))?;
        self.resolution.see(sample.end);
        Ok(Taken::Request(ForeignRequest {
            worker: self.workers.number(sample.user),
            ..ForeignRequest::new(Some(start_ns), Nanos(sample.duration_ns), self.outcome(sample))
        }))
    }

    fn outcome(&mut self, sample: &Sample<'_>) -> Outcome {
        let status = whole(sample.status.unwrap_or_default()).unwrap_or_default();
        if sample.is_call {
            return sample.status.map_or(Outcome::ANSWERED, |_| files::k6_call_outcome(status));
        }
        let code = whole(sample.error_code).unwrap_or_default();
        match files::k6_outcome(status, code) {
            Some(outcome) => outcome,
            None if code == 0 && sample.status.is_none() && sample.error.is_empty() => Outcome::ANSWERED,
            None if sample.error.is_empty() => self.failures.unknown(&format!("error code {code}")),
            None => self.failures.classify(&String::from_utf8_lossy(sample.error)),
        }
    }

    pub(crate) fn close(self) -> RunFacts {
        let users = u32::try_from(self.users).ok().filter(|users| *users > 0);
        let is_coarse = self.resolution.ns() >= Unit::Seconds.nanos();
        let coarse = is_coarse.then(|| {
            "k6 wrote times in whole seconds; K6_CSV_TIME_FORMAT=unix_nano makes it write nanoseconds".to_owned()
        });
        RunFacts {
            start_resolution_ns: self.resolution.ns(),
            dropped: Some(self.dropped).filter(|dropped| *dropped > 0),
            load: ForeignLoad { users, ..ForeignLoad::default() },
            notes: self.failures.notes().into_iter().chain(self.workers.note()).chain(coarse).collect(),
            ..RunFacts::default()
        }
    }
}
