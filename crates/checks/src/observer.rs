//! Checks in one worker of the engine.

use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList};
use truetail_model::record::GrpcStatus;
use truetail_model::time::Timestamp;
use truetail_run::{FailedAnswer, FailedCheck, MAX_FAILED_ANSWERS};

use crate::answer::{Answer, Body, MAX_BODY_BYTES};
use crate::check::Check;
use crate::tally::CheckTally;

/// Maximum number of bytes of the body that are kept of a failed answer.
const KEPT_BODY_BYTES: usize = 4096;
/// Capacity of a body buffer that is kept from one answer to the next.
const BODY_ROOM_KEPT: usize = 4 * 1024;

/// The checks of a run, shared by all workers.
#[derive(Clone, Debug)]
pub(crate) struct CheckPlan {
    pub(crate) checks: Vec<Check>,
    /// Names of the targets, in their order.
    pub(crate) targets: Vec<String>,
    /// Answers to arrivals before this are not counted.
    pub(crate) measure_from: Timestamp,
    pub(crate) needs_body: bool,
    pub(crate) needs_fields: bool,
    /// The requests are gRPC calls.
    pub(crate) are_calls: bool,
}

#[derive(Debug)]
pub(crate) struct CheckResults {
    pub(crate) tally: CheckTally,
    pub(crate) failed: Vec<FailedAnswer>,
}

/// An answer that is being read. Its buffers are reused.
#[derive(Default, Debug)]
struct PartialAnswer {
    has_head: bool,
    /// HTTP status; `None` in a protocol without a status.
    status: Option<u16>,
    fields: FieldList,
    body: Vec<u8>,
    /// Maximum number of bytes of the body to keep.
    room: usize,
    /// Number of bytes of the body, kept or not.
    body_bytes: u64,
}

impl PartialAnswer {
    fn clear(&mut self) {
        (self.has_head, self.status) = (false, None);
        self.fields.clear();
        self.body.clear();
        self.body.shrink_to(BODY_ROOM_KEPT);
        (self.room, self.body_bytes) = (0, 0);
    }

    fn answer(&self) -> Answer<'_> {
        let is_whole = self.body_bytes == self.body.len() as u64;
        Answer::new(self.status, &self.fields, if is_whole { Body::Whole(&self.body) } else { Body::TooLong })
    }
}

#[derive(Debug)]
pub(crate) struct CheckObserver {
    plan: Arc<CheckPlan>,
    all_found: Arc<Mutex<CheckResults>>,
    found: CheckResults,
    /// For each check, whether an answer that failed it was kept.
    has_example: Vec<bool>,
    /// Answers that are being read, by the number of their request.
    partial: Vec<PartialAnswer>,
}

impl CheckObserver {
    /// Creates an observer that adds its results to `all_found` at its end.
    pub(crate) fn new(plan: Arc<CheckPlan>, all_found: Arc<Mutex<CheckResults>>, tally: CheckTally) -> CheckObserver {
        let has_example = vec![false; plan.checks.len()];
        let found = CheckResults { tally, failed: Vec::new() };
        CheckObserver { plan, all_found, found, has_example, partial: Vec::new() }
    }

    fn partial(&mut self, request: u32) -> &mut PartialAnswer {
        let at = request as usize;
        if self.partial.len() <= at {
            self.partial.resize_with(at + 1, PartialAnswer::default);
        }
        &mut self.partial[at]
    }

    /// Returns true if an answer that fails this check would be kept.
    fn is_wanted(&self, check: usize) -> bool {
        self.found.failed.len() < MAX_FAILED_ANSWERS || !self.has_example[check]
    }

    /// Returns true if an answer fails a check by its status and header fields, and will be kept.
    fn will_be_kept(&self, partial: &PartialAnswer) -> bool {
        let answer = Answer::new(partial.status, &partial.fields, Body::TooLong);
        let mut checks = self.plan.checks.iter().enumerate().filter(|(_, check)| !check.needs_body());
        checks.any(|(nth, check)| self.is_wanted(nth) && (check.needs_end() || check.judge(&answer).is_err()))
    }

    fn judge(&mut self, partial: &PartialAnswer, ended: &EndedRequest) {
        let call = ended.outcome.status().filter(|_| self.plan.are_calls).and_then(GrpcStatus::of_recorded);
        let answer = partial.answer().of_call(call);
        let mut failed = Vec::new();
        for (nth, check) in self.plan.checks.iter().enumerate() {
            let judged = check.judge(&answer);
            self.found.tally.count(ended.arrival.intended_start, nth, judged.is_ok());
            failed.extend(judged.err().map(|failure| (nth, failure)));
        }
        if !failed.iter().any(|(nth, _)| self.is_wanted(*nth)) {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let explained = failed.iter().map(|(nth, failure)| FailedCheck {
            check: plan.checks[*nth].text().to_owned(),
            why: plan.checks[*nth].explain(*failure, &answer),
        });
        self.found.failed.push(FailedAnswer {
            arrival: ended.arrival.index,
            intended_start_ns: ended.arrival.intended_start.0,
            target: plan.targets.get(ended.id.target as usize).cloned().unwrap_or_default(),
            failed: explained.collect(),
            status: partial.status,
            headers: partial.fields.iter().map(|(name, value)| header_line(name, value)).collect(),
            body: String::from_utf8_lossy(&partial.body[..partial.body.len().min(KEPT_BODY_BYTES)]).into_owned(),
            body_bytes: partial.body_bytes,
        });
        failed.iter().for_each(|(nth, _)| self.has_example[*nth] = true);
    }
}

fn header_line(name: &[u8], value: &[u8]) -> String {
    format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
}

impl AnswerReader for CheckObserver {
    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        let needs_body = self.plan.needs_body;
        let needs_fields = self.plan.needs_fields || self.plan.needs_body;
        let mut partial = std::mem::take(self.partial(request));
        partial.clear();
        (partial.has_head, partial.status) = (true, head.status);
        if needs_fields {
            head.copy_fields(&mut partial.fields);
        }
        if needs_body {
            partial.room = MAX_BODY_BYTES;
        } else if self.will_be_kept(&partial) {
            head.copy_fields(&mut partial.fields);
            partial.room = KEPT_BODY_BYTES;
        }
        *self.partial(request) = partial;
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        let partial = self.partial(request);
        let kept = part.len().min(partial.room - partial.body.len());
        partial.body.extend_from_slice(&part[..kept]);
        partial.body_bytes += part.len() as u64;
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let mut partial = std::mem::take(self.partial(request));
        if partial.has_head && ended.outcome.is_response() && ended.arrival.intended_start >= self.plan.measure_from {
            self.judge(&partial, &ended);
        }
        partial.clear();
        *self.partial(request) = partial;
    }

    fn finish(&mut self, _: Timestamp) {
        let mut all = self.all_found.lock().unwrap_or_else(PoisonError::into_inner);
        all.tally.merge(&self.found.tally);
        all.failed.append(&mut self.found.failed);
    }
}

#[cfg(test)]
mod tests;
