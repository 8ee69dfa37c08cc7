//! Answers for tests of observers.

use truetail_engine::{AnswerHead, EndedRequest, FieldList, ObserverFactory, RequestId};
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, RequestRecord, Samples, SamplesOptions};
use truetail_model::time::Timestamp;

/// Shows answers with these header fields to observers, each to another worker's. Answer n is due at n nanoseconds.
pub(crate) fn observe_answers(factory: &ObserverFactory, answers: &[&[(&str, &str)]]) -> Samples {
    let mut records = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        let mut fields = FieldList::default();
        answer.iter().for_each(|(name, value)| fields.push(name.as_bytes(), value.as_bytes()));
        let arrival = Arrival { index: index as u64, intended_start: Timestamp(index as u64) };
        let mut observer = factory.observer();
        observer.begin(0, 0, arrival);
        observer.head(0, AnswerHead::with_fields(200, &fields));
        let outcome = Outcome::response(200);
        let end = Timestamp(1_000);
        let id = RequestId { target: 0, row: 0 };
        observer.end(0, EndedRequest { arrival, id, outcome, start: arrival.intended_start, end });
        observer.finish(end);
        records.push(RequestRecord::new(arrival, arrival.intended_start, end, outcome));
    }
    let seen = records.len() as u64;
    Samples::from_parts(SamplesOptions::default(), records, 1, &[], seen)
}
