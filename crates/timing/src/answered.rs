//! Answers for tests of observers.

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, FieldList, ObserverFactory, RequestId};
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, RequestRecord, Samples, SamplesOptions};
use truetail_model::time::Timestamp;

/// Shows answers with these header fields to observers, each to another worker's. Answer n is due at n nanoseconds.
pub(crate) fn observe_answers(factory: &ObserverFactory, answers: &[&[(&str, &str)]]) -> Samples {
    let mut records = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        let mut fields = FieldList::default();
        answer.iter().for_each(|(name, value)| fields.push(name.as_bytes(), value.as_bytes()));
        let mut observer = factory.observer();
        records.push(observe(&mut *observer, index, AnswerHead::with_fields(200, &fields)));
        observer.finish(records[index].end);
    }
    samples(records)
}

/// Shows answers with these heads to the observer of one worker, or each to another worker's.
pub(crate) fn observe_heads(factory: &ObserverFactory, heads: &[String], is_one_worker: bool) -> Samples {
    let mut records = Vec::new();
    let mut observer = factory.observer();
    for (index, head) in heads.iter().enumerate() {
        records.push(observe(&mut *observer, index, AnswerHead::with_text(200, head.as_bytes())));
        if !is_one_worker {
            std::mem::replace(&mut observer, factory.observer()).finish(records[index].end);
        }
    }
    observer.finish(Timestamp(1_000));
    samples(records)
}

fn observe(observer: &mut dyn AnswerReader, index: usize, head: AnswerHead<'_>) -> RequestRecord {
    let arrival = Arrival { index: index as u64, intended_start: Timestamp(index as u64) };
    observer.begin(0, 0, arrival);
    observer.head(0, head);
    let outcome = Outcome::response(200);
    let end = Timestamp(1_000);
    let id = RequestId { target: 0, row: 0 };
    observer.end(0, EndedRequest { arrival, id, outcome, start: arrival.intended_start, end });
    RequestRecord::new(arrival, arrival.intended_start, end, outcome)
}

fn samples(records: Vec<RequestRecord>) -> Samples {
    let seen = records.len() as u64;
    Samples::from_parts(SamplesOptions::default(), records, 1, &[], seen)
}
