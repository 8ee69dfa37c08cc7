//! The slowest requests of a run, with the parts of their response times.

use std::collections::BTreeMap;

use truetail_model::record::{Outcome, RequestRecord};
use truetail_model::time::Nanos;
use truetail_run::{Run, ServerTiming, SlowRequest};

use crate::ledger;
use crate::part_names::{BEFORE, PARTS, UNATTRIBUTED};

/// Number of requests in the list.
const COUNT: usize = 10;

/// Returns the slowest requests that were sent, the slowest first.
pub(crate) fn slowest(run: &Run) -> Vec<SlowRequest> {
    let ids = run.facts.trace.as_ref().and_then(|trace| trace.ids());
    let names = run.facts.offered.target_names();
    let name_of = |record: &RequestRecord| match names.len() {
        1 => names.first(),
        _ => record.target.index().and_then(|index| names.get(index)),
    };
    let timing = run.facts.server_timing.as_ref();
    let shown = |record: &RequestRecord| SlowRequest {
        trace_id: ids.map(|ids| ids.trace_id(record.index)),
        trace_sampled: ids.is_some_and(|ids| ids.is_sampled(record.index)),
        target: name_of(record).cloned(),
        index: record.index,
        intended_start_ns: record.intended_start.0,
        response_time_ns: record.response_time().0,
        service_time_ns: record.service_time().0,
        outcome: record.outcome.name().to_owned(),
        status: record.outcome.status(),
        parts: timing.and_then(|timing| reported(record, timing)).unwrap_or_else(|| parts(record)),
    };
    run.snapshot.samples.longest(COUNT).into_iter().map(shown).collect()
}

/// Returns the parts of a request. The service time is replaced by the times that the service reported. Returns `None`
/// if it reported no time, or more time than passed.
fn reported(record: &RequestRecord, timing: &ServerTiming) -> Option<BTreeMap<String, u64>> {
    timing.of(record.index)?;
    let names = PARTS[..BEFORE].iter().copied().chain(timing.names.iter().map(String::as_str));
    let parts: Vec<(&str, f64)> =
        names.chain([UNATTRIBUTED]).zip(ledger::parts(record, timing)).filter(|(_, ns)| *ns != 0.0).collect();
    let is_possible = parts.iter().all(|(_, ns)| *ns > 0.0);
    is_possible.then(|| parts.into_iter().map(|(name, ns)| (name.to_owned(), ns as u64)).collect())
}

/// Returns the parts of the time from the intended start to the end. The service time of a request whose first byte is
/// unknown, or that was not answered, is one part.
fn parts(record: &RequestRecord) -> BTreeMap<String, u64> {
    let [lag, wait, connecting, to_first_byte, from_first_byte, service] = PARTS;
    let delay = record.delay;
    let mut parts = BTreeMap::new();
    let mut add = |name: &str, time: Nanos| {
        if !time.is_zero() {
            parts.insert(name.to_owned(), time.0);
        }
    };
    add(lag, delay.generator_lag);
    add(wait, delay.connection_wait);
    add(connecting, delay.connect);
    match record.first_byte.filter(|_| matches!(record.outcome, Outcome::Response { .. })) {
        Some(first_byte) => {
            add(to_first_byte, first_byte.since(record.actual_start));
            add(from_first_byte, record.end.since(first_byte.max(record.actual_start)));
        }
        None => add(service, record.service_time()),
    }
    parts
}

#[cfg(test)]
mod tests {
    use truetail_model::arrival::Arrival;
    use truetail_model::time::Timestamp;

    use super::*;

    #[test]
    fn the_parts_add_up_to_the_response_time() {
        let arrival = Arrival { index: 0, intended_start: Timestamp(1_000) };
        let answered = Outcome::response(200);
        let record = |start, end, outcome| RequestRecord::new(arrival, Timestamp(start), Timestamp(end), outcome);
        let connected = record(1_500, 9_000, answered).with_start_delay(Nanos(100), Some(Nanos(250)));
        let first_byte = |at| RequestRecord { first_byte: Some(Timestamp(at)), ..connected };
        for (record, count) in [
            (connected, 4),
            (first_byte(4_000), 5),
            (first_byte(9_000), 4),
            // A byte that had arrived before its request was sent.
            (first_byte(1_200), 4),
            (record(1_000, 7_000, Outcome::TimedOut), 1),
            (record(1_000, 1_000, answered), 0),
        ] {
            let parts = parts(&record);
            assert_eq!((parts.values().sum::<u64>(), parts.len()), (record.response_time().0, count), "{record:?}");
        }
    }
}
