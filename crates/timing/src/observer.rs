use std::sync::Arc;

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList, Trailers};
use truetail_model::record::Outcome;
use truetail_model::time::Timestamp;

use crate::beside::ReadBeside;
use crate::head_log::{Entry, HeadLog};

/// Copies the heads of one worker's answers into logs, which are read beside the load.
#[derive(Debug)]
pub(crate) struct TimingObserver {
    beside: Arc<ReadBeside>,
    worker: usize,
    measure_from: Timestamp,
    log: HeadLog,
    /// The names of the headers to read, in the order of the sources.
    headers: Vec<String>,
    fields: FieldList,
}

impl TimingObserver {
    /// Creates the observer of a further worker.
    pub(crate) fn new(beside: &Arc<ReadBeside>) -> TimingObserver {
        let plan = beside.plan();
        TimingObserver {
            worker: beside.add_worker(),
            measure_from: plan.measure_from,
            log: HeadLog::with_room(),
            headers: plan.headers(),
            fields: FieldList::default(),
            beside: Arc::clone(beside),
        }
    }

    #[inline]
    fn add(&mut self, request: u32, entry: Entry<'_>) {
        if self.log.is_full_for(&entry) {
            self.beside.hand_over(self.worker, std::mem::replace(&mut self.log, HeadLog::with_room()));
        }
        self.log.add(request, entry);
    }

    /// Adds the values of an answer whose head is no text, or of its trailers.
    fn add_values(&mut self, request: u32, each: impl FnOnce(&[String], &mut dyn FnMut(usize, &[u8]))) {
        let headers = std::mem::take(&mut self.headers);
        each(&headers, &mut |nth, value| self.add(request, Entry::Value(nth as u16, value)));
        self.headers = headers;
    }
}

impl AnswerReader for TimingObserver {
    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        if let Some(text) = head.text() {
            return self.add(request, Entry::Head(text));
        }
        self.add(request, Entry::Fields);
        self.add_values(request, |headers, found| head.each_value_of(headers, found));
    }

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        let mut fields = std::mem::take(&mut self.fields);
        trailers.copy_fields(&mut fields);
        self.add_values(request, |headers, found| {
            headers.iter().enumerate().for_each(|(nth, name)| fields.all(name).for_each(|value| found(nth, value)));
        });
        self.fields = fields;
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        let intended_start = ended.arrival.intended_start;
        if intended_start >= self.measure_from && matches!(ended.outcome, Outcome::Response { .. }) {
            let response_time = ended.end.since(intended_start);
            self.add(request, Entry::End { index: ended.arrival.index, response_time });
        }
    }

    fn finish(&mut self, _: Timestamp) {
        self.beside.hand_over(self.worker, std::mem::take(&mut self.log));
    }
}
