//! Checks on answers that come in parts.

use proptest::prelude::*;
use truetail_engine::RequestId;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};

use super::*;

const OK: Outcome = Outcome::response(200);

fn ended(index: u64, outcome: Outcome) -> EndedRequest {
    let arrival = Arrival { index, intended_start: Timestamp(index * 1_000_000) };
    EndedRequest {
        arrival,
        id: RequestId { target: 0, row: 0 },
        outcome,
        start: arrival.intended_start,
        end: arrival.intended_start,
    }
}

/// An observer with these checks, for arrivals from 10 on, and the receiver of its results.
fn observer(texts: &[&str]) -> (CheckObserver, Arc<Mutex<CheckResults>>) {
    let checks: Vec<Check> = texts.iter().map(|text| text.parse().unwrap()).collect();
    let tally = CheckTally::new(checks.len(), false);
    let found = Arc::new(Mutex::new(CheckResults { tally: tally.clone(), failed: Vec::new() }));
    let plan = CheckPlan {
        needs_body: checks.iter().any(Check::needs_body),
        are_calls: false,
        needs_fields: checks.iter().any(Check::needs_fields),
        targets: vec!["GET http://a.test/".to_owned()],
        measure_from: Timestamp(10_000_000),
        checks,
    };
    (CheckObserver::new(Arc::new(plan), Arc::clone(&found), tally), found)
}

/// Sends one answer with `body` in parts of this size.
fn answer(observer: &mut CheckObserver, index: u64, status: u16, body: &[u8], size: usize) {
    observer.head(3, AnswerHead::without_fields(status));
    body.chunks(size.max(1)).for_each(|part| observer.body(3, part));
    observer.end(3, ended(index, Outcome::response(status)));
}

/// The numbers of answers that passed and failed each check.
fn counts(observer: &mut CheckObserver, found: &Mutex<CheckResults>) -> Vec<(u64, u64)> {
    observer.finish(Timestamp::ZERO);
    let checks = &observer.plan.checks;
    let counts = found.lock().unwrap().tally.since(Timestamp::ZERO, checks);
    counts.iter().map(|counts| (counts.passed, counts.failed)).collect()
}

#[test]
fn only_answers_are_counted_and_only_those_that_are_measured() {
    let (mut observer, found) = observer(&["status == 200", "body contains ok"]);
    answer(&mut observer, 9, 500, b"before", 2);
    answer(&mut observer, 10, 200, b"ok", 1);
    answer(&mut observer, 11, 200, b"no", 1);
    answer(&mut observer, 12, 503, b"ok", 1);
    // A head came, but no whole answer.
    observer.head(3, AnswerHead::without_fields(200));
    observer.body(3, b"o");
    observer.end(3, ended(13, Outcome::Malformed(Cause::Truncated)));
    // Nothing came, and the data of the request before is forgotten.
    observer.end(3, ended(14, Outcome::TimedOut));
    observer.end(900, ended(15, OK));
    answer(&mut observer, 16, 200, b"k", 1);
    assert_eq!(counts(&mut observer, &found), [(3, 1), (2, 2)]);
    let failed = std::mem::take(&mut found.lock().unwrap().failed);
    assert_eq!(failed.iter().map(|answer| answer.arrival).collect::<Vec<_>>(), [11, 12, 16]);
    assert_eq!((failed[1].failed[0].why.as_str(), failed[1].target.as_str()), ("it is 503", "GET http://a.test/"));
}

#[test]
fn the_first_few_that_fail_are_kept_and_one_for_each_check() {
    let (mut observer, found) = observer(&["status == 200", "body contains ok"]);
    (10..30).for_each(|index| answer(&mut observer, index, 500, b"ok", 1));
    answer(&mut observer, 30, 500, b"no", 1);
    answer(&mut observer, 31, 500, b"no", 1);
    assert_eq!(counts(&mut observer, &found), [(0, 22), (20, 2)]);
    let failed = &found.lock().unwrap().failed;
    assert_eq!(failed.iter().map(|answer| answer.arrival).collect::<Vec<_>>(), [10, 11, 12, 13, 14, 30]);
}

#[test]
fn bodies_are_kept_as_far_as_they_are_needed() {
    // No check needs the body: nothing of it is kept while answers pass, and its beginning if one fails.
    let (mut of_status, found) = observer(&["status == 200"]);
    let long = vec![b'x'; 3 * KEPT_BODY_BYTES];
    answer(&mut of_status, 10, 200, &long, 1000);
    assert_eq!(of_status.partial(3).body.capacity(), 0);
    answer(&mut of_status, 11, 404, &long, 1000);
    assert_eq!(counts(&mut of_status, &found), [(1, 1)]);
    let kept = found.lock().unwrap().failed.remove(0);
    assert_eq!((kept.body.len(), kept.body_bytes), (KEPT_BODY_BYTES, long.len() as u64));

    let (mut of_body, found) = observer(&["body endsWith x"]);
    let longest = vec![b'x'; MAX_BODY_BYTES];
    answer(&mut of_body, 10, 200, &longest, 60_000);
    of_body.head(3, AnswerHead::without_fields(200));
    longest.chunks(60_000).for_each(|part| of_body.body(3, part));
    of_body.body(3, b"x");
    assert!(of_body.partial(3).body.len() == MAX_BODY_BYTES);
    of_body.end(3, ended(11, OK));
    assert!(of_body.partial(3).body.capacity() <= BODY_ROOM_KEPT);
    assert_eq!(counts(&mut of_body, &found), [(1, 1)]);
    assert!(found.lock().unwrap().failed[0].failed[0].why.contains("longer than 1 MiB"));
}

proptest! {
    #[test]
    fn it_does_not_matter_how_a_body_is_cut(body in proptest::collection::vec(0u8..4, 0..60), part in proptest::collection::vec(0u8..4, 1..4)) {
        let letters = |bytes: &[u8]| bytes.iter().map(|byte| char::from(b"ab 1"[usize::from(*byte)])).collect::<String>();
        let body = letters(&body);
        let part = serde_json::Value::from(letters(&part));
        let texts = [format!("body contains {part}"), format!("body startsWith {part}"), "body matches /a+b$/".to_owned(), "jsonpath $ == 1".to_owned()];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let whole = {
            let (mut observer, found) = observer(&texts);
            answer(&mut observer, 10, 200, body.as_bytes(), body.len());
            counts(&mut observer, &found)
        };
        for size in 1..=body.len() {
            let (mut observer, found) = observer(&texts);
            answer(&mut observer, 10, 200, body.as_bytes(), size);
            prop_assert_eq!(&counts(&mut observer, &found), &whole, "in parts of {}", size);
        }
    }
}
