//! Groups of slow requests on few connections, and on connections that had been idle.
//!
//! A connection that is used only while the service is slow has slow requests too, and was idle before. So the nearest
//! requests in time on other connections must have been fast.

use std::collections::HashMap;

use truetail_model::record::RequestRecord;
use truetail_model::time::Timestamp;
use truetail_run::ModePlace;

use super::property::{NEARLY_ALL, is_of_group};
use crate::binomial;

/// Probability that some connection looks slow in a run whose slow requests are spread over the connections.
const CHANCE: f64 = 1e-4;
/// Lowest share of the group whose nearest other request in time was fast.
const BESIDE_FAST: f64 = 0.7;

/// Returns how many connections carried nearly all requests of the group, if the others were rarely on them.
pub(super) fn few_connections(answers: &[&RequestRecord], group: &[&RequestRecord]) -> Option<ModePlace> {
    let all = by_connection(answers);
    let of_group = by_connection(group);
    let share = group.len() as f64 / answers.len() as f64;
    let chance = CHANCE / all.len().max(1) as f64;
    let is_slow = |connection: u64| {
        let [all, slow] = [&all, &of_group].map(|counts| count_of(counts, connection) as f64);
        // At least `slow` of `all` are in the group if at most the rest is not.
        slow > 0.0 && binomial::at_most(all - slow, all, 1.0 - share) < chance
    };
    let slow: Vec<u64> =
        all.iter().map(|(connection, _)| *connection).filter(|connection| is_slow(*connection)).collect();
    let is_on_one = |record: &RequestRecord| {
        record.connection.get().is_some_and(|connection| slow.binary_search(&connection.into()).is_ok())
    };
    let is_place = is_of_group(answers, group, is_on_one) && others_were_fast(answers, group, is_on_one);
    is_place.then_some(ModePlace::Connections { slow: slow.len() as u64, of: all.len() as u64 })
}

/// Returns how long the connections of nearly all requests of the group had been idle before, if the others rarely came
/// after such a time. `requests` are all requests of the run.
pub(super) fn after_idle(
    requests: &[RequestRecord],
    answers: &[&RequestRecord],
    group: &[&RequestRecord],
) -> Option<ModePlace> {
    let idle = idle_times(requests);
    let of = |record: &RequestRecord| idle.get(&record.index).copied().unwrap_or_default();
    let mut of_group: Vec<u64> = group.iter().map(|record| of(record)).collect();
    of_group.sort_unstable();
    let at_least = of_group[((1.0 - NEARLY_ALL) * of_group.len() as f64) as usize];
    let is_after = |record: &RequestRecord| of(record) >= at_least;
    let is_place = at_least > 0 && is_of_group(answers, group, is_after) && others_were_fast(answers, group, is_after);
    is_place.then_some(ModePlace::AfterIdle { at_least_ns: at_least })
}

/// Returns each connection with the number of its requests, in the order of the connections.
fn by_connection(records: &[&RequestRecord]) -> Vec<(u64, u64)> {
    let mut connections: Vec<u64> = records.iter().filter_map(|record| Some(record.connection.get()?.into())).collect();
    connections.sort_unstable();
    connections.chunk_by(u64::eq).map(|requests| (requests[0], requests.len() as u64)).collect()
}

fn count_of(counts: &[(u64, u64)], connection: u64) -> u64 {
    let place = counts.partition_point(|(other, _)| *other < connection);
    counts.get(place).filter(|(found, _)| *found == connection).map_or(0, |(_, count)| *count)
}

/// Returns, by index, how long the connection of each request had carried none before it was sent. The first request of
/// a connection has no such time.
fn idle_times(requests: &[RequestRecord]) -> HashMap<u64, u64> {
    let mut sent: Vec<(u32, &RequestRecord)> =
        requests.iter().filter_map(|record| Some((record.connection.get()?, record))).collect();
    sent.sort_unstable_by_key(|(connection, record)| (*connection, record.actual_start, record.index));
    let mut last: Option<(u32, Timestamp)> = None;
    let mut times = HashMap::with_capacity(sent.len());
    for (connection, record) in sent {
        let free = last.filter(|(other, _)| *other == connection).map(|(_, free)| free);
        times.extend(free.map(|free| (record.index, record.actual_start.since(free).0)));
        last = Some((connection, free.map_or(record.end, |free| free.max(record.end))));
    }
    times
}

/// Returns true if most requests of the group that have the property were sent beside a fast one that does not have it.
fn others_were_fast(
    answers: &[&RequestRecord],
    group: &[&RequestRecord],
    has: impl Fn(&RequestRecord) -> bool,
) -> bool {
    let slow = group.first().map(|record| record.response_time()).unwrap_or_default();
    // Start, and in the last bit whether it was fast.
    let other = |record: &RequestRecord| record.actual_start.0 << 1 | u64::from(record.response_time() < slow);
    let mut others: Vec<u64> = answers.iter().filter(|record| !has(record)).map(|record| other(record)).collect();
    others.sort_unstable();
    let nearest_was_fast = |record: &RequestRecord| {
        let at = record.actual_start.0;
        let next = others.partition_point(|other| other >> 1 < at);
        let candidates = [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|place| others.get(place));
        candidates.min_by_key(|other| (*other >> 1).abs_diff(at)).is_some_and(|other| other & 1 == 1)
    };
    let mut with = 0;
    let mut beside_fast = 0;
    for record in group.iter().filter(|record| has(record)) {
        with += 1;
        beside_fast += u64::from(nearest_was_fast(record));
    }
    beside_fast as f64 >= BESIDE_FAST * with as f64
}

#[cfg(test)]
mod tests {
    use truetail_model::arrival::Arrival;
    use truetail_model::record::{Ordinal, Outcome};

    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns the record of a request every 10 ms, with this connection and service time.
    fn request(index: u64, connection: u64, time_ms: u64) -> RequestRecord {
        let start = Timestamp(index * 10 * MS);
        let arrival = Arrival { index, intended_start: start };
        let record = RequestRecord::new(arrival, start, Timestamp(start.0 + time_ms * MS), Outcome::response(200));
        RequestRecord { connection: Ordinal::new(connection), ..record }
    }

    /// Returns the places of the requests of 300 ms among these.
    fn places(records: &[RequestRecord]) -> [Option<ModePlace>; 2] {
        let mut answers: Vec<&RequestRecord> = records.iter().collect();
        answers.sort_unstable_by_key(|record| (record.response_time(), record.index));
        let from = answers.partition_point(|record| record.response_time().0 < 300 * MS);
        let group = &answers[from..];
        [few_connections(&answers, group), after_idle(records, &answers, group)]
    }

    #[test]
    fn slow_connections_are_counted() {
        let on = |index: u64| index * 7 % 20;
        let one: Vec<_> = (0..4_000).map(|i| request(i, on(i), if on(i) == 3 { 300 } else { 5 })).collect();
        assert_eq!(places(&one)[0], Some(ModePlace::Connections { slow: 1, of: 20 }));
        let four: Vec<_> = (0..4_000).map(|i| request(i, on(i), if on(i) < 4 { 300 } else { 5 })).collect();
        assert_eq!(places(&four)[0], Some(ModePlace::Connections { slow: 4, of: 20 }));
        let spread: Vec<_> = (0..4_000).map(|i| request(i, on(i), if i % 41 == 0 { 300 } else { 5 })).collect();
        assert_eq!(places(&spread), [None, None]);
    }

    #[test]
    fn connections_that_are_used_once_are_not_slow() {
        let records: Vec<_> = (0..4_000).map(|i| request(i, i, if i % 41 == 0 { 300 } else { 5 })).collect();
        assert_eq!(places(&records), [None, None]);
    }

    /// While the service is slow, requests need connections that are not used at other times.
    #[test]
    fn connections_of_slow_times_are_not_the_cause() {
        let record = |i: u64| match i % 500 {
            time @ 0..50 => request(i, time % 30, 300),
            _ => request(i, 0, 5),
        };
        assert_eq!(places(&(0..10_000).map(record).collect::<Vec<_>>()), [None, None]);
    }

    #[test]
    fn an_idle_time_is_found() {
        // Requests alternate between two connections; every 100th comes on one that was idle for a second.
        let record = |i: u64| match i % 100 {
            0 => request(i, 2, 300),
            _ => request(i, i % 2, 5),
        };
        let records: Vec<_> = (0..5_000).map(record).collect();
        let [_, after] = places(&records);
        assert_eq!(after, Some(ModePlace::AfterIdle { at_least_ns: 700 * MS }));
    }
}
