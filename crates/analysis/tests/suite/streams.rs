//! The simulator's measurements of streams equal the truth, to the nanosecond.

use proptest::prelude::*;
use truetail_analysis::truth::{StreamTruth, stream_truth, truth};
use truetail_model::record::{CompactHistogram, rank_of};
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_run::StreamTime;

use crate::support::{scenario, simulated};

fn assert_holds(times: &CompactHistogram, values: &[Nanos], what: &str) {
    let mut expected = CompactHistogram::default();
    values.iter().for_each(|value| expected.record_n(*value, 1));
    assert_eq!(times, &expected, "{what}");
}

fn assert_simulator_is_truth(scenario: &Scenario) -> StreamTruth {
    let truth_of_streams = stream_truth(scenario).expect("open, and it streams");
    let run = simulated(scenario);
    let streams = run.facts.stream.as_ref().expect("it streams");
    assert_eq!(streams.imbalance(run.snapshot.tally.planned), None);
    assert_holds(streams.times.get(StreamTime::FirstEvent), &truth_of_streams.first_event, "first event");
    assert_holds(streams.times.get(StreamTime::EventGap), &truth_of_streams.gaps, "gaps");
    assert_eq!(streams.events, truth_of_streams.events);
    assert_eq!(streams.times.get(StreamTime::FirstEventFailed).count(), truth_of_streams.without_event);
    let whole = truth(scenario).expect("open");
    assert_eq!(whole.count(), run.snapshot.tally.planned);
    assert_eq!(whole.answered().len() as u64, run.snapshot.tally.responses);
    truth_of_streams
}

fn of(service: &str) -> Scenario {
    let text = format!(
        "path = \"/v1/chat/completions\"\n[workload]\nrate = 30\nduration = \"4s\"\ntimeout = \"none\"\ndrain = \"10m\"\n\
         [service]\nbaseline = \"3ms\"\n{service}"
    );
    Scenario::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn of_streams_of_every_kind() {
    for service in [
        "[service.stream]\nfirst = \"20ms\"\ngap = \"7ms\"\nvariation = \"exponential\"\nseed = 4",
        "[service.stream]\nburst = 3\nstall-event = 4\nstall-for = \"300ms\"\nend = \"whole\"",
        "[service.stream]\ncut = 3",
        "[service.stream]\n[[service.fault]]\nkind = \"stall\"\nat = \"1s\"\nfor = \"500ms\"\ngate = \"events\"",
        "[service.stream]\n[[service.fault]]\nkind = \"reset\"\nevery = 5",
        "[service.batch]\ncap = 3\nstep = \"8ms\"\n[service.stream]\nend = \"unfinished\"",
        "[service.batch]\ncap = 30\nstep = \"8ms\"\nstep-per-stream = \"100us\"\nprefill = \"11ms\"\n[service.stream]\ncut = 4\n\
         [[service.fault]]\nkind = \"recurring-stall\"\nfirst = \"0s\"\nevery = \"1s\"\nfor = \"300ms\"\ngate = \"arrivals\"",
    ] {
        assert_simulator_is_truth(&of(service));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn of_any_batch(cap in 1u32..40, step in 1u64..20, each in 0u64..500, prefill in 0u64..30, events in 0u64..40, at in 0u64..3_900) {
        assert_simulator_is_truth(&of(&format!(
            "[service.batch]\ncap = {cap}\nstep = \"{step}ms\"\nstep-per-stream = \"{each}us\"\nprefill = \"{prefill}ms\"\n\
             [service.stream]\nevents = {events}\n[[service.fault]]\nkind = \"stall\"\nat = \"{at}ms\"\nfor = \"400ms\"\n\
             gate = \"arrivals\"\n[[service.fault]]\nkind = \"stall\"\nat = \"2s\"\nfor = \"250ms\"\ngate = \"events\""
        )));
    }
}

/// The figures of the README of the scenario.
#[test]
fn the_model_that_stalls() {
    let quantiles = |values: &[Nanos]| {
        [0.5, 0.9, 0.99, 1.0].map(|q| values[rank_of(q, values.len() as u64) as usize - 1].as_millis_f64())
    };
    let of = |scenario: &Scenario| {
        let found = assert_simulator_is_truth(scenario);
        assert_eq!((found.first_event.len(), found.gaps.len()), (1200, 1200 * 49));
        [&found.first_event[..], &found.gaps, truth(scenario).unwrap().answered()].map(quantiles)
    };
    let mut stalling = scenario("06");
    let expected = [[45.8, 3602.8, 5702.8, 6302.8], [22.8, 38.2, 82.6, 2005.0], [1349.6, 4770.0, 6820.0, 7420.0]];
    assert_eq!(of(&stalling), expected);
    let gaps = stream_truth(&stalling).unwrap().gaps;
    assert_eq!(gaps.iter().filter(|gap| **gap >= Nanos::from_secs(2)).count(), 25);
    stalling.service.faults.clear();
    let expected = [[37.0, 37.0, 44.2, 50.0], [15.0, 35.0, 35.0, 35.0], [1252.0; 4]];
    assert_eq!(of(&stalling), expected);
}
