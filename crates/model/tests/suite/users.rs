//! Users over time: how many there are at each instant, when each joins and leaves, and what cannot be read.

use proptest::prelude::*;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::users::{Stay, Users};

const MS: u64 = 1_000_000;

fn users(text: &str) -> Users {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn ms(n: u64) -> Timestamp {
    Timestamp(n * MS)
}

fn stays(users: &Users, user: u32) -> Vec<Stay> {
    let mut at = Timestamp::ZERO;
    std::iter::from_fn(|| users.stay_after(user, at).inspect(|stay| at = stay.leaves)).collect()
}

#[test]
fn a_line_is_rounded_to_the_nearest_number() {
    let line = users("0..10/10s");
    let at = |n| line.active_at(ms(n));
    assert_eq!([at(0), at(499), at(500), at(1_499), at(1_500), at(9_499), at(9_500)], [0, 0, 1, 1, 2, 9, 10]);
    // After the stages, the last number stays.
    assert_eq!([at(10_000), at(1_000_000)], [10, 10]);
    assert_eq!((line.most(), line.natural_length()), (10, Some(Nanos::from_secs(10))));
    assert_eq!(stays(&line, 9), [Stay { joins: ms(9_500), leaves: Timestamp::NEVER }]);
    assert_eq!(stays(&line, 10), []);
}

#[test]
fn who_joined_last_leaves_first_and_may_join_again() {
    let plan = users("0..4/4s,4..2/2s,2/1s,3/1s,0/2s");
    let first = Stay { joins: ms(500), leaves: ms(8_000) };
    assert_eq!(stays(&plan, 0), [first]);
    // The third leaves at 2.5 users, while the line falls: that instant still has three.
    let again = Stay { joins: ms(7_000), leaves: ms(8_000) };
    assert_eq!(stays(&plan, 2), [Stay { joins: ms(2_500), leaves: Timestamp(5_500 * MS + 1) }, again]);
    assert_eq!(stays(&plan, 3), [Stay { joins: ms(3_500), leaves: Timestamp(4_500 * MS + 1) }]);
    assert_eq!(
        [5_500, 5_501, 6_999, 7_000, 7_999, 8_000, 60_000].map(|n| plan.active_at(ms(n))),
        [3, 2, 2, 3, 3, 0, 0]
    );
}

#[test]
fn the_grammar_is_that_of_rate_profiles() {
    for (text, written) in [
        ("50", "50"),
        (" 7 ", "7"),
        ("10..200/60s", "10..200/1m"),
        ("ramp:10..200/90s", "10..200/90s"),
        ("steps:1/10s,5/1m", "1/10s,5/1m"),
        ("steps:5/10s", "steps:5/10s"),
        ("0..50/10s,50/30s,50..0/10s", "0..50/10s,50/30s,50..0/10s"),
        ("0..1k/10s", "0..1000/10s"),
    ] {
        let read = users(text);
        assert_eq!(read.to_string(), written, "{text}");
        assert_eq!(users(written), read, "{text}");
    }
    assert_eq!(users("50"), Users::constant(50));
    assert!(users("50").is_constant() && !users("steps:5/10s").is_constant());
    for (text, says) in [
        ("0", "'0' is not a number of users; write a whole number from 1, or stages"),
        ("ten", "'ten' is not a number of users"),
        ("50/30s", "'50/30s' is not a number of users"),
        ("sine:1..5/10s", "'sine:1..5/10s' is not a number of users"),
        ("trace:file", "'trace:file' is not a number of users"),
        ("4294967296", "is not a number of users"),
        ("0..x/5s", "stages '0..x/5s': 'x' is not a number; write N/TIME or FROM..TO/TIME"),
        ("0..5/5", "no unit"),
        ("0..5", "no duration"),
        ("0..5/0s", "a length of zero"),
        ("0..0/5s", "every number is zero"),
        ("0..2.5/5s", "2.5 is not a whole number up to 4294967295"),
        ("-1..5/5s", "'-1' is negative"),
        ("0..4294967296/5s", "4294967296 is not a whole number"),
    ] {
        let error = text.parse::<Users>().unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
    }
}

/// Stages, as (from, to, length in ns).
type Plan = Vec<(u32, u32, u64)>;

fn plan() -> impl Strategy<Value = Plan> {
    let length = prop_oneof![1u64..50, 1..10_000 * MS];
    let stage = (0u32..40, 0u32..40, length);
    proptest::collection::vec(stage, 1..6)
        .prop_filter("every number is zero", |stages| stages.iter().any(|s| s.0 + s.1 > 0))
}

fn written(plan: &Plan) -> String {
    plan.iter().map(|(from, to, length)| format!("{from}..{to}/{}", Nanos(*length))).collect::<Vec<_>>().join(",")
}

/// The value at `at`, computed without the plan's own arithmetic; exact for these lengths and numbers.
fn value(plan: &Plan, at: u64) -> (u128, u128) {
    let mut begin = 0;
    for (from, to, length) in plan {
        if at < begin + length {
            let since = u128::from(at - begin);
            let length = u128::from(*length);
            return (u128::from(*from) * (length - since) + u128::from(*to) * since, length);
        }
        begin += length;
    }
    (u128::from(plan.last().map_or(0, |stage| stage.1)), 1)
}

proptest! {
    #[test]
    fn at_each_instant_there_are_as_many_as_the_plan_says(plan in plan(), places in proptest::collection::vec(0f64..1.2, 9)) {
        let users = users(&written(&plan));
        let length = users.natural_length().unwrap().0;
        let borders = plan.iter().scan(0, |end, stage| { *end += stage.2; Some(*end) });
        let borders = borders.flat_map(|end| [end - 1, end, end + 1]);
        let all: Vec<Vec<Stay>> = (0..users.most()).map(|user| stays(&users, user)).collect();
        let changes = all.iter().flatten().flat_map(|stay| [stay.joins.0.saturating_sub(1), stay.joins.0, stay.leaves.0]);
        let places = places.iter().map(|share| (share * length as f64) as u64);
        for at in places.chain(borders).chain(changes.take(99)).filter(|at| *at < u64::MAX) {
            let (count, of) = value(&plan, at);
            let rounded = ((2 * count + of) / (2 * of)) as u32;
            prop_assert_eq!(users.active_at(Timestamp(at)), rounded, "at {}", at);
            let there = |stays: &Vec<Stay>| stays.iter().any(|stay| stay.joins.0 <= at && at < stay.leaves.0);
            prop_assert_eq!(all.iter().filter(|stays| there(stays)).count(), rounded as usize, "at {}", at);
        }
        prop_assert!(users.most() >= (0..=length / 7).map(|n| users.active_at(Timestamp(n * 7))).take(500).max().unwrap());
    }

    #[test]
    fn stays_are_in_order_and_apart(plan in plan()) {
        let users = users(&written(&plan));
        let mut first = Timestamp::ZERO;
        for user in 0..users.most() {
            let stays = stays(&users, user);
            for pair in stays.windows(2) {
                prop_assert!(pair[0].leaves < pair[1].joins, "{:?}", stays);
            }
            prop_assert!(stays.iter().all(|stay| stay.joins < stay.leaves), "{:?}", stays);
            if let Some(stay) = stays.first() {
                prop_assert!(stay.joins >= first, "users join in their order");
                first = stay.joins;
            }
        }
    }

    #[test]
    fn dealt_parts_are_the_whole(plan in plan(), of in 1u32..9, workers in 1u32..5, at in 0..20_000 * MS) {
        let users = users(&written(&plan));
        let at = Timestamp(at);
        let parts: Vec<Users> =
            (0..of).flat_map(|index| (0..workers).map(move |worker| (index, worker)))
                .map(|(index, worker)| users.dealt(index, of).dealt(worker, workers)).collect();
        prop_assert_eq!(parts.iter().map(|part| part.active_at(at)).sum::<u32>(), users.active_at(at));
        prop_assert_eq!(parts.iter().map(Users::most).sum::<u32>(), users.most());
        let mut dealt: Vec<Vec<Stay>> =
            parts.iter().flat_map(|part| (0..part.most()).map(|user| stays(part, user))).collect();
        let mut whole: Vec<Vec<Stay>> = (0..users.most()).map(|user| stays(&users, user)).collect();
        let key = |stays: &Vec<Stay>| stays.iter().map(|stay| (stay.joins, stay.leaves)).collect::<Vec<_>>();
        dealt.sort_by_key(key);
        whole.sort_by_key(key);
        prop_assert_eq!(dealt, whole);
    }

    #[test]
    fn constant_users_are_dealt_one_by_one(users in 1u32..500, of in 1u32..20) {
        let parts: Vec<u32> = (0..of).map(|index| Users::constant(users).dealt(index, of).most()).collect();
        prop_assert_eq!(parts.iter().sum::<u32>(), users);
        prop_assert!(parts.iter().max().unwrap() - parts.iter().min().unwrap() <= 1);
    }
}
