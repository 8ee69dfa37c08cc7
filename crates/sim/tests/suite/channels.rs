//! Messages on channels: in order a reply waits for those before it, as ready it does not.

use proptest::prelude::*;
use truetail_model::arrival::Spacing;
use truetail_model::record::{Metric, Outcome, RequestRecord};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, ReplyOrder, Selector, Service};
use truetail_model::time::Nanos;
use truetail_model::workload::{Limits, LoadModel};
use truetail_sim::SimOptions;

use crate::common::*;
use crate::equivalence::{all_of, service};

fn on_channels(of: &Scenario, channels: u32, replies: ReplyOrder) -> Scenario {
    let mut scenario = of.clone();
    scenario.workload.limits.channels = Some(channels);
    scenario.service.replies = replies;
    scenario
}

/// Returns the records by arrival.
fn records(scenario: &Scenario) -> Vec<RequestRecord> {
    let mut records = run(scenario).snapshot.samples.even().to_vec();
    records.sort_by_key(|record| record.index);
    records
}

/// A hundred messages a second; every tenth takes 55 ms, the others 1 ms.
fn with_slow_messages() -> Scenario {
    let service = Service { faults: vec![Fault::EveryNth { every: 10, pause: ms(55) }], ..Service::healthy(ms(1)) };
    scenario(service, workload(even(100.0, for_secs(10)), unlimited(ms(1_000))))
}

fn times(scenario: &Scenario) -> Vec<u64> {
    records(scenario).iter().map(|record| record.response_time().0 / 1_000_000).collect()
}

/// Head-of-line blocking: a slow reply holds the five behind it, and only on its own channel.
#[test]
fn a_slow_reply_holds_those_behind_it_on_its_channel() {
    let of = with_slow_messages();
    let as_ready = times(&on_channels(&of, 1, ReplyOrder::AsReady));
    assert_eq!(as_ready[9..20], [55, 1, 1, 1, 1, 1, 1, 1, 1, 1, 55]);
    let one = times(&on_channels(&of, 1, ReplyOrder::InOrder));
    assert_eq!(one[9..20], [55, 45, 35, 25, 15, 5, 1, 1, 1, 1, 55]);
    // Of four channels, the one with the slow message 9 has 13 and 17 behind it.
    let four = times(&on_channels(&of, 4, ReplyOrder::InOrder));
    assert_eq!(four[9..20], [55, 1, 1, 1, 15, 1, 1, 1, 1, 1, 55]);
    let p85 = |times: &[u64]| {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        quantile_ns(&sorted, 8_500)
    };
    assert_eq!((p85(&as_ready), p85(&four), p85(&one)), (1, 15, 45));
}

/// A message without a reply leaves all behind it on its channel without one, and no message of another channel.
#[test]
fn a_missing_reply_blocks_its_channel_in_order() {
    let select = Selector { every: Some(10), ..Selector::default() };
    let service = Service { faults: vec![Fault::BlackHole { select }], ..Service::healthy(ms(1)) };
    let limits = Limits { timeout: Some(ms(200)), ..Limits::default() };
    let of = scenario(service, workload(even(100.0, for_requests(20)), limits));
    let timed_out = |scenario: &Scenario| -> Vec<u64> {
        let ended = records(scenario).into_iter().filter(|record| record.outcome == Outcome::TimedOut);
        ended.map(|record| record.index).collect()
    };
    assert_eq!(timed_out(&on_channels(&of, 2, ReplyOrder::AsReady)), [9, 19]);
    assert_eq!(timed_out(&on_channels(&of, 2, ReplyOrder::InOrder)), [9, 11, 13, 15, 17, 19]);
}

#[test]
fn a_scenario_says_the_order() {
    let text = |replies: &str| {
        format!(
            "[workload]\nrate = 100\nduration = \"10s\"\nchannels = 1\ndrain = \"1s\"\n[service]\nbaseline = \"1ms\"\n{replies}\n\
             [[service.fault]]\nkind = \"every-nth\"\nevery = 10\npause = \"55ms\"\n"
        )
    };
    for (replies, order, p85) in [
        ("", ReplyOrder::InOrder, 45),
        ("replies = \"in-order\"", ReplyOrder::InOrder, 45),
        ("replies = \"as-ready\"", ReplyOrder::AsReady, 1),
    ] {
        let scenario = Scenario::parse(&text(replies), "s.toml").unwrap();
        assert_eq!((scenario.service.replies, scenario.workload.limits.channels), (order, Some(1)));
        let measured = run(&scenario).snapshot.metric(Metric::ResponseTime).quantile(0.85).unwrap();
        assert!(measured.0.abs_diff(ms(p85).0) < ms(p85).0 / 500, "{replies}: {measured}");
        assert_eq!(Scenario::parse(&scenario.to_toml(), "s.toml").unwrap().service.replies, order);
    }
}

fn of_messages() -> impl Strategy<Value = Scenario> {
    let spacing = prop_oneof![Just(Spacing::Even), Just(Spacing::Poisson)];
    let model = (10.0..300.0, spacing, any::<u64>())
        .prop_map(|(rate, spacing, seed)| LoadModel::Open(schedule(rate, spacing, seed, for_secs(1))));
    let limits = (prop::option::of(1u64..400), 0u64..1_500).prop_map(|(timeout, drain)| Limits {
        timeout: timeout.map(ms),
        drain: ms(drain),
        ..Limits::default()
    });
    let lets_others_be = |fault: &Fault| !matches!(fault, Fault::Reset { .. } | Fault::Garbage { .. });
    (service(), model, limits).prop_map(move |(mut service, model, limits)| {
        service.faults.retain(lets_others_be);
        scenario(service, workload(model, limits))
    })
}

proptest! {
    /// With the same service times, no reply in order is earlier than the same reply as ready, and the replies of a
    /// channel leave in the order of their messages.
    #[test]
    fn a_reply_in_order_is_never_earlier(of in of_messages(), channels in 1u32..9) {
        let as_ready = records(&on_channels(&of, channels, ReplyOrder::AsReady));
        let in_order = records(&on_channels(&of, channels, ReplyOrder::InOrder));
        prop_assert_eq!(as_ready.len(), in_order.len());
        let answered = |record: &RequestRecord| matches!(record.outcome, Outcome::Response { .. });
        for (one, other) in as_ready.iter().zip(&in_order) {
            prop_assert_eq!((one.index, one.intended_start), (other.index, other.intended_start));
            prop_assert!(one.end <= other.end, "{one:?} {other:?}");
            prop_assert!(answered(one) || !answered(other), "{one:?} {other:?}");
        }
        for channel in 0..u64::from(channels) {
            let mine = in_order.iter().filter(|record| record.index % u64::from(channels) == channel);
            prop_assert!(mine.filter(|record| answered(record)).is_sorted_by_key(|record| record.end));
        }
    }

    /// Replies as ready, and channels with a single message each, are requests that know nothing of each other.
    #[test]
    fn replies_that_do_not_wait_are_answers_of_requests(of in of_messages(), channels in 1u32..9) {
        let alone = all_of(&run(&of).snapshot);
        prop_assert_eq!(&alone, &all_of(&run(&on_channels(&of, channels, ReplyOrder::AsReady)).snapshot));
        prop_assert_eq!(&alone, &all_of(&run(&on_channels(&of, 1_000, ReplyOrder::InOrder)).snapshot));
    }

    /// A request that is settled at its start has the end that it would have waited for, on channels too.
    #[test]
    fn settling_at_the_start_is_waiting_for_the_end_on_channels(of in of_messages(), channels in 1u32..9) {
        let settled = on_channels(&of, channels, ReplyOrder::InOrder);
        let mut waited = settled.clone();
        waited.workload.limits.connections = Some(100_000);
        prop_assert_eq!(all_of(&run(&settled).snapshot), all_of(&run(&waited).snapshot));
    }

    /// Machines that share the load share its channels, and their runs together have the requests of one machine.
    #[test]
    fn several_machines_share_the_channels(of in of_messages(), channels in 1u32..9, machines in 2u32..5) {
        let of = on_channels(&of, channels, ReplyOrder::InOrder);
        let parts = truetail_sim::simulate_on(machines, &of, SimOptions::default()).unwrap();
        let mut together: Vec<(u64, Nanos)> = parts
            .iter()
            .flat_map(|part| part.snapshot.samples.even())
            .map(|record| (record.index, record.response_time()))
            .collect();
        together.sort_unstable();
        let whole: Vec<_> = records(&of).iter().map(|record| (record.index, record.response_time())).collect();
        prop_assert_eq!(together, whole);
    }
}
